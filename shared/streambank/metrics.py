"""Metrics in CloudWatch's embedded format, under the stack's name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aws_lambda_powertools.metrics import MetricUnit, single_metric

from streambank.telemetry import LOGGER

WINDOWS_PARKED = "WindowsParked"
BUDGET_PAUSES = "BudgetPauses"
MODEL_THROTTLES = "ModelThrottles"
OLDEST_DUE = "OldestDueSeconds"
OLDEST_JOB = "OldestJobSeconds"
OLDEST_PENDING = "OldestPendingSeconds"
SWEEP_FAULTS = "SweepFaults"
_NAMESPACE = "Streambank"


@dataclass(slots=True)
class _Switch:
    is_on: bool = True


_switch = _Switch()


def configure(*, enabled: bool) -> None:
    """Switch metrics on or off: powertools' own switch works for its decorator only, not for single metrics."""
    _switch.is_on = enabled


def swept(report: Mapping[str, Any]) -> None:
    """Emit what waits longest after a sweep, how many items it could not handle, and how many windows it parked."""
    _emit(OLDEST_DUE, report["oldest_seconds"], MetricUnit.Seconds)
    _emit(OLDEST_JOB, report["oldest_job_seconds"], MetricUnit.Seconds)
    _emit(OLDEST_PENDING, report["oldest_pending_seconds"], MetricUnit.Seconds)
    _emit(SWEEP_FAULTS, len(report["faults"]))
    if report["parked"]:
        _emit(WINDOWS_PARKED, report["parked"])


def failed(outcome: str, *, is_parked: bool) -> None:
    """Emit a window that was parked, a pause for want of budget, and one for want of the provider's quota."""
    if is_parked:
        _emit(WINDOWS_PARKED, 1)
    if outcome == "BUDGET_PAUSED":
        _emit(BUDGET_PAUSES, 1)
    if outcome == "MODEL_THROTTLED":
        _emit(MODEL_THROTTLES, 1)


def _emit(metric: str, value: int, unit: MetricUnit = MetricUnit.Count) -> None:
    if not _switch.is_on:
        return
    with single_metric(name=metric, unit=unit, value=value, namespace=_NAMESPACE) as emitted:
        emitted.add_dimension(name="service", value=LOGGER.service)
