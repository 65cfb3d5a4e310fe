"""Replaces a pronoun by its antecedent, if only one antecedent is possible."""

from __future__ import annotations

import re
from dataclasses import dataclass

from streambank_local.basic.people import PETS, RELATIVES
from streambank_local.basic.words import word_set

_WOMEN = word_set(
    """wife girlfriend daughter mother mom mum sister aunt niece grandmother grandma granddaughter stepdaughter
    stepmother mother-in-law sister-in-law fiancee"""
)
_MEN = word_set(
    """husband boyfriend son father dad brother uncle nephew grandfather grandpa grandson stepson stepfather
    father-in-law brother-in-law fiance"""
)
_ANIMALS = PETS | word_set("puppy kitten")
_PERSONS = RELATIVES | _ANIMALS | _WOMEN | _MEN | word_set("kid kids children twins")
_PERSON = "|".join(
    sorted(_PERSONS | {f"{noun}s" for noun in _PERSONS if not noun.endswith("s")}, key=len, reverse=True)
)
_WORDS = r"(?:[\w'-]+ ){0,2}?"
_NAME = r"(?: [A-Z][\w'-]{0,30})?"
_SUBJECT = re.compile(rf"^(?:My|Our|my|our) (?P<noun>{_WORDS}(?P<head>{_PERSON})\b{_NAME})")
_OWNED = re.compile(
    r"^(?:I|We|i|we)(?:'ve)? (?:(?:just|also|recently) )?(?:have|got|have got|adopted|bought|own|drive|ride|play"
    rf"|keep) an? (?P<noun>{_WORDS}(?P<head>[\w-]+))(?:(?:,| called| named) (?P<name>[A-Z][\w'-]{{0,30}}))?"
    r"(?=,? (?:who|and|with|in|from|last|on|at|for|that|yesterday|today)\b|$)"
)
_SEVERAL = re.compile(
    r"^(?:I|We|i|we)(?:'ve)? (?:have|got|have got|adopted|keep|own) (?:\d{1,3}|two|three|four|five|six|some"
    r"|several|many) (?P<noun>(?:[\w-]+ )?[\w-]+s|(?:[\w-]+ )?children)(?=[, ]|$)"
)
_THING = re.compile(r"^(?:My|Our|my|our) (?P<noun>(?:[\w'-]+ ){0,2}?[\w'-]+) (?:is|was|has|had|needs|cost)\b")
_MET_PERSON = re.compile(
    r"^(?:I|We)(?:'ve| have)? (?:met|saw|seen|visited|called|know|dated|hired|married) "
    r"(?P<name>[A-Z][a-z][\w'-]{0,30})(?= |,|$)"
)
_OTHER_PERSON = re.compile(rf"\b(?:{_PERSON})\b", re.IGNORECASE)
_OTHER_NAME = re.compile(r"(?<!\bin)(?<!\bat)(?<!\bto)(?<!\bfrom)(?<!\bof)(?<!\bnear)(?<!\bfor)(?<!\bon) [A-Z][a-z]")
_OTHER_THING = re.compile(r"\b(?:an?|the|my|our|his|her|their|your|this|that|another)\b", re.IGNORECASE)
_MODELS_NAME = re.compile(r"(?<![.!?:] )(?<!^)\b[A-Z][a-z][\w'-]*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Antecedent:
    """The noun that the next pronoun of *pronouns* refers to: "My sister Wies" for "she"."""

    noun: str
    pronouns: frozenset[str]


def find_antecedent(sentence: str) -> Antecedent | None:
    """Return what a pronoun after *sentence* refers to, or None if that is nothing or ambiguous."""
    met_match = _MET_PERSON.match(sentence)
    if met_match is not None:
        return (
            None
            if _names_others(sentence[met_match.end() :])
            else Antecedent(met_match["name"], frozenset({"he", "she"}))
        )
    match = _SUBJECT.match(sentence) or _SEVERAL.match(sentence) or _OWNED.match(sentence) or _THING.match(sentence)
    if match is None:
        return None
    rest = sentence[match.end() :]
    pronouns = _pronouns(match, rest)
    named = match.groupdict().get("name")
    return Antecedent(f"My {match['noun']}" + (f" {named}" if named else ""), pronouns) if pronouns else None


def _pronouns(match: re.Match[str], rest: str) -> frozenset[str]:
    """Return the pronouns that can refer to the noun of *match*, but to nothing in the *rest* of the sentence."""
    head = match.groupdict().get("head")
    if head is None and match.re is _SEVERAL:
        return frozenset() if _OTHER_THING.search(rest) else frozenset({"they"})
    is_person = head is not None and head.lower() in _PERSONS
    if head is None or not (is_person or match.re is _SUBJECT):
        return frozenset() if _OTHER_THING.search(rest) else frozenset({"it"})
    return frozenset() if _names_others(rest) else _of_person(head.lower())


def _names_others(rest: str) -> bool:
    return bool(_OTHER_PERSON.search(rest) or _OTHER_NAME.search(rest))


def _of_person(head: str) -> frozenset[str]:
    if head in _WOMEN or head in _MEN:
        return frozenset({"she" if head in _WOMEN else "he"})
    if head in _ANIMALS:
        return frozenset({"he", "she", "it"})
    is_several = head.endswith("s") and head.removesuffix("s") in _PERSONS
    return frozenset({"they"} if is_several or head in {"children", "twins", "friends"} else {"he", "she"})


def stays_unambiguous(antecedent: Antecedent, reply: str) -> bool:
    """Tell whether a model's *reply* names no other person to whom a pronoun could refer."""
    named = [word for word in _MODELS_NAME.findall(reply) if word not in antecedent.noun.split()]
    others = (word for word in _OTHER_PERSON.findall(reply) if word.lower() not in antecedent.noun.lower().split())
    return not named and next(others, None) is None


_STARTS_WITH_PRONOUN = re.compile(
    r"^(?:(?P<who>he|she|it|they)(?P<short>'s|'re|'ve|'ll|'d)?|(?P<whose>his|her|its|their))\s+(?=\w)", re.IGNORECASE
)
_OWNERS = {"his": "he", "her": "she", "its": "it", "their": "they"}
_HAS = re.compile(r"(?:got|been|had|gone|become|started|finished|lived|worked|moved|always been)\b", re.IGNORECASE)
_SHORT = {"'re": "are", "'ve": "have", "'ll": "will", "'d": "would"}
_OBJECT = re.compile(
    r"^(?P<before>(?:I|We)(?:'ve| have)? (?:(?:also|really|always|often|usually|still|never|don't|do not) )*"
    r"(?:play|use|ride|drive|walk|feed|love|like|hate|adore|visit|see|call|wear|practi[sc]e|clean|read|miss|sold|sell"
    r"|bought|named|called|got|take|keep|teach|coach|help)(?:ed|d)?) (?P<what>it|him|her|them)"
    r"(?= (?:every|each|on|at|in|to|twice|once|daily|weekly|often|a lot|very|so|because|when|with|from|for|last"
    r"|yesterday|today|anymore|again|by|since)\b|,|$)",
    re.IGNORECASE,
)
_SUBJECTS = {"it": "it", "him": "he", "her": "she", "them": "they"}


def replace_pronoun(sentence: str, antecedent: Antecedent | None) -> str:
    """Return *sentence* with its pronoun replaced by *antecedent*, if it can refer to it."""
    if antecedent is None:
        return sentence
    match = _STARTS_WITH_PRONOUN.match(sentence)
    if match is not None:
        return _replace_subject(sentence, match, antecedent)
    object_match = _OBJECT.match(sentence)
    if object_match is None or _SUBJECTS[object_match["what"].lower()] not in antecedent.pronouns:
        return sentence
    return f"{object_match['before']} {re.sub('^My ', 'my ', antecedent.noun)}{sentence[object_match.end() :]}"


def _replace_subject(sentence: str, match: re.Match[str], antecedent: Antecedent) -> str:
    rest = sentence[match.end() :]
    if match["whose"]:
        owns = _OWNERS[match["whose"].lower()] in antecedent.pronouns
        return f"{_possessive(antecedent.noun)} {rest}" if owns else sentence
    if match["who"].lower() not in antecedent.pronouns:
        return sentence
    return f"{antecedent.noun} {_verb(match['short'], rest)}{rest}"


def _possessive(noun: str) -> str:
    return f"{noun}'" if noun.endswith("s") else f"{noun}'s"


def _verb(short: str | None, rest: str) -> str:
    if short is None:
        return ""
    if short.lower() == "'s":
        return "has " if _HAS.match(rest) else "is "
    return f"{_SHORT[short.lower()]} "
