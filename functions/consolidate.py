"""The second state of a generation."""

from __future__ import annotations

from typing import Any

from streambank import startup, telemetry, tracing
from streambank.model.window import Attempt
from streambank.pipeline.generation.consolidate import consolidate
from streambank.wiring.generation import build

WIRING = build()
startup.finish()


@telemetry.redact_exceptions()
def handler(event: dict[str, Any], context: object) -> dict[str, str]:
    """Store a plan for a window's candidates and return the outcome."""
    attempt = Attempt(event["bank"], event["sid"], event["win"], event["att"])
    outcome = tracing.stage("consolidate", attempt, lambda one: consolidate(one, context=WIRING.consolidate_context()))
    telemetry.stage_ended(telemetry.CONSOLIDATED, attempt, outcome)
    return {"outcome": outcome}
