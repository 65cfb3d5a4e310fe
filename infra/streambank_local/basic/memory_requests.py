"""Requests to forget and to remember, and how well a request to forget matches a fact."""

from __future__ import annotations

import re

from streambank_local.basic.meaning import Meaning, parse_meaning
from streambank_local.basic.words import NEGATORS, stem, word_set

_POLITE = (
    r"^(?:(?:please|pls|kindly|hey|ok|okay|can you|could you|would you|will you|you can|you could|you should|you may"
    r"|you must|(?:can|could|may) i ask you to|if you (?:can|could|would)|(?:would|do) you mind|i (?:must )?ask you to"
    r"|i(?:'d| would)? (?:really )?(?:want|need|like|love|prefer)(?: it if| that| for)? you(?: to| would| could)?"
    r"|it would be (?:great|nice|good) if you (?:could|would)|make sure (?:to|you)|go ahead and|just|also|now|then|and"
    r"|so|but)[, ]+)*"
)
_FORGET = re.compile(
    rf"{_POLITE}(?:forget|(?<=you )forgot|forgetting|unlearn)(?: about)?\s+(?P<what>.+)$", re.IGNORECASE
)
_DELETE = re.compile(
    rf"{_POLITE}(?:delet(?:e|ing)|eras(?:e|ing)|remov(?:e|ing)|discard|wip(?:e|ing)|clear)\s+(?P<what>.+)$",
    re.IGNORECASE,
)
# What may come before a request: "One thing first: ...", but not "My mother said: ...".
_LEAD_IN = re.compile(r"^(?P<lead>[^,:;]{1,60}?)(?:[,:;]+\s+|\s-+\s+|\s?(?:[\u2013\u2014\u2026]|\.{3})\s?)(?=\S)")
_REPORTED = re.compile(
    r"\b(?:said|says?|told|tells?|asked|asks?|wrote|writes?|begged|quote|was like|if i(?! (?:may|can|could)\b)"
    r"|when(?:ever)? i|sometimes|often|always|never|title|song|called|named)\b",
    re.IGNORECASE,
)
# After a clause, "forget" alone continues it, as in "I can relax, forget my troubles"; a request is polite.
_CLAUSE = re.compile(
    r"^(?!(?:before|while|if|as|since|once|after|until|now that)\b).*\b(?:i|i'm|i've|i'd|me|we|you|he|she|they|it)\b",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"^(?:(?:so|and|but) )?(?:please|pls|kindly|so|can|could|would|will|do you mind"
    r"|i want|i need|i'd|i would|you can|may i)\b",
    re.IGNORECASE,
)
_LONGEST_LEAD_WORDS = 8
# "One thing, by the way, please forget ..."
_MOST_LEADS = 3
_NOT_KEEP = re.compile(
    rf"{_POLITE}(?:(?:don't|do not|never|stop|i don't want you to|i do not want you to)\s+(?:remember|remembering"
    r"|store|storing|save|saving|memori[sz]e|keep in mind))(?: about)?\s+(?P<what>.+)$",
    re.IGNORECASE,
)
_OTHER_LANGUAGES = re.compile(
    r"(?:(?:please|bitte|por favor|s'il te plaît|per favore)[, ]+)?(?:vergiss|olvida|oublie|dimentica|esquece"
    r"|esqueça)\s+(?:(?:alles|todo|tout|tutto|tudo) (?:[\w ]+ )?(?:über|sobre|sur|su|de|di) )?(?P<what>.+)$",
    re.IGNORECASE,
)
_ABOUT_MEMORY = re.compile(
    r"\b(?:memor(?:y|ies)|(?:what(?:ever)?|all|everything|anything|things?|the bit|the part)(?: that)? i(?:'ve"
    r"| have)?(?: just| ever| once)? (?:said|told|mentioned|shared|wrote)|you (?:know|remember|stored|saved) about"
    r"|(?:information|info|data|facts?|everything|anything|all) about (?:me|my|(?-i:[A-Z]\w*))|the fact that)\b"
    r"|^my (?:\w+ )?(?:address|phone|number|email|birthday|age|name|job|diet|salary)\b",
    re.IGNORECASE,
)
_PERSONAL = re.compile(r"\b(?:i|i'm|im|i've|my|me|mine|we|our|us|memory|memories|said|told)\b", re.IGNORECASE)
_IDIOM = re.compile(
    r"^(?:it|about it|you|him|her|them|to|everything else|the (?:rules?|instructions?|above|prompt|time|past)|(?:all"
    r"|any|your|the) (?:previous|prior|of the above|earlier|instructions?|rules?))\b(?!.*\bmy\b)",
    re.IGNORECASE,
)
_WRAPPING = re.compile(
    r"^(?:(?:everything|anything|all|whatever|what|that|the|this|those|any|memor(?:y|ies)|fact|facts|thing|things"
    r"|part|information|info|data|details|stuff|i|i've|you|have|just|ever|said|told|tell|mentioned|know|knows"
    r"|remember|saved|stored|about|of|on|regarding|earlier|before|me|yourself)\b[,:]?\s*)+(?=\w)",
    re.IGNORECASE,
)
_FROM_MEMORY = re.compile(
    r"(?:[, ]+(?:from (?:your |the )?(?:memory|memories|records?)|for me|please|now|okay|thanks|if (?:you can|possible)"
    r"|(?:that|it) would be (?:great|nice|good|lovely)|would you|will you|could you))+$",
    re.IGNORECASE,
)
_SCRATCH = re.compile(r"^(?:scratch|strike|undo|ignore) (?:that|what i (?:just )?said)$", re.IGNORECASE)
_LAST_STATEMENT = re.compile(
    r"^(?:that|this|what i (?:just )?(?:said|told you)|that last (?:one|thing)|the last (?:one|thing))(?: please"
    r"| now)?$",
    re.IGNORECASE,
)
_EVERYTHING = re.compile(
    r"^(?:everything|all|anything)(?: (?:about me|you know(?: about me)?|i(?:'ve)? (?:just )?(?:said|told you)))?$",
    re.IGNORECASE,
)

