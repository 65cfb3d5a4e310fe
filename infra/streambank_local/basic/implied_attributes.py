"""Attributes that a fact implies: they may contradict another fact, but never confirm one."""

from __future__ import annotations

import re

from streambank_local.basic.slots import NO, Slot, clip_value, preference_key

_DREADS = re.compile(
    r"^i (?:have )?(?:am |become |became |got |grown )?(?:\w+ )?(?:(?:afraid|scared|terrified|frightened|sick|tired"
    r"|weary|bored) of|(?:fed up|bored) with|fear|dread) (?P<value>.+)"
)
_EMPLOYED = re.compile(
    r" (?:at|for) (?!home|night|the moment|the weekend|weekends|least|fun|now|a living"
    r"|(?:\d+|an?|one|two|three|four|five|six|ten|many|some|several|over|about|almost|nearly) "
    r"\w*(?:years?|months?|weeks?|hours?|while|decades?)\b)(?P<value>.+)"
)

_PARTS = re.compile(
    r"^(?:i|we|(?:my )?(?:[\w-]+ ){1,2}and i) (?:have )?(?:(?:broke|broken|split) up|split|separated"
    r"|(?:got )?divorced)\b(?! (?:a|the|from work)\b)"
)
_PARTNERS = ("girlfriend", "boyfriend", "partner", "wif", "husband", "fianc", "spous")
_WITHOUT_WORK = frozenset({"retired", "unemployed", "job"})


def implied_slots(plain: str, owner: str, slot: Slot | None) -> tuple[Slot, ...]:
    """Return the attributes that *plain* implies beside its own *slot*."""
    one = _dislike(plain) or _end_of_employment(slot) or _employer(plain, slot)
    slots = (one,) if one is not None else _separation(plain)
    return tuple(Slot(f"{owner} / {each.key}", each.value) if owner else each for each in slots)


def _separation(plain: str) -> tuple[Slot, ...]:
    """Return the attributes of "Mia and I broke up": the user has no partner of any name."""
    partners = _PARTNERS if _PARTS.match(plain) else ()
    return tuple(Slot(f"name:{partner}", "none") for partner in partners)


def _dislike(plain: str) -> Slot | None:
    """Return the attribute of "I'm afraid of flying", which contradicts "I love flying"."""
    match = _DREADS.match(plain)
    return (
        Slot(f"likes {preference_key(clip_value(match['value']))}", NO)
        if match is not None and " not " not in plain
        else None
    )


def _end_of_employment(slot: Slot | None) -> Slot | None:
    """Return the attribute of "I retired" and "I lost my job": there is no employer."""
    is_over = slot is not None and slot.key.rpartition(" / ")[2] == "job" and slot.value in _WITHOUT_WORK
    return Slot("employer", "none") if is_over else None


def _employer(plain: str, slot: Slot | None) -> Slot | None:
    """Return the employer that is named beside the job: "I work as a nurse at Saint Lucas"."""
    match = _EMPLOYED.search(plain) if slot is not None and slot.key.rpartition(" / ")[2] == "job" else None
    value = clip_value(match["value"]) if match is not None else ""
    return Slot("employer", value) if value and " not " not in plain else None
