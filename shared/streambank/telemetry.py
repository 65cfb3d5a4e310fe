"""Names of logs and metrics. Text of events is never logged; keys and kinds are."""

from __future__ import annotations

import json
import logging
import os
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from aws_lambda_powertools import Logger

from streambank.model.ids import OperationId
from streambank.model.operation import Receipt
from streambank.model.window import Attempt

# In ASCII: what a terminal or a viewer takes for the end of a line or for an order is escaped, whatever a field holds.
LOGGER = Logger(json_serializer=partial(json.dumps, default=str, separators=(",", ":")))

SWEPT = "swept"
INGESTED = "ingested"
EXTRACTED = "extracted"
CONSOLIDATED = "consolidated"
COMMITTED = "committed"
FAULT = "fault"
GENERATION_FAILED = "generation failed"
NO_TRACES = "traces are configured and cannot be sent"
TRACES_LOST = "traces lost"
WINDOWS_PARKED = "WindowsParked"
BUDGET_PAUSES = "BudgetPauses"
OLDEST_DUE = "OldestDueSeconds"
_NAMESPACE = "Streambank"


def log_fault(fault: BaseException) -> None:
    """Log where *fault* came from, not what it says: a message may quote an event."""
    places = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(fault.__traceback__)]
    LOGGER.error(FAULT, extra={"fault": type(fault).__name__, "places": places})


class Crash(Exception):
    """A fault of ours without what it said."""


@contextmanager
def redact_exceptions() -> Iterator[None]:
    """Let a fault go on without what it says: Lambda would log that, and Step Functions keep it for 90 days.

    Raises:
        Crash: in the place of any other exception, under its name, which the state machine books.
    """
    try:
        yield
    except Exception as fault:  # noqa: BLE001  the last line before Lambda's own log
        log_fault(fault)
        raise type(type(fault).__name__, (Crash,), {}) from None


def swept(report: Mapping[str, Any]) -> None:
    """Log what a sweep did, loudly if something could not be handled."""
    level = LOGGER.error if report["faults"] else LOGGER.info
    level(SWEPT, extra=dict(report))
    measure(OLDEST_DUE, report["oldest_seconds"], unit="Seconds")
    if report["parked"]:
        count(WINDOWS_PARKED, report["parked"])


def ingested(receipt: Receipt, bank: str, request_id: str) -> None:
    """Log which operation a request's events went to: all later lines of their way name that operation."""
    counts = {"accepted": receipt.accepted, "duplicates": receipt.duplicates}
    operation = str(receipt.operation.id)
    LOGGER.info(INGESTED, extra={"bank": bank, "operation": operation, "request_id": request_id, **counts})


def worked(stage: str, attempt: Attempt, outcome: str) -> None:
    """Log what a stage of a generation came to."""
    LOGGER.info(stage, extra={**named(attempt), "outcome": outcome})


def named(attempt: Attempt) -> dict[str, Any]:
    """Return what lines and spans about an attempt have in common."""
    operation = OperationId(attempt.sid, attempt.window)
    return {"bank": attempt.bank, "operation": str(operation), "attempt": attempt.attempt}


def failed(attempt: Attempt, outcome: str, *, is_parked: bool, failures: int) -> None:
    """Log a failed attempt at a window, and count it where it is parked."""
    told = {**named(attempt), "outcome": outcome, "parked": is_parked, "failures": failures}
    LOGGER.warning(GENERATION_FAILED, extra=told)
    if is_parked:
        count(WINDOWS_PARKED, 1)
    if outcome == "BUDGET_PAUSED":
        count(BUDGET_PAUSES, 1)


def no_traces(fault: Exception) -> None:
    """Log why a collector is configured and gets nothing: a package is missing, or a variable is wrong."""
    missing = fault.name if isinstance(fault, ImportError) else None
    LOGGER.warning(NO_TRACES, extra={"fault": type(fault).__name__, "missing": missing})


def traces_lost(spans: int, problem: str) -> None:
    """Log that a collector did not take spans."""
    LOGGER.warning(TRACES_LOST, extra={"spans": spans, "problem": problem})


def silence(library: str) -> None:
    """Let a library's loggers write nothing, for one whose lines quote what must not be logged."""
    logger = logging.getLogger(library)
    logger.addHandler(logging.NullHandler())
    logger.propagate = False


def count(metric: str, value: int) -> None:
    """Emit a number of occurrences."""
    measure(metric, value, unit="Count")


def measure(metric: str, value: int, *, unit: str) -> None:
    """Emit a metric in CloudWatch's embedded format, under this stack's name, unless nobody reads metrics here.

    powertools looks at its own switch for its decorator only, not for single metrics.
    """
    if os.environ.get("POWERTOOLS_METRICS_DISABLED", "").lower() == "true":
        return
    from aws_lambda_powertools.metrics import MetricUnit, single_metric  # off the import path of ingest

    with single_metric(name=metric, unit=MetricUnit(unit), value=value, namespace=_NAMESPACE) as emitted:
        emitted.add_dimension(name="service", value=LOGGER.service)
