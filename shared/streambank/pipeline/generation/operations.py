"""Reading the operations of windows."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from streambank.errors import NotFound
from streambank.model.ids import OperationId
from streambank.model.operation import Operation, OperationState
from streambank.model.rule import Reason, TriggerRule
from streambank.rules import operations
from streambank.store.plans import Plans
from streambank.store.streams import Streams
from streambank.store.windows import Windows
from streambank.wire.page_room import PageRoom, weightless

T = TypeVar("T")
# How many moves of its scope a window is looked for behind.
_MAX_MOVES = 10
# How many operations one call reads at most.
MAX_READ = 2_000
# The window's number in a cursor behind the open window, which comes before all sealed ones.
_OPEN = 10**12


@dataclass(frozen=True, slots=True)
class OperationCursor:
    """Where a page of operations ended: shard and entry of the registry, and the number of the window there."""

    shard: int
    entry: str
    window: int


@dataclass(frozen=True, slots=True)
class OperationContext:
    """What the reading of operations needs."""

    streams: Streams
    windows: Windows
    plans: Plans


def get_operation(bank: str, operation: OperationId, *, context: OperationContext) -> Operation:
    """Return the operation of a window, or of its downstream generation.

    The head is read first, then the window: in the other order the operation would not exist during a seal.

    Raises:
        NotFound: there is no such operation, or it has expired.
    """
    head, settings = context.streams.head_and_bank(bank, operation.sid)
    if settings is None:
        raise NotFound(f"there is no bank {bank!r}")
    if operation.window == 0 and not operation.downstream:
        return operations.virtual(operation.sid)
    is_open = head is not None and head.window == operation.window
    if head and is_open and head.count and not operation.downstream:
        return operations.buffering(head, settings.default_rule)
    window = None if is_open else context.windows.get(bank, operation.sid, operation.window)
    if window is None:
        raise NotFound(f"there is no operation {operation}")
    verdicts = context.plans.verdicts(window) if window.has_ended else []
    return operations.sealed(window, verdicts, downstream=operation.downstream)


def list_operations(
    bank: str,
    size: int,
    after: OperationCursor | None,
    *,
    context: OperationContext,
    bank_rule: TriggerRule | None,
    state: OperationState | None = None,
    weigh: Callable[[Operation], int] = weightless,
) -> tuple[list[Operation], OperationCursor | None]:
    """Return a page of a bank's operations, stream by stream, the newest window of each first, without verdicts.

    With a *state* a page may be short though others follow: a call reads 2,000 operations at most.
    """
    page, room = list[Operation](), PageRoom(size, weigh)
    cursor = after
    for read, (next_cursor, operation) in enumerate(_operations(bank, after, context, bank_rule)):
        is_listed = state in (None, operation.state)
        if len(page) == size or read == MAX_READ or (is_listed and not room.admits(operation)):
            return page, cursor
        if is_listed:
            page.append(operation)
        cursor = next_cursor
    return page, None


def _operations(
    bank: str, after: OperationCursor | None, context: OperationContext, bank_rule: TriggerRule | None
) -> Iterator[tuple[OperationCursor, Operation]]:
    """Yield the operations after *after*, each with the cursor behind it."""
    for shard, entry, sid in context.streams.registered(bank, (after.shard, after.entry) if after else None):
        before = after.window if after and (after.shard, after.entry) == (shard, entry) else None
        head = context.streams.head(bank, sid) if before is None else None
        if head and head.count:
            yield OperationCursor(shard, entry, _OPEN), operations.buffering(head, bank_rule)
        for window in context.windows.newest_first(bank, sid, before=None if before == _OPEN else before):
            downstream = window.reason is Reason.DIRECT
            yield OperationCursor(shard, entry, window.number), operations.sealed(window, downstream=downstream)


def follow_moves(bank: str, operation: OperationId, read: Callable[[OperationId], T], *, streams: Streams) -> T:
    """Return what *read* returns for an operation, or for the one that its window has where its scope was moved.

    Cost: nothing for an operation that is there.

    Raises:
        NotFound: there is no such operation anywhere, or the caller may not know of it: in the words of the first read.
    """
    try:
        return read(operation)
    except NotFound as refusal:
        for sid in _moves(bank, operation, streams):
            with contextlib.suppress(NotFound):
                return read(replace(operation, sid=sid))
        raise refusal from None


def _moves(bank: str, operation: OperationId, streams: Streams) -> Iterator[str]:
    """Yield the streams to which a window was moved, one after the other."""
    sid = streams.moved_to(bank, operation.sid, operation.window) if operation.window else None
    for _ in range(_MAX_MOVES):
        if sid is None:
            return
        yield sid
        sid = streams.moved_to(bank, sid, operation.window)


def scope_of(bank: str, operation: OperationId, *, context: OperationContext) -> dict[str, str] | None:
    """Return the scope of an operation's stream, or None if there is no such stream."""
    head = context.streams.head(bank, operation.sid)
    # The stream of a direct generation has no head.
    head_or_window = head or context.windows.get(bank, operation.sid, operation.window)
    return head_or_window.stream.scope if head_or_window else None
