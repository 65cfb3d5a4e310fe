"""A run of a replay: windows are judged again, and nothing is written but what was found."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from streambank import startup, telemetry
from streambank.pipeline.jobs.replay import run
from streambank.wiring.generation import build

WIRING = build()
# A window that is begun then has nine minutes left, of the function's fourteen.
TIME = timedelta(minutes=5)
startup.finish()


@telemetry.redact_exceptions()
def handler(event: dict[str, Any], context: object) -> dict[str, str]:
    """Go on with a replay and return the outcome."""
    return {"outcome": run(event["bank"], event["replay"], event["run"], context=WIRING.replay_context(TIME))}
