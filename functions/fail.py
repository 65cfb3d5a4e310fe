"""The state of a generation that came to nothing."""

from __future__ import annotations

from typing import Any

from streambank import telemetry, wiring
from streambank.model.window import Attempt
from streambank.pipeline.generation.fail import FailContext, fail

STORES = wiring.stores()


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Book the failure: another try after a while, or a parking place."""
    attempt = Attempt(event["bank"], event["sid"], event["win"], event["att"])
    failed = fail(attempt, event["outcome"], context=FailContext(STORES.windows, wiring.now(), wiring.jitter))
    telemetry.failed(attempt, event["outcome"], is_parked=failed.is_parked, failures=failed.failures)
    return {"outcome": "parked" if failed.is_parked else "failed"}
