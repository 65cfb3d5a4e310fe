"""What an operator looks at: streams with what they wait for, where single events are, what is parked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import islice

from streambank.errors import FailedPrecondition
from streambank.model import ids
from streambank.model.ids import OperationId
from streambank.model.operation import EventStatus, Operation, OperationState, StreamStatus
from streambank.model.rule import TriggerRule
from streambank.model.stream import StreamId
from streambank.pipeline.generation.operations import OperationCursor, list_operations
from streambank.pipeline.generation.redrive import RedriveContext, redrive
from streambank.rules import operations
from streambank.store.streams import Streams
from streambank.store.windows import Windows

# How many parked windows one call tries again.
MOST_REDRIVEN = 100


def list_streams(
    bank: str,
    size: int,
    after: tuple[int, str] | None,
    *,
    streams: Streams,
    windows: Windows,
    bank_rule: TriggerRule | None,
) -> tuple[list[StreamStatus], tuple[int, str] | None]:
    """Return a page of a bank's streams and where it ended, if more follow; a direct generation is no stream."""
    shown, place = list[StreamStatus](), after
    for shard, entry, sid in streams.registered(bank, after):
        if (shard, entry) == after:
            continue
        head = streams.head(bank, sid)
        if head is None:
            continue
        if len(shown) == size:
            return shown, place
        last = next(iter(islice(windows.newest_first(bank, sid), 1)), None)
        pending = operations.buffering(head, bank_rule) if head.count else None
        shown.append(StreamStatus(head.stream, pending, operations.sealed(last) if last else None))
        place = (shard, entry)
    return shown, None


def find_events(
    bank: str,
    scope: Mapping[str, str],
    stream_name: str,
    event_ids: Sequence[str],
    *,
    streams: Streams,
    windows: Windows,
    now: datetime,
) -> list[EventStatus]:
    """Return where each of the events is, by the ids that callers gave them."""
    sid = ids.stream_key(scope, stream_name)
    stream = StreamId(bank, sid, dict(scope), stream_name or ids.DEFAULT_STREAM)
    named = {event_id: ids.event_key(event_id) for event_id in event_ids}
    found = streams.read_snapshot(stream, named.values(), now=now)
    numbers = {seen.window for seen in found.seen.values()}
    is_open = {number: found.head is not None and found.head.window == number for number in numbers}
    states = {
        number: OperationState.BUFFERING if is_open[number] else _state(bank, sid, number, windows)
        for number in numbers
    }
    return [
        EventStatus(event_id, seen.seq, OperationId(sid, seen.window), states[seen.window])
        if (seen := found.seen.get(key))
        else EventStatus(event_id)
        for event_id, key in named.items()
    ]


def _state(bank: str, sid: str, number: int, windows: Windows) -> OperationState:
    window = windows.get(bank, sid, number)
    return operations.state_of(window) if window else operations.expired(sid, number).state


def redrive_all(bank: str, *, context: RedriveContext, bank_rule: TriggerRule | None) -> tuple[list[Operation], bool]:
    """Try a bank's parked windows again, a hundred at most; return them, and whether none is left."""
    redriven: list[Operation] = []
    after: OperationCursor | None = None
    while True:
        parked, after = list_operations(
            bank,
            MOST_REDRIVEN,
            after,
            streams=context.streams,
            windows=context.windows,
            bank_rule=bank_rule,
            state=OperationState.PARKED,
        )
        for operation in parked:
            if len(redriven) == MOST_REDRIVEN:
                return redriven, False
            redriven += _redriven(bank, operation, context)
        if after is None:
            return redriven, True


def _redriven(bank: str, operation: Operation, context: RedriveContext) -> list[Operation]:
    try:
        return [redrive(bank, operation.id, context=context)]
    except FailedPrecondition:
        return []  # somebody else was faster
