"""The people and animals around the user, and sentences about them."""

from __future__ import annotations

import re

from streambank.llm.embedded.words import word_set

PETS = word_set("dog cat horse rabbit hamster parrot bird fish turtle tortoise snake lizard pony pet guinea")
RELATIVES = PETS | word_set(
    """wife husband partner spouse fiance fiancee girlfriend boyfriend son daughter child baby mother father parent
    parents brother sister sibling twin grandmother grandfather grandparents grandson granddaughter aunt uncle
    cousin niece nephew friend friends roommate flatmate neighbor neighbour boss manager colleague coworker doctor
    dentist therapist teacher coach ex children sons daughters dogs cats stepson stepdaughter stepmother
    stepfather mother-in-law father-in-law sister-in-law brother-in-law family bestie mentor landlord tutor"""
)
_ABOUT_MINE = re.compile(r"^(?:my|our) ((?:\S+ ){1,5}?)(is|are|was|has|have|had|[a-z]{3,}s|[a-z]{2,}ed)\b ?(?=.)")
_NOT_VERBS = word_set("parents friends sons daughters dogs cats twins grandparents")
_PLAIN_VERBS = {"is": "am", "are": "am", "has": "have"}


def relative_of(plain: str, names: frozenset[str]) -> tuple[str, str]:
    """Return whom *plain* is about ("" for the user) and *plain* as that person would say it."""
    found = _ABOUT_MINE.match(plain)
    if found is None or not _is_relative(found[1].split(), names) or found[2] in _NOT_VERBS:
        return "", plain
    rest = plain[found.end() :]
    if found[2] in {"is", "are"} and rest.startswith(("called", "named")):
        return "", plain
    return found[1].strip(), f"i {_spoken(found[2])} {rest}"


def _is_relative(words: list[str], names: frozenset[str]) -> bool:
    nouns = [word for word in words if word not in names]
    return bool(nouns) and nouns[-1] in RELATIVES and "'s" not in words


def _spoken(verb: str) -> str:
    if verb in _PLAIN_VERBS:
        return _PLAIN_VERBS[verb]
    if verb.endswith("ies"):
        return verb[:-3] + "y"
    if verb.endswith(("ches", "shes")):
        return verb[:-2]
    return verb.removesuffix("s") if not verb.endswith("ss") and verb != "was" else verb
