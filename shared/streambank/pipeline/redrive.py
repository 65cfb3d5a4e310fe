"""A parked window is tried again, because somebody says so."""

from __future__ import annotations

from datetime import datetime

from streambank.errors import FailedPrecondition, NotFound
from streambank.model.ids import OperationId
from streambank.model.operation import Operation
from streambank.model.window import WindowState
from streambank.pipeline.start import start
from streambank.rules import operations
from streambank.store.executions import Executions
from streambank.store.windows import Windows


def redrive(bank: str, operation: OperationId, *, windows: Windows, executions: Executions, now: datetime) -> Operation:
    """Make the parked window of *operation* pending again and start it.

    Raises:
        NotFound: there is no such sealed window.
        FailedPrecondition: it is not parked.
    """
    window = windows.get(bank, operation.sid, operation.window)
    if window is None:
        raise NotFound(f"there is no sealed window {operation}")
    redriven = windows.redriven(window, due=now) if window.state is WindowState.PARKED else None
    if redriven is None:
        raise FailedPrecondition(f"{operation} is {operations.state_of(window)}; only a parked window is redriven")
    start(redriven, windows=windows, executions=executions)
    return operations.sealed(redriven, downstream=operation.downstream)