LAST_STATEMENT = "that"
EVERYTHING = "everything"

_REMEMBER = re.compile(
    rf"{_POLITE}(?:remember|keep in mind|bear in mind|don't forget|do not forget|never forget|memori[sz]e|note"
    r"|take note|make a note|mind|be aware|please know|save to memory|add to (?:your )?memory)(?: of the fact)?"
    r"(?P<link> (?:that|how)\b|:)?,?\s+(?P<what>.+)$",
    re.IGNORECASE,
)
_STANDING = re.compile(r"^to (?=always|never|call me|reply|answer|respond|address|use|keep)", re.IGNORECASE)
_NO_STATEMENT = re.compile(r"^(?:to|when|me|the time|how|what|where|who)\b", re.IGNORECASE)
_STATES = re.compile(
    r"^(?:i|i'm|i've|i'd|we|we're)\s|^(?:always|never)\s|\b(?:is|are|was|were|has|have|had|'m|lives?|works?|likes?"
    r"|hates?|loves?|prefers?|needs?|wants?|goes|starts?|called)\b|'s (?!name|birthday)",
    re.IGNORECASE,
)


def forget_request(sentence: str) -> tuple[str, str] | None:
    """Return what *sentence* asks to forget and the lead-in before the request, or None if it is no such request.

    What to forget may be `LAST_STATEMENT` or `EVERYTHING`.
    """
    start = 0
    for _ in range(_MOST_LEADS):
        what = _parse_forget_request(sentence[start:])
        if what is not None:
            return what, sentence[:start]
        lead = _LEAD_IN.match(sentence[start:])
        if lead is None or not _may_lead_in(lead["lead"], sentence[start + lead.end() :]):
            return None
        start += lead.end()
    return None


def _may_lead_in(lead: str, rest: str) -> bool:
    """Tell whether a request, or another lead-in, may follow *lead*."""
    if len(lead.split()) > _LONGEST_LEAD_WORDS or _REPORTED.search(lead):
        return False
    return _CLAUSE.match(lead) is None or _ASKING.match(rest) is not None


def _parse_forget_request(sentence: str) -> str | None:
    other_language = _OTHER_LANGUAGES.match(sentence)
    if other_language is not None:
        return other_language["what"]
    if _SCRATCH.match(sentence):
        return LAST_STATEMENT
    match = _FORGET.match(sentence) or _NOT_KEEP.match(sentence)
    if match is not None:
        return _forget_object(match["what"])
    deleted = _DELETE.match(sentence)
    about_memory = deleted is not None and (
        _ABOUT_MEMORY.search(deleted["what"]) or _LAST_STATEMENT.match(deleted["what"])
    )
    return _forget_object(deleted["what"]) if deleted is not None and about_memory else None


def _forget_object(what: str) -> str | None:
    thing = _FROM_MEMORY.sub("", what.strip())
    if _LAST_STATEMENT.match(thing):
        return LAST_STATEMENT
    if _EVERYTHING.match(thing):
        return EVERYTHING
    bare = _without_wrapping(thing)
    return None if _IDIOM.match(thing) or not (_PERSONAL.search(thing) or (bare or "")[:1].isupper()) else bare


