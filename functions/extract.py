"""The first state of a generation."""

from __future__ import annotations

from typing import Any

from streambank import telemetry, tracing
from streambank.model.window import Attempt
from streambank.pipeline.generation.extract import extract
from streambank.wiring.generation import build

WIRING = build()


@telemetry.redact_exceptions()
def handler(event: dict[str, Any], context: object) -> dict[str, str]:
    """Store the candidates of a window and return the outcome."""
    attempt = Attempt(event["bank"], event["sid"], event["win"], event["att"])
    outcome = tracing.stage("extract", attempt, _extracted)
    telemetry.stage_ended(telemetry.EXTRACTED, attempt, outcome)
    return {"outcome": outcome}


def _extracted(attempt: Attempt) -> str:
    return extract(
        attempt,
        windows=WIRING.stores.windows,
        plans=WIRING.stores.plans,
        banks=WIRING.stores.banks,
        extractor=WIRING.extractor,
        embedder=WIRING.embedder,
        token_budget=WIRING.token_budget,
        retention_policy=WIRING.deployment.retention_policy,
        now=WIRING.deployment.now(),
    )
