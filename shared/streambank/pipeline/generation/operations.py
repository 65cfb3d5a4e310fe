"""Looking at an operation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from streambank.errors import NotFound
from streambank.model.ids import OperationId
from streambank.model.operation import Operation, OperationState
from streambank.model.rule import Reason, TriggerRule
from streambank.rules import operations
from streambank.store.plans import Plans
from streambank.store.streams import Streams
from streambank.store.windows import Windows

MOST_LOOKED_AT = 2_000
# A window's number in a position: the open window comes before all sealed ones.
_OPEN = 10**12


@dataclass(frozen=True, slots=True)
class OperationCursor:
    """Where a page of operations ended: shard and entry of the registry, and the number of the window there."""

    shard: int
    entry: str
    window: int


def get_operation(bank: str, operation: OperationId, *, streams: Streams, windows: Windows, plans: Plans) -> Operation:
    """Return the operation of a window, or of its downstream generation.

    The head is read first, then the window: the other order answers 404 during a seal.

    Raises:
        NotFound: no call was ever answered with it, or it has expired.
    """
    head, settings = streams.head_and_bank(bank, operation.sid)
    if settings is None:
        raise NotFound(f"there is no bank {bank!r}")
    if operation.window == 0 and not operation.downstream:
        return operations.virtual(operation.sid)
    is_open = head is not None and head.window == operation.window
    if head and is_open and head.count and not operation.downstream:
        return operations.buffering(head, settings.default_rule)
    window = None if is_open else windows.get(bank, operation.sid, operation.window)
    if window is None:
        raise NotFound(f"there is no operation {operation}")
    verdicts = plans.verdicts(window) if window.has_ended else []
    return operations.sealed(window, verdicts, downstream=operation.downstream)


def list_operations(
    bank: str,
    size: int,
    after: OperationCursor | None,
    *,
    streams: Streams,
    windows: Windows,
    bank_rule: TriggerRule | None,
    state: OperationState | None = None,
) -> tuple[list[Operation], OperationCursor | None]:
    """Return a page of a bank's operations, stream by stream, the newest window of each first, without verdicts.

    Where *state* is wanted, a page may be short and others follow: a call looks at 2,000 operations at most.
    """
    shown: list[Operation] = []
    place = after
    for looked_at, (here, operation) in enumerate(_walked(bank, after, streams, windows, bank_rule)):
        if len(shown) == size or looked_at == MOST_LOOKED_AT:
            return shown, place
        if state in (None, operation.state):
            shown.append(operation)
        place = here
    return shown, None


def _walked(
    bank: str, after: OperationCursor | None, streams: Streams, windows: Windows, bank_rule: TriggerRule | None
) -> Iterator[tuple[OperationCursor, Operation]]:
    for shard, entry, sid in streams.registered(bank, (after.shard, after.entry) if after else None):
        before = after.window if after and (after.shard, after.entry) == (shard, entry) else None
        head = streams.head(bank, sid) if before is None else None
        if head and head.count:
            yield OperationCursor(shard, entry, _OPEN), operations.buffering(head, bank_rule)
        for window in windows.newest_first(bank, sid, before=None if before == _OPEN else before):
            downstream = window.reason is Reason.DIRECT
            yield OperationCursor(shard, entry, window.number), operations.sealed(window, downstream=downstream)


def scope_of(bank: str, operation: OperationId, *, streams: Streams, windows: Windows) -> dict[str, str] | None:
    """Return the scope whose events an operation is about, or None if there is no such stream."""
    head = streams.head(bank, operation.sid)
    # A direct generation's window has no head behind it.
    found = head or windows.get(bank, operation.sid, operation.window)
    return found.stream.scope if found else None
