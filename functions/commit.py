"""The last state of a generation."""

from __future__ import annotations

from typing import Any

from streambank import startup, telemetry, tracing
from streambank.model.window import Attempt
from streambank.pipeline.generation.commit import commit
from streambank.wiring.generation import build

WIRING = build()
startup.finish()


@telemetry.redact_exceptions()
def handler(event: dict[str, Any], context: object) -> dict[str, str]:
    """Apply a window's plan and return the outcome."""
    attempt = Attempt(event["bank"], event["sid"], event["win"], event["att"])
    outcome = tracing.stage(
        "upsert_memory",
        attempt,
        lambda one: commit(one, context=WIRING.commit_context()),
        is_memory_operation=True,
    )
    telemetry.stage_ended(telemetry.COMMITTED, attempt, outcome)
    return {"outcome": outcome}
