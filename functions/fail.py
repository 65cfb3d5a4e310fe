"""The state of a generation that failed."""

from __future__ import annotations

from typing import Any

from streambank import metrics, startup, telemetry
from streambank.model.window import Attempt
from streambank.pipeline.generation.fail import fail
from streambank.wiring.generation import build

WIRING = build()
startup.finish()


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Record the failure: the window is tried again after a while, or parked."""
    attempt = Attempt(event["bank"], event["sid"], event["win"], event["att"])
    failed = fail(attempt, event["outcome"], context=WIRING.fail_context())
    telemetry.failed(
        attempt,
        event["outcome"],
        is_parked=failed.is_parked,
        failures=failed.failures,
        provider_error=failed.provider_error,
    )
    metrics.failed(event["outcome"], is_parked=failed.is_parked)
    return {"outcome": "parked" if failed.is_parked else "failed"}
