"""Redriving a parked window: its generation is tried again at an operator's request."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from streambank.errors import FailedPrecondition
from streambank.model.ids import OperationId
from streambank.model.operation import Operation
from streambank.model.window import WindowState
from streambank.pipeline.generation.operations import OperationContext, get_operation
from streambank.pipeline.generation.start import start
from streambank.rules import operations
from streambank.store.executions import Executions


@dataclass(frozen=True, slots=True)
class RedriveContext(OperationContext):
    """What a redrive needs."""

    executions: Executions
    now: datetime


def redrive(bank: str, operation: OperationId, *, context: RedriveContext) -> Operation:
    """Make the parked window of *operation* pending again and start it.

    Raises:
        NotFound: there is no such operation.
        FailedPrecondition: its window is not parked.
    """
    current = get_operation(bank, operation, context=context)
    parked = current.window if current.window and current.window.state is WindowState.PARKED else None
    redriven = context.windows.redrive(parked, due=context.now) if parked else None
    if redriven is None:
        raise FailedPrecondition(f"{operation} is {current.state}; only a parked window is redriven")
    start(redriven, windows=context.windows, executions=context.executions)
    return operations.sealed(redriven, downstream=operation.downstream)
