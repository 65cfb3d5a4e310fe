"""How a call's events are told apart and cut into parts that DynamoDB takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from streambank.model.event import EventMarker, KeyedEvent

# TransactWriteItems takes 100 actions and 4 MB: HEAD and a registry entry leave 98 for ids and batch items.
PART_ACTIONS = 98
PART_BYTES = 3_500_000
# An item takes 400 KB; compressed JSON is never larger than the JSON by more than a fraction of a percent.
BATCH_BYTES = 380_000
# What the store adds to an event's JSON: its id (512 bytes), its time and brackets.
EVENT_OVERHEAD_BYTES = 700


@dataclass(frozen=True, slots=True)
class DeduplicatedEvents:
    """The events of a part: *fresh* ones, how many were *repeats*, the ids that came with other content."""

    fresh: tuple[KeyedEvent, ...] = ()
    repeats: int = 0
    conflicts: tuple[str, ...] = ()
    newest_marker: EventMarker | None = None


def split_into_batches(events: Sequence[KeyedEvent]) -> list[list[KeyedEvent]]:
    """Return *events* in runs that each fit into one batch item."""
    runs: list[list[KeyedEvent]] = []
    filled = BATCH_BYTES
    for keyed in events:
        if filled + _weight(keyed) > BATCH_BYTES:
            runs.append([])
            filled = 0
        runs[-1].append(keyed)
        filled += _weight(keyed)
    return runs


@dataclass(slots=True)
class _Filling:
    """How full a part is: actions and bytes of its transaction, bytes of its last batch item."""

    actions: int = 0
    size: int = 0
    batch: int = BATCH_BYTES

    def take(self, keyed: KeyedEvent) -> bool:
        """Count *keyed* in and tell whether the part still fits."""
        opens_batch = self.batch + _weight(keyed) > BATCH_BYTES
        self.actions += opens_batch + (keyed.key is not None)
        self.size += _weight(keyed)
        self.batch = _weight(keyed) + (0 if opens_batch else self.batch)
        return self.actions <= PART_ACTIONS and self.size <= PART_BYTES


def split_into_parts(events: Sequence[KeyedEvent]) -> list[tuple[KeyedEvent, ...]]:
    """Return *events* in order, cut so that each part is one transaction; a call without events is one empty part."""
    cut: list[list[KeyedEvent]] = [[]]
    filling = _Filling()
    for keyed in events:
        if not filling.take(keyed):
            cut.append([])
            filling = _Filling()
            filling.take(keyed)
        cut[-1].append(keyed)
    return [tuple(part) for part in cut]


def _weight(keyed: KeyedEvent) -> int:
    return keyed.size + EVENT_OVERHEAD_BYTES


def drop_repeats(events: Iterable[KeyedEvent]) -> tuple[tuple[KeyedEvent, ...], DeduplicatedEvents]:
    """Return the first of each id in a call, and what was dropped with it."""
    first: dict[str, KeyedEvent] = {}
    kept, repeats, conflicts = [], 0, []
    for keyed in events:
        known = first.get(keyed.key) if keyed.key else None
        if known is None:
            kept.append(keyed)
            if keyed.key:
                first[keyed.key] = keyed
            continue
        repeats += 1
        if known.event.fingerprint() != keyed.event.fingerprint():
            conflicts.append(keyed.event.event_id)
    return tuple(kept), DeduplicatedEvents(repeats=repeats, conflicts=tuple(filter(None, conflicts)))


def deduplicate(events: Iterable[KeyedEvent], seen: Mapping[str, EventMarker]) -> DeduplicatedEvents:
    """Return which of *events* are new, given the markers of those that were accepted before."""
    fresh, repeats, conflicts = [], [], []
    for keyed in events:
        known = seen.get(keyed.key) if keyed.key else None
        if known is None:
            fresh.append(keyed)
            continue
        repeats.append(known)
        # Erased content has no fingerprint: nobody can tell any more.
        if known.fingerprint and known.fingerprint != keyed.event.fingerprint():
            conflicts.append(keyed.event.event_id)
    newest = max(repeats, key=lambda marker: marker.seq, default=None)
    return DeduplicatedEvents(tuple(fresh), len(repeats), tuple(filter(None, conflicts)), newest)
