"""Log lines: constant names with fields. Text of events is never logged; keys and kinds are."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

from aws_lambda_powertools import Logger

from streambank.model.ids import OperationId
from streambank.model.operation import Receipt
from streambank.model.window import Attempt

# In ASCII, so that line ends and control characters in a field are escaped.
LOGGER = Logger(json_serializer=partial(json.dumps, default=str, separators=(",", ":")))

SWEPT = "swept"
INGESTED = "ingested"
EXTRACTED = "extracted"
CONSOLIDATED = "consolidated"
COMMITTED = "committed"
FAULT = "fault"
GENERATION_FAILED = "generation failed"
MODEL_FAILED = "model failed"
OTHER_VECTORS = "vectors of another embedding model"
INDEX_UNAVAILABLE = "the vector index cannot be searched"
NO_TRACES = "traces are configured and cannot be sent"
TRACES_LOST = "traces lost"


def log_fault(fault: BaseException) -> None:
    """Log where *fault* was raised, without its message, which may quote an event."""
    places = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(fault.__traceback__)]
    LOGGER.error(FAULT, extra={"fault": type(fault).__name__, "places": places})


class Crash(Exception):
    """An unexpected exception without its message."""


@contextmanager
def redact_exceptions() -> Iterator[None]:
    """Replace an exception by one without a message: Lambda logs messages, and Step Functions keeps them for 90 days.

    Raises:
        Crash: in place of any other exception, and with its class name, which the state machine records.
    """
    try:
        yield
    except Exception as fault:  # noqa: BLE001  the last line before Lambda's own log
        log_fault(fault)
        raise type(type(fault).__name__, (Crash,), {}) from None


def swept(report: Mapping[str, Any]) -> None:
    """Log what a sweep did, as an error if an item could not be handled."""
    level = LOGGER.error if report["faults"] else LOGGER.info
    level(SWEPT, extra=dict(report))


def ingested(receipt: Receipt, bank: str, request_id: str) -> None:
    """Log the operation of a request's events: all later lines about these events name the same operation."""
    counts = {"accepted": receipt.accepted, "duplicates": receipt.duplicates}
    operation = str(receipt.operation.id)
    LOGGER.info(INGESTED, extra={"bank": bank, "operation": operation, "request_id": request_id, **counts})


def stage_ended(stage: str, attempt: Attempt, outcome: str) -> None:
    """Log the outcome of a stage of a generation."""
    LOGGER.info(stage, extra={**attempt_fields(attempt), "outcome": outcome})


def attempt_fields(attempt: Attempt) -> dict[str, Any]:
    """Return the fields that all lines and spans about an attempt have."""
    operation = OperationId(attempt.sid, attempt.window)
    return {"bank": attempt.bank, "operation": str(operation), "attempt": attempt.attempt}


def failed(attempt: Attempt, outcome: str, provider_error: str = "", *, is_parked: bool, failures: int) -> None:
    """Log a failed attempt at a window."""
    fields = {**attempt_fields(attempt), "outcome": outcome, "parked": is_parked, "failures": failures}
    fields |= {"provider_error": provider_error} if provider_error else {}
    LOGGER.warning(GENERATION_FAILED, extra=fields)


def model_failed(outcome: str, provider_error: str) -> None:
    """Log a call of a model that failed for good, by the provider's own code and request id."""
    LOGGER.warning(MODEL_FAILED, extra={"outcome": outcome, "provider_error": provider_error})


@cache
def other_vectors(bank: str) -> None:
    """Log, once in a process, that *bank* has memories whose vectors cannot be compared with those of its model."""
    LOGGER.warning(OTHER_VECTORS, extra={"bank": bank})


@cache
def index_unavailable(bank: str) -> None:
    """Log, once in a process, that a large scope of *bank* was read whole instead of being searched by its index."""
    LOGGER.warning(INDEX_UNAVAILABLE, extra={"bank": bank})


def no_traces(fault: Exception) -> None:
    """Log why a configured collector gets no spans: a package is missing, or a variable is wrong."""
    missing = fault.name if isinstance(fault, ImportError) else None
    LOGGER.warning(NO_TRACES, extra={"fault": type(fault).__name__, "missing": missing})


def traces_lost(spans: int, problem: str) -> None:
    """Log that a collector did not take spans."""
    LOGGER.warning(TRACES_LOST, extra={"spans": spans, "problem": problem})


def silence(library: str) -> None:
    """Silence the loggers of a library whose lines quote what must not be logged."""
    logger = logging.getLogger(library)
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
