"""A parked window is tried again, because somebody says so."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from streambank.errors import FailedPrecondition
from streambank.model.ids import OperationId
from streambank.model.operation import Operation
from streambank.model.window import WindowState
from streambank.pipeline.generation.operations import get_operation
from streambank.pipeline.generation.start import start
from streambank.rules import operations
from streambank.store.executions import Executions
from streambank.store.plans import Plans
from streambank.store.streams import Streams
from streambank.store.windows import Windows


@dataclass(frozen=True, slots=True)
class RedriveContext:
    """What a redrive needs."""

    streams: Streams
    windows: Windows
    plans: Plans
    executions: Executions
    now: datetime


def redrive(bank: str, operation: OperationId, *, context: RedriveContext) -> Operation:
    """Make the parked window of *operation* pending again and start it.

    Raises:
        NotFound: there is no such operation.
        FailedPrecondition: its window is not parked.
    """
    shown = get_operation(bank, operation, streams=context.streams, windows=context.windows, plans=context.plans)
    is_parked = shown.window is not None and shown.window.state is WindowState.PARKED
    redriven = context.windows.redriven(shown.window, due=context.now) if shown.window and is_parked else None
    if redriven is None:
        raise FailedPrecondition(f"{operation} is {shown.state}; only a parked window is redriven")
    start(redriven, windows=context.windows, executions=context.executions)
    return operations.sealed(redriven, downstream=operation.downstream)
