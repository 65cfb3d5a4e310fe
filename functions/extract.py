"""The first state of a generation."""

from __future__ import annotations

from typing import Any

from streambank import startup, telemetry, tracing
from streambank.model.window import Attempt
from streambank.pipeline.generation.extract import extract
from streambank.wiring.generation import build

WIRING = build()
startup.finish()


@telemetry.redact_exceptions()
def handler(event: dict[str, Any], context: object) -> dict[str, str]:
    """Store the candidates of a window and return the outcome."""
    attempt = Attempt(event["bank"], event["sid"], event["win"], event["att"])
    outcome = tracing.stage("extract", attempt, lambda one: extract(one, context=WIRING.extract_context()))
    telemetry.stage_ended(telemetry.EXTRACTED, attempt, outcome)
    return {"outcome": outcome}
