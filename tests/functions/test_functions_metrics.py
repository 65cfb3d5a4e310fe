"""The metrics that alarms watch, as CloudWatch reads them from a function's output."""

import json

import pytest

from streambank import metrics, telemetry
from streambank.settings import Settings
from tests.world import event

QUIET = {"faults": [], "parked": 0, "oldest_seconds": 0, "oldest_job_seconds": 0, "oldest_pending_seconds": 0}


def emitted(capsys):
    """Return the values of the metrics that were written, all under this stack's name."""
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line]
    told = {}
    for line in lines:
        [directive] = line["_aws"]["CloudWatchMetrics"]
        assert (directive["Namespace"], directive["Dimensions"], line["service"]) == (
            "Streambank",
            [["service"]],
            telemetry.LOGGER.service,
        )
        told |= {metric["Name"]: (metric["Unit"], line[metric["Name"]]) for metric in directive["Metrics"]}
    return told


@pytest.fixture(autouse=True)
def enabled():
    """Local mode, which other tests start in this process, turns metrics off."""
    metrics.configure(enabled=True)


def test_where_nobody_reads_metrics_none_are_written(capsys):
    """Local mode switches them off: its terminal stays readable."""
    assert not Settings.read({"TABLE_NAME": "t", "POWERTOOLS_METRICS_DISABLED": "True"}).emits_metrics
    metrics.configure(enabled=False)
    metrics.swept(QUIET | {"parked": 2})
    assert emitted(capsys) == {}


def test_every_sweep_tells_how_late_it_is(capsys):
    """A quiet sweep says 0, so that missing data means that no sweep came."""
    metrics.swept(QUIET)
    assert emitted(capsys) == {
        "OldestDueSeconds": ("Seconds", [0.0]),
        "OldestJobSeconds": ("Seconds", [0.0]),
        "OldestPendingSeconds": ("Seconds", [0.0]),
        "SweepFaults": ("Count", [0.0]),
    }
    waits = {"oldest_seconds": 301, "oldest_job_seconds": 302, "oldest_pending_seconds": 303}
    metrics.swept(QUIET | waits | {"parked": 2, "faults": ["HEAD KeyError"]})
    assert emitted(capsys) == {
        "OldestDueSeconds": ("Seconds", [301.0]),
        "OldestJobSeconds": ("Seconds", [302.0]),
        "OldestPendingSeconds": ("Seconds", [303.0]),
        "SweepFaults": ("Count", [1.0]),
        "WindowsParked": ("Count", [2.0]),
    }


@pytest.mark.parametrize(
    ("outcome", "is_parked", "names"),
    [
        ("MODEL_UNAVAILABLE", False, set()),
        ("MODEL_UNAVAILABLE", True, {"WindowsParked"}),
        ("MODEL_THROTTLED", False, {"ModelThrottles"}),
        ("BUDGET_PAUSED", False, {"BudgetPauses"}),
    ],
)
def test_failures_that_need_somebody_are_counted(capsys, outcome, is_parked, names):
    """A window that is parked, paused or throttled is counted; one that is tried again is not."""
    metrics.failed(outcome, is_parked=is_parked)
    assert set(emitted(capsys)) == names


def test_a_sweep_says_how_long_a_window_has_waited_for_its_seal(world):
    """The longest time by which any open window was overdue; one that is in time counts nothing."""
    world.ingest(event("a"), rule={"idleDuration": "60s"})
    assert world.sweep().oldest_seconds == 0
    world.clock.move(seconds=460)
    assert 395 <= world.sweep().oldest_seconds <= 405
