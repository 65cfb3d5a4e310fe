"""Names of logs and metrics. Text of events is never logged; keys and kinds are."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools import Logger

from streambank.model.window import Attempt

LOGGER = Logger()

SWEPT = "swept"
FAULT = "fault"
GENERATION_FAILED = "generation failed"
WINDOWS_PARKED = "WindowsParked"
BUDGET_PAUSES = "BudgetPauses"
OLDEST_DUE = "OldestDueSeconds"
_NAMESPACE = "Streambank"


def log_fault(fault: BaseException) -> None:
    """Log where *fault* came from, not what it says: a message may quote an event."""
    places = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(fault.__traceback__)]
    LOGGER.error(FAULT, extra={"fault": type(fault).__name__, "places": places})


def swept(report: Mapping[str, Any]) -> None:
    """Log what a sweep did, loudly if something could not be handled."""
    level = LOGGER.error if report["faults"] else LOGGER.info
    level(SWEPT, extra=dict(report))
    measure(OLDEST_DUE, report["oldest_seconds"], unit="Seconds")
    if report["parked"]:
        count(WINDOWS_PARKED, report["parked"])


def failed(attempt: Attempt, outcome: str, *, is_parked: bool, failures: int) -> None:
    """Log a failed attempt at a window, and count it where it is parked."""
    where = {"bank": attempt.bank, "sid": attempt.sid, "window": attempt.window, "attempt": attempt.attempt}
    LOGGER.warning(GENERATION_FAILED, extra={**where, "outcome": outcome, "parked": is_parked, "failures": failures})
    if is_parked:
        count(WINDOWS_PARKED, 1)
    if outcome == "BUDGET_PAUSED":
        count(BUDGET_PAUSES, 1)


def count(metric: str, value: int) -> None:
    """Emit a number of occurrences."""
    measure(metric, value, unit="Count")


def measure(metric: str, value: int, *, unit: str) -> None:
    """Emit a metric in CloudWatch's embedded format, under this stack's name."""
    from aws_lambda_powertools.metrics import single_metric  # off the import path of ingest

    with single_metric(name=metric, unit=unit, value=value, namespace=_NAMESPACE) as emitted:
        emitted.add_dimension(name="service", value=LOGGER.service)
