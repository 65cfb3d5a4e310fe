"""Attributes that a fact sets in passing: they may contradict another fact, but never confirm one."""

from __future__ import annotations

import re

from streambank_local.basic.slots import NO, Slot, clip_value, preference_key

_DREADS = re.compile(
    r"^i (?:have )?(?:am |become |became |got |grown )?(?:\w+ )?"
    r"(?:(?:afraid|scared|terrified|frightened|sick|tired|weary|bored) of"
    r"|(?:fed up|bored) with|fear|dread) (?P<value>.+)"
)
_EMPLOYED = re.compile(
    r" (?:at|for) (?!home|night|the moment|the weekend|weekends|least|fun|now|a living"
    r"|(?:\d+|an?|one|two|three|four|five|six|ten|many|some|several|over|about|almost|nearly) "
    r"\w*(?:years?|months?|weeks?|hours?|while|decades?)\b)(?P<value>.+)"
)

_PARTS = re.compile(
    r"^(?:i|we|(?:my )?(?:[\w-]+ ){1,2}and i) (?:have )?"
    r"(?:(?:broke|broken|split) up|split|separated|(?:got )?divorced)\b"
    r"(?! (?:a|the|from work)\b)"
)
_PARTNERS = ("girlfriend", "boyfriend", "partner", "wif", "husband", "fianc", "spous")
_WITHOUT_WORK = frozenset({"retired", "unemployed", "job"})


def implied_slots(plain: str, owner: str, slot: Slot | None) -> tuple[Slot, ...]:
    """Return what *plain* says beside its own *slot*."""
    one = _dreaded(plain) or _jobless(slot) or _employed(plain, slot)
    found = (one,) if one is not None else _parted(plain)
    return tuple(Slot(f"{owner} / {each.key}", each.value) if owner else each for each in found)


def _parted(plain: str) -> tuple[Slot, ...]:
    """Read "Mia and I broke up", after which no partner has that name."""
    partners = _PARTNERS if _PARTS.match(plain) else ()
    return tuple(Slot(f"name:{partner}", "none") for partner in partners)


def _dreaded(plain: str) -> Slot | None:
    """Read "I'm afraid of flying", which does not go with "I love flying"."""
    found = _DREADS.match(plain)
    return (
        Slot(f"likes {preference_key(clip_value(found['value']))}", NO)
        if found is not None and " not " not in plain
        else None
    )


def _jobless(slot: Slot | None) -> Slot | None:
    """Read "I retired" and "I lost my job", which go with no employer."""
    is_over = slot is not None and slot.key.rpartition(" / ")[2] == "job" and slot.value in _WITHOUT_WORK
    return Slot("employer", "none") if is_over else None


def _employed(plain: str, slot: Slot | None) -> Slot | None:
    """Read the employer beside the job: "I work as a nurse at Saint Lucas"."""
    found = _EMPLOYED.search(plain) if slot is not None and slot.key.rpartition(" / ")[2] == "job" else None
    value = clip_value(found["value"]) if found is not None else ""
    return Slot("employer", value) if value and " not " not in plain else None
