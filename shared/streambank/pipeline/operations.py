"""Looking at an operation."""

from __future__ import annotations

from streambank.errors import NotFound
from streambank.model.ids import OperationId
from streambank.model.operation import Operation
from streambank.rules import operations
from streambank.store.plans import Plans
from streambank.store.streams import Streams
from streambank.store.windows import Windows


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
