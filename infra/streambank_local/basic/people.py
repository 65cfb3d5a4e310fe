"""The people and animals around the user, and sentences about them."""

from __future__ import annotations

import re

from streambank_local.basic.words import NEGATORS, STOP_WORDS, word_set

PETS = word_set("dog cat horse rabbit hamster parrot bird fish turtle tortoise snake lizard pony pet guinea")
RELATIVES = PETS | word_set(
    """wife husband partner spouse fiance fiancee girlfriend boyfriend son daughter child baby mother father parent
    parents brother sister sibling twin grandmother grandfather grandparents grandson granddaughter aunt uncle
    cousin niece nephew friend friends roommate flatmate neighbor neighbour boss manager colleague coworker doctor
    dentist therapist teacher coach ex children sons daughters dogs cats stepson stepdaughter stepmother
    stepfather mother-in-law father-in-law sister-in-law brother-in-law family bestie mentor landlord tutor"""
)
_MINE = re.compile(r"^(?:my|our) ")
_VERB = re.compile(
    r"is|are|was|were|has|have|had|not|never|got|became|went|bought|sold|left|lost|took|began|quit|[a-z]{3,}s"
    r"|[a-z]{2,}ed"
)
# In "My parents live in Ghent" the verb has no ending, so its form after a plural is listed.
_PLURALS = word_set("parents grandparents children sons daughters brothers sisters twins friends dogs cats cousins")
_PLAIN_OF_SEVERAL = word_set("live work keep play drive like love hate own eat drink speak grow move run study teach")
# The words between "my" and the verb: "my daughter Mia", "my oldest sister's friend Tom".
_LONGEST_SUBJECT = 5
_NOT_VERBS = word_set("parents friends sons daughters dogs cats twins grandparents")
_PLAIN_VERBS = {"is": "am", "are": "am", "has": "have", "goes": "go", "does": "do"}


def split_relative(plain: str, names: frozenset[str]) -> tuple[str, str]:
    """Return the person that *plain* is about ("" for the user), and *plain* as that person would say it."""
    words = plain.split() if _MINE.match(plain) else []
    at = _verb_in(words, names)
    if at is None or not _is_relative(words[1:at], names) or words[at] in _NOT_VERBS:
        return "", plain
    if words[at] in {"is", "are"} and words[at + 1] in {"called", "named"}:
        return "", plain
    return " ".join(words[1:at]), " ".join(("i", _first_person_verb(words[at]), *words[at + 1 :]))


def _verb_in(words: list[str], names: frozenset[str]) -> int | None:
    """Return the position of the verb in "my sister Wies lives"; a name is never the verb."""
    reach = range(2, min(len(words) - 1, _LONGEST_SUBJECT + 2))
    return next((at for at in reach if words[at] not in names and _is_verb(words[at], words[at - 1])), None)


def _is_verb(word: str, before: str) -> bool:
    return _VERB.fullmatch(word) is not None or (before in _PLURALS and word in _PLAIN_OF_SEVERAL)


def _is_relative(words: list[str], names: frozenset[str]) -> bool:
    nouns = [word for word in words if word not in names]
    return bool(nouns) and nouns[-1] in RELATIVES and "'s" not in words


def _first_person_verb(verb: str) -> str:
    if verb in _PLAIN_VERBS:
        return _PLAIN_VERBS[verb]
    if verb.endswith("ies"):
        return verb[:-3] + "y"
    if verb.endswith(("ches", "shes")):
        return verb[:-2]
    return verb.removesuffix("s") if not verb.endswith("ss") and verb != "was" else verb


_MUST_AVOID = re.compile(
    r"^(?P<first>[A-Z][\w'-]+)(?: [A-Z][\w'-]+| and [A-Z][\w'-]+){0,3} (?:(?:also|still|really) )?"
    r"(?:(?:can't|cannot|can not|can no longer|mustn't|must not|may not|shouldn't|doesn't|does not|never|won't)"
    r" (?:have|eats?|drinks?|touch|tolerate|digest|take|stomach|handle)\b(?! (?:it|that|this)$) \S"
    r"|(?:is|are) (?:\w+ ){0,2}?(?:allergic|intolerant|vegan|vegetarian|c(?:o?e)liac|diabetic)\b"
    r"|(?:has|have) an? (?:[\w-]+ ){0,3}?(?:allergy|intolerance)\b|avoids \S)"
)
_NO_NAMES = (
    STOP_WORDS | NEGATORS | RELATIVES | word_set("everyone everybody somebody anyone many most vegan kid people")
)


def names_who_must_avoid(sentence: str) -> bool:
    """Tell whether *sentence* says what somebody with a name cannot have: "Tom can't have gluten"."""
    match = _MUST_AVOID.match(sentence)
    first = match["first"].lower() if match is not None else "it"
    return not {first, first.removesuffix("s"), first.removesuffix("ies") + "y"} & _NO_NAMES


_RELATIVE = "|".join(sorted(RELATIVES | {"puppy", "kitten", "mum", "mom", "dad", "grandma", "grandpa"}))
_KIND = rf"(?:[\w-]{{1,20}} ){{0,2}}?(?:{_RELATIVE})"
_NAME = r"(?:(?:Dr|Mrs?|Ms)\.? |Doctor )?(?P<name>[A-Z][a-z][\w'-]{0,30})"
_INTRODUCED = (
    re.compile(
        rf"\b(?i:my|our|your|an?) (?i:{_KIND})(?i:,? (?:called|named)| is(?: called| named)?|'s name is|,)? {_NAME}"
    ),
    re.compile(rf"\b{_NAME}(?i:,| is) (?i:my|our|your) (?i:{_KIND})\b"),
)


def introduced_names(text: str) -> set[str]:
    """Return the names, in lower case, that *text* gives to the user's people and animals: "our dog, Waffle"."""
    return {match["name"].lower().removesuffix("'s") for pattern in _INTRODUCED for match in pattern.finditer(text)}
