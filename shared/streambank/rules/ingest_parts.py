"""Deduplicates the events of a call, and splits them into parts that fit DynamoDB's limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from streambank.errors import KeyReused
from streambank.model.event import EventMarker, KeyedEvent

# TransactWriteItems accepts 100 actions and 4 MB: HEAD and a registry entry leave 98 for ids and batch items.
PART_ACTIONS = 98
PART_BYTES = 3_500_000
# An item holds 400 KB; compressed JSON exceeds the JSON by a fraction of a percent at most.
BATCH_BYTES = 380_000
# What the store adds to an event's JSON: its id (512 bytes), its time, brackets.
EVENT_OVERHEAD_BYTES = 700


@dataclass(frozen=True, slots=True)
class DeduplicatedEvents:
    """The new events of a part, the number of repeats, and the ids that came again with other content."""

    fresh: tuple[KeyedEvent, ...] = ()
    repeats: int = 0
    conflicts: tuple[str, ...] = ()
    newest_marker: EventMarker | None = None


def split_into_batches(events: Sequence[KeyedEvent]) -> list[list[KeyedEvent]]:
    """Return *events* in batches that each fit into one batch item."""
    batches: list[list[KeyedEvent]] = []
    filled = BATCH_BYTES
    for keyed in events:
        if filled + _weight(keyed) > BATCH_BYTES:
            batches.append([])
            filled = 0
        batches[-1].append(keyed)
        filled += _weight(keyed)
    return batches


@dataclass(slots=True)
class _PartSize:
    """The size of a part: actions and bytes of its transaction, bytes of its last batch item."""

    actions: int = 0
    size: int = 0
    batch: int = BATCH_BYTES

    def add(self, keyed: KeyedEvent) -> bool:
        """Add *keyed* and tell whether the part still fits."""
        opens_batch = self.batch + _weight(keyed) > BATCH_BYTES
        self.actions += opens_batch + (keyed.key is not None)
        self.size += _weight(keyed)
        self.batch = _weight(keyed) + (0 if opens_batch else self.batch)
        return self.actions <= PART_ACTIONS and self.size <= PART_BYTES


def split_into_parts(events: Sequence[KeyedEvent], *, has_marker: bool = False) -> list[tuple[KeyedEvent, ...]]:
    """Return *events* in order, in parts of one transaction each; a call without events is one empty part.

    A call that *has_marker* leaves room for its marker in each part: it is not known which will write first.
    """
    parts: list[list[KeyedEvent]] = [[]]
    size = _PartSize(actions=has_marker)
    for keyed in events:
        if not size.add(keyed):
            parts.append([])
            size = _PartSize(actions=has_marker)
            size.add(keyed)
        parts[-1].append(keyed)
    return [tuple(part) for part in parts]


def _weight(keyed: KeyedEvent) -> int:
    return keyed.size + EVENT_OVERHEAD_BYTES


def drop_repeats(events: Iterable[KeyedEvent]) -> tuple[tuple[KeyedEvent, ...], DeduplicatedEvents]:
    """Return the first event of each id in a call, and the counts of what was dropped."""
    first: dict[str, KeyedEvent] = {}
    unique, repeats, conflicts = [], 0, []
    for keyed in events:
        original = first.get(keyed.key) if keyed.key else None
        if original is None:
            unique.append(keyed)
            if keyed.key:
                first[keyed.key] = keyed
            continue
        repeats += 1
        if original.event.fingerprint() != keyed.event.fingerprint():
            conflicts.append(keyed.event.event_id)
    return tuple(unique), DeduplicatedEvents(repeats=repeats, conflicts=tuple(filter(None, conflicts)))


def deduplicate(events: Iterable[KeyedEvent], markers: Mapping[str, EventMarker]) -> DeduplicatedEvents:
    """Return which of *events* are new, given the markers of the events that were accepted before.

    Raises:
        KeyReused: an event whose id was derived from an idempotency key came again with other content.
    """
    fresh, repeats, conflicts = [], [], []
    for keyed in events:
        marker = markers.get(keyed.key) if keyed.key else None
        if marker is None:
            fresh.append(keyed)
            continue
        repeats.append(marker)
        # Erased content has no fingerprint, so it cannot be compared.
        if marker.fingerprint and not keyed.is_same_as(marker):
            if keyed.event.event_id is None:  # its key is derived from the call's
                raise KeyReused
            conflicts.append(keyed.event.event_id)
    newest = max(repeats, key=lambda marker: marker.seq, default=None)
    return DeduplicatedEvents(tuple(fresh), len(repeats), tuple(filter(None, conflicts)), newest)