def _without_wrapping(thing: str) -> str | None:
    """Return *thing* without "what I said about", unless it is a complete statement ("that I smoke")."""
    stated = re.match(r"^(?:that|the fact that|how)\s+(?=(?:i|i'm|my|we|our)\b)", thing, re.IGNORECASE)
    if stated is not None:
        return thing[stated.end() :]
    if re.match(r"^(?:my|our|i|i'm) ", thing, re.IGNORECASE):
        return thing
    return _WRAPPING.sub("", thing) or None


_AND = re.compile(r",? and (?:also )?(?:(?:everything |anything )?about )?(?=(?:my|our) )", re.IGNORECASE)


_ALL = re.compile(r"\b(?:everything|anything|whatever|all|alles|todo|tout|tutto|tudo)\b", re.IGNORECASE)
_WIDE = "everything about "
_NAME = re.compile(r"(?:[A-Z][\w'-]*(?: |$))+$")


def forget_targets(what: str, sentence: str) -> list[str]:
    """Return what *sentence* asks to forget, *what*, one by one: "my job and about my boss" names two."""
    named = what.lower().startswith(("my ", "our ")) and not _STATES.search(what)
    is_wide = what != EVERYTHING and (named or _NAME.match(what)) and _ALL.search(sentence)
    return [f"{_WIDE if is_wide else ''}{thing}" for thing in (_AND.split(what) if named else [what])]


def is_wide(what: str) -> bool:
    """Tell whether a request to forget *what* means every memory about it: "everything about my job", a name."""
    return what.startswith(_WIDE) or _NAME.match(what) is not None


def remember_request(sentence: str) -> str | None:
    """Return the statement that *sentence* asks to remember, or None."""
    match = _REMEMBER.match(sentence)
    if match is None:
        return None
    what = match["what"]
    if _STANDING.match(what):
        return _STANDING.sub("", what)
    # "Remember, kindness is free" is advice; "remember that the code is 1234" is not.
    is_for_memory = match["link"] is not None or _PERSONAL.search(what) is not None
    return what if is_for_memory and _STATES.search(what) and not _NO_STATEMENT.match(what) else None


_GENERIC_STEMS = word_set("forget said told mention memori memory thing stuff inform info data detail fact everyth lik")
_ATTRIBUTE_ALIASES = {
    "residence": "address home city town liv where hous place location", "address": "home hous liv where",
    "job": "job work employ employer profession career", "employer": "job work employer company employ",
    "age": "age old birthday year", "relationship": "relationship marriag marri status partner",
    "diet": "diet food eat", "car": "car vehicl",
    "phone number": "phone number cell mobil", "birthday": "birthday birth age born",
    "team": "team club", "origin": "origin from hometown", "called": "nicknam call nam name", "weight": "weight weigh",
    "reply in": "languag", "name": "call nam name",
}  # fmt: skip
# The share of a request's words that a matching fact must have: all of up to three, three of four, four of five.
_MIN_COVERAGE = 0.75


def request_stems(what: Meaning) -> frozenset[str]:
    """Return the stems of a request that name what to forget."""
    telling = what.content - _GENERIC_STEMS
    return telling or frozenset(stem(word) for word in what.plain.split() if word not in NEGATORS)


def fact_stems(meaning: Meaning) -> frozenset[str]:
    """Return the stems that a request may use to name a fact."""
    return meaning.content | _attribute_words(meaning) | frozenset(map(stem, meaning.owner.split()))


def _attribute_words(meaning: Meaning) -> frozenset[str]:
    # A preference is named by its own words only: "my job" does not name "likes job".
    key = meaning.slot.key if meaning.slot is not None and not meaning.slot.key.startswith("likes ") else ""
    aliases = _ATTRIBUTE_ALIASES.get(key.rpartition(" / ")[2], "").split()
    return frozenset((*map(stem, key.replace(":", " ").split()), *aliases))


def match_score(what: Meaning, fact: Meaning) -> float:
    """Return how well a request to forget *what* matches *fact*: 0 if not at all, else at least 0.75."""
    stems = request_stems(what)
    covered = len(stems & fact_stems(fact)) / len(stems) if stems else 0.0
    of_another = what.plain.startswith("i ") and what.owner != fact.owner
    if covered < _MIN_COVERAGE or of_another:
        return 0.0
    exact = len(stems & fact.content) / max(len(stems | fact.content), 1)
    names_attribute = stems <= _attribute_words(fact)
    return covered + exact + names_attribute + (0.25 if what.negated == fact.negated else 0.0)


def forget_meaning(fact: str, prefix: str) -> Meaning:
    """Return the meaning of the request in *fact*, after *prefix*."""
    return parse_meaning(fact.removeprefix(prefix).strip())
