"""Facts that negate another one in other words: "I don't drink coffee anymore", "I prefer aisle seats now"."""

from __future__ import annotations

import re

from streambank_local.basic.meaning import Meaning
from streambank_local.basic.words import NEGATORS, stem, word_set

CONNECTORS = word_set(
    """with on in at for every since because and which who whom called named when if from by near during after before
    only but , to as twice once daily weekly about around together"""
)
_JOINS = frozenset({"and", "or"})
_DETERMINERS = word_set("a an the my our any some much")
_HOW_OFTEN = word_set("often always usually sometimes regularly mostly mainly only")
_USES = word_set("drink eat smoke play use drive have take ride do wear own")
_DENIAL = re.compile(
    r"^i (?:have )?(?:not|never) (?P<verb>\w+)(?P<what>(?: [\w-]+)*?)"
    r"(?: ,.*| (?:because|since|but|so|instead|and i)\b.*)?$"
)
_ENDED = re.compile(r"^i (?:have )?(?:gave up|given up|quit|stopped|sold|lost) (?:the |my )?(?P<what>\w+)(?P<rest>.*)$")
# A negation of coffee is also one of black coffee if it says that something changed.
_MOST_MODIFIERS = 2


def negates(fact: Meaning, memory: Meaning) -> bool:
    """Tell whether one of them negates in general what the other states."""
    return _negates_one_way(fact, memory) or _negates_one_way(memory, fact)


def _negates_one_way(denial: Meaning, other: Meaning) -> bool:
    modifiers = _MOST_MODIFIERS if denial.changed else 0
    denied, ended = _DENIAL.match(denial.first_person), _ENDED.match(denial.first_person)
    if denied is not None:
        return _states(other.first_person, {stem(denied["verb"])}, denied["what"].split(), modifiers)
    if ended is None or not _phrase_ends(ended["rest"].split()):
        return False
    return _states(other.first_person, set(map(stem, _USES)), [ended["what"]], modifiers)


def _states(text: str, verbs: set[str], thing: list[str], most_modifiers: int) -> bool:
    """Tell whether *text* names *thing* as the object of one of *verbs*."""
    words = [word for word in text.split() if word not in _DETERMINERS and word not in _HOW_OFTEN]
    if words[:1] != ["i"] or stem(" ".join(words[1:2])) not in verbs:
        return False
    what = [stem(word) for word in thing if word not in _DETERMINERS]
    first = [stem(word) for word in words[2 : 2 + most_modifiers + len(what)]]
    starts = range(most_modifiers + 1 if what else 1)
    is_object = any(first[at : at + len(what)] == what and _phrase_ends(words[2 + at + len(what) :]) for at in starts)
    # To give up golf is not to give up tennis and golf.
    return is_object and not set(words) & NEGATORS and not _JOINS & set(words[: 2 + most_modifiers + len(what) + 1])


def _phrase_ends(rest: list[str]) -> bool:
    """Tell whether a phrase ends before the words *rest*: "car" does not end in "car seat"."""
    return not rest or rest[0] in CONNECTORS


_PREFERS = re.compile(
    r"^i prefer (?:(?:an?|the) )?(?P<modifiers>(?!to )(?:[\w-]+ ){1,2}?)(?P<kind>[\w-]+)"
    r"(?: (?P<where>(?:on|in|for|at|when|with|by|from|during) .*)| ,.*| (?:because|since|instead|as)\b.*)?$"
)


def prefers_alternative(fact: Meaning, memory: Meaning) -> bool:
    """Tell whether they prefer different sorts of one kind of thing: window seats, aisle seats."""
    left, right = _PREFERS.match(fact.first_person), _PREFERS.match(memory.first_person)
    if left is None or right is None or stem(left["kind"]) != stem(right["kind"]):
        return False
    sorts, others = (frozenset(map(stem, match["modifiers"].split())) for match in (left, right))
    general = fact.changed and not (left["where"] and right["where"])
    return not (sorts <= others or others <= sorts) and (left["where"] == right["where"] or general)
