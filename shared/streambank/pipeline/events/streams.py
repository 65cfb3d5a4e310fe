"""For operators: streams and what they wait for, the state of single events, and all parked windows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TypeAlias

from streambank.errors import FailedPrecondition
from streambank.model.operation import Operation, OperationState, StreamStatus
from streambank.model.rule import TriggerRule
from streambank.pipeline.generation.operations import OperationContext, OperationCursor, list_operations
from streambank.pipeline.generation.redrive import RedriveContext, redrive
from streambank.rules import operations
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
