"""For operators: streams and what they wait for, the state of single events, and all parked windows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import TypeAlias

from streambank.errors import FailedPrecondition
from streambank.model import ids
from streambank.model.ids import OperationId
from streambank.model.operation import EventStatus, Operation, OperationState, StreamStatus
from streambank.model.rule import TriggerRule
from streambank.model.stream import StreamId
from streambank.pipeline.generation.operations import OperationContext, OperationCursor, list_operations
from streambank.pipeline.generation.redrive import RedriveContext, redrive
from streambank.rules import operations
from streambank.store.windows import Windows
from streambank.wire.page_room import page, weightless

# How many parked windows one call redrives.
MAX_REDRIVEN = 100
# The end of a page: shard and entry of the registry.
StreamCursor: TypeAlias = tuple[int, str]


def list_streams(
    bank: str,
    size: int,
    after: StreamCursor | None,
    *,
    context: OperationContext,
    bank_rule: TriggerRule | None,
    weigh: Callable[[StreamStatus], int] = weightless,
) -> tuple[list[StreamStatus], StreamCursor | None]:
    """Return a page of a bank's streams and where it ended, if more follow; a direct generation is no stream."""
    return page(_statuses(bank, after, context, bank_rule), size, weigh)


def _statuses(
    bank: str, after: StreamCursor | None, context: OperationContext, bank_rule: TriggerRule | None
) -> Iterator[tuple[StreamCursor, StreamStatus]]:
    for shard, entry, sid in context.streams.registered(bank, after):
        if (shard, entry) == after:
            continue
        head = context.streams.head(bank, sid)
        if head is None:
            continue
        last = next(iter(islice(context.windows.newest_first(bank, sid), 1)), None)
        pending = operations.buffering(head, bank_rule) if head.count else None
        yield (shard, entry), StreamStatus(head.stream, pending, operations.sealed(last) if last else None)


def find_events(
    bank: str,
    scope: Mapping[str, str],
    stream_name: str,
    event_ids: Sequence[str],
    *,
    context: OperationContext,
    now: datetime,
) -> list[EventStatus]:
    """Return the state of each event, by the ids that callers gave them."""
    sid = ids.stream_key(scope, stream_name)
    stream = StreamId(bank, sid, dict(scope), stream_name or ids.DEFAULT_STREAM)
    named = {event_id: ids.event_key(event_id) for event_id in event_ids}
    snapshot = context.streams.read_snapshot(stream, named.values(), now=now)
    numbers = {marker.window for marker in snapshot.markers.values()}
    is_open = {number: snapshot.head is not None and snapshot.head.window == number for number in numbers}
    states = {
        number: OperationState.BUFFERING if is_open[number] else _state(bank, sid, number, context.windows)
        for number in numbers
    }
    return [
        EventStatus(event_id, marker.seq, OperationId(sid, marker.window), states[marker.window])
        if (marker := snapshot.markers.get(key))
        else EventStatus(event_id)
        for event_id, key in named.items()
    ]


def _state(bank: str, sid: str, number: int, windows: Windows) -> OperationState:
    window = windows.get(bank, sid, number)
    return operations.state_of(window) if window else operations.expired(sid, number).state


def redrive_all(bank: str, *, context: RedriveContext, bank_rule: TriggerRule | None) -> tuple[list[Operation], bool]:
    """Redrive a bank's parked windows, a hundred at most; return their operations, and whether none is left."""
    redriven: list[Operation] = []
    after: OperationCursor | None = None
    while True:
        parked, after = list_operations(
            bank,
            MAX_REDRIVEN,
            after,
            context=context,
            bank_rule=bank_rule,
            state=OperationState.PARKED,
        )
        for operation in parked:
            if len(redriven) == MAX_REDRIVEN:
                return redriven, False
            redriven += _redriven(bank, operation, context)
        if after is None:
            return redriven, True


def _redriven(bank: str, operation: Operation, context: RedriveContext) -> list[Operation]:
    try:
        return [redrive(bank, operation.id, context=context)]
    except FailedPrecondition:
        return []  # it was redriven meanwhile
