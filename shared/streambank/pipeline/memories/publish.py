"""Publishing changes of memories on an event bus, from the records of the table's stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from streambank.model.change_record import ChangeKind, FeedChange, RecordPosition
from streambank.store import keys
from streambank.store.changes import Changes
from streambank.store.event_bus import MAX_BYTES, BusEvent, EventBus
from streambank.store.list_index import ListEntry
from streambank.store.memories import Memories
from streambank.wire.change import change_event

_WITHOUT_TEXT = (ChangeKind.DELETED, ChangeKind.MERGED, ChangeKind.ERASED, ChangeKind.MOVED_AWAY)


@dataclass(frozen=True, slots=True)
class PublishContext:
    """What publishing needs; *with_text* adds the text that a memory has now."""

    changes: Changes
    memories: Memories
    bus: EventBus
    with_text: bool
    clock: Callable[[], datetime]


def publish(pk: str, sk: str, *, context: PublishContext) -> None:
    """Publish what the change record under a key tells; of one that was erased meanwhile nothing is left to tell.

    It may run twice: an event has the same id each time. Raises OutOfReach if the bus does not take it.
    """
    bank, cid = keys.owner(pk)
    position = RecordPosition(0, cid, int(keys.name_in(sk)))
    for record, scope in context.changes.read(bank, [position], now=context.clock()).values():
        changes = [FeedChange(record, number, scope) for number in range(len(record.memories))]
        facts = _facts(bank, changes, context) if context.with_text else {}
        context.bus.put(_events(bank, changes, facts))


def _facts(bank: str, changes: list[FeedChange], context: PublishContext) -> dict[str, str]:
    """Return the texts that live memories have now, by their ids; a deletion is told without its text."""
    published = [one for one in changes if one.memory.kind not in _WITHOUT_TEXT]
    listed = [ListEntry(0, one.memory.memory_id, one.record.cid) for one in published]
    live = context.memories.read_listed(bank, listed, now=context.clock()) if listed else []
    return {memory.id: memory.fact for memory in live}


def _events(bank: str, changes: list[FeedChange], facts: Mapping[str, str]) -> Iterator[BusEvent]:
    """Yield an event for each change, without a text that is too long for one."""
    for one in changes:
        event = BusEvent(one.record.stamp.time, change_event(one, bank, facts.get(one.memory.memory_id)))
        is_small = event.bytes <= MAX_BYTES
        yield event if is_small else BusEvent(one.record.stamp.time, change_event(one, bank, None))
