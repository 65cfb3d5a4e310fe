"""What the tombstones of a scope refuse: a deletion outlives its evidence (I11)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from streambank.model.plan import FORGET
from streambank.model.tombstone import Tombstone
from streambank.rules.forgetting import FORGOTTEN


def refusal(
    fact: str, event_hashes: Collection[str], text_hash: str, at: datetime, tombstones: Iterable[Tombstone]
) -> str | None:
    """Return why a candidate must not become a memory, or None; a request to forget is never refused.

    *event_hashes* are those of all events that it cites, an empty text for an event without a hash; *at* is the newest
    time of its evidence. It is refused where one deleted memory cited all of its events, or where its text was
    deleted and nothing newer than the deletion states it.
    """
    if fact.startswith(FORGET):
        return None
    is_refused = any(_cited_all(event_hashes, one) or _had_text(text_hash, at, one) for one in tombstones)
    return FORGOTTEN if is_refused else None


def _cited_all(event_hashes: Collection[str], tombstone: Tombstone) -> bool:
    return not tombstone.is_merge and bool(event_hashes) and tombstone.events.issuperset(event_hashes)


def _had_text(text_hash: str, at: datetime, tombstone: Tombstone) -> bool:
    return at <= tombstone.at and text_hash in tombstone.texts


def touches(memory_id: str, at: datetime, tombstones: Iterable[Tombstone]) -> bool:
    """Tell whether a candidate with evidence up to *at* would touch a memory that was deleted after it was said.

    A memory that became part of another one was not asked to be forgotten.
    """
    return any(one.memory_id == memory_id and at <= one.at and not one.is_merge for one in tombstones)


def is_cited(event_hash: str, tombstones: Iterable[Tombstone]) -> bool:
    """Tell whether a deleted memory cited the event: then no prompt and no search shows it again."""
    return event_hash in cited_events(tombstones)


def cited_events(tombstones: Iterable[Tombstone]) -> frozenset[str]:
    """Return the hashes of all events that `is_cited` is true of."""
    return frozenset[str]().union(*(one.events for one in tombstones if not one.is_merge))


def cited_numbers(event_hashes: Mapping[int, str], tombstones: Iterable[Tombstone]) -> frozenset[int]:
    """Return the numbers of the events that `is_cited` is true of; *event_hashes* maps numbers to hashes."""
    forgotten = cited_events(tombstones)
    return frozenset(seq for seq, event_hash in event_hashes.items() if event_hash in forgotten)
