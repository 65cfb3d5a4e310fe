"""Compares a fact with a memory: the same, more detailed, contradictory, or unrelated."""

from __future__ import annotations

import re
from enum import StrEnum

from streambank_local.basic.meaning import Meaning, content_stems
from streambank_local.basic.negation import CONNECTORS, negates, prefers_alternative
from streambank_local.basic.slots import clip_value, normalize_attribute
from streambank_local.basic.words import word_set


class Relation(StrEnum):
    """The relation of a fact to a memory."""

    SAME = "SAME"
    CONTRADICTS = "CONTRADICTS"
    MORE_DETAILED = "MORE_DETAILED"


# Words by which two wordings of one attribute may differ without a difference in meaning.
_INTERCHANGEABLE = word_set(
    """liv mov work job call driv support team birthday born old year turn like tak drink put hav must want prefer
    get becom married marri employer company start need every my residence base phon number email address again"""
)
_WEAK = frozenset({"every", "alway", "enjoy", "get"})
_REPLACED = re.compile(r"(?:, not| not|instead of|rather than|from) (?P<old>[\w ']+?)(?: to\b| now| anymore|$)")
_SWITCHED = re.compile(r"\b(?:switch|switched|changed|moved|swapped|went) from ")
_GIVEN_UP = re.compile(r"^i (?:have )?(?:gave up|given up|quit|stopped|sold|lost) (?:the |my )?(?P<old>\w+)\b")


def find_relation(fact: Meaning, memory: Meaning) -> Relation | None:
    """Return the relation of *fact* to *memory*, or None if they are unrelated."""
    if fact.plain == memory.plain:
        return Relation.SAME
    if _contradict(fact, memory):
        return Relation.CONTRADICTS
    if fact.slot is not None and memory.slot is not None and fact.slot.agrees(memory.slot):
        return _same_or_more_detailed(fact, memory)
    worded = (
        _by_name(fact, memory) or _by_words(fact, memory) or _by_growth(fact, memory) or _by_replacement(fact, memory)
    )
    if worded is None and fact.owner == memory.owner and (negates(fact, memory) or prefers_alternative(fact, memory)):
        return Relation.CONTRADICTS
    return worded


def _contradict(fact: Meaning, memory: Meaning) -> bool:
    """Tell whether an attribute of *fact*, its own or an implied one, contradicts one of *memory*."""
    left, right = ((meaning.slot, *meaning.implied) for meaning in (fact, memory))
    return any(one.contradicts(other) for one in left for other in right if one is not None and other is not None)


def _same_or_more_detailed(fact: Meaning, memory: Meaning) -> Relation:
    added = fact.content - memory.content - _INTERCHANGEABLE
    missing = memory.content - fact.content - _INTERCHANGEABLE
    return Relation.MORE_DETAILED if added and not missing else Relation.SAME


_OWNED = re.compile(r"^(?:i|we) have an? (?P<what>[\w ]+)$")


def _by_name(fact: Meaning, memory: Meaning) -> Relation | None:
    """Compare "I have a dog" with what the dog is called."""
    if _names_what(memory, fact):
        return Relation.SAME
    return Relation.MORE_DETAILED if _names_what(fact, memory) else None


def _names_what(naming: Meaning, owning: Meaning) -> bool:
    owned = _OWNED.match(owning.plain)
    return (
        owned is not None
        and naming.slot is not None
        and naming.slot.key == f"name:{normalize_attribute(owned['what'])}"
    )


def _by_words(fact: Meaning, memory: Meaning) -> Relation | None:
    """Compare the content words of both, in any order."""
    left, right = fact.content - _WEAK, memory.content - _WEAK
    if not left or left != right or fact.owner != memory.owner or _swapped(fact, memory):
        return None
    return Relation.SAME if fact.negated == memory.negated else Relation.CONTRADICTS


def _swapped(fact: Meaning, memory: Meaning) -> bool:
    """Tell whether subject and object are exchanged: "Mia loves Tom", "Tom loves Mia"."""
    ends = fact.order[0] == memory.order[-1] and fact.order[-1] == memory.order[0]
    return ends and len(fact.order) > 2 and fact.order[1:-1] == memory.order[1:-1]


def _by_growth(fact: Meaning, memory: Meaning) -> Relation | None:
    """Compare texts of which one continues the other."""
    if len(memory.content) >= 2 and _continues(fact.plain, memory.plain):
        return Relation.MORE_DETAILED
    return Relation.SAME if len(fact.content) >= 2 and _continues(memory.plain, fact.plain) else None


def _continues(longer: str, shorter: str) -> bool:
    rest = longer[len(shorter) :].split(maxsplit=1)
    return longer.startswith(f"{shorter} ") and bool(rest) and rest[0] in CONNECTORS


def _by_replacement(fact: Meaning, memory: Meaning) -> Relation | None:
    """Detect a fact that names what it replaces: "the train, not the bus", "I gave up chess"."""
    if fact.owner != memory.owner or memory.negated:
        return None
    ended = _GIVEN_UP.match(fact.plain)
    if ended is not None:
        gone = frozenset(content_stems([ended["old"]]))
        return Relation.CONTRADICTS if gone and gone < memory.content and len(memory.content) == len(gone) + 1 else None
    return Relation.CONTRADICTS if _names_as_old(fact, memory) else None


def _names_as_old(fact: Meaning, memory: Meaning) -> bool:
    match = _REPLACED.search(fact.plain)
    if match is None or (match[0].startswith("from") and not _SWITCHED.search(fact.plain)):
        return False
    old = frozenset(content_stems(clip_value(match["old"]).split()))
    remaining = memory.content - old
    new_words = fact.content - old
    return (
        bool(old)
        and old <= memory.content
        and (remaining <= new_words or bool(_SWITCHED.search(fact.plain) and len(remaining) <= 1))
        and bool(new_words - remaining)
    )
