"""The second state of a generation."""

from __future__ import annotations

from typing import Any

from streambank import telemetry, tracing
from streambank.model.window import Attempt
from streambank.pipeline.generation.consolidate import ConsolidateContext, consolidate
from streambank.wiring.generation import build

WIRING = build()


@telemetry.redact_exceptions()
def handler(event: dict[str, Any], context: object) -> dict[str, str]:
    """Store a plan for a window's candidates and return the outcome."""
    attempt = Attempt(event["bank"], event["sid"], event["win"], event["att"])
    outcome = tracing.stage("consolidate", attempt, _consolidated)
    telemetry.stage_ended(telemetry.CONSOLIDATED, attempt, outcome)
    return {"outcome": outcome}


def _consolidated(attempt: Attempt) -> str:
    return consolidate(
        attempt,
        windows=WIRING.stores.windows,
        plans=WIRING.stores.plans,
        banks=WIRING.stores.banks,
        context=ConsolidateContext(
            WIRING.stores.memories,
            WIRING.consolidator,
            WIRING.embedder,
            WIRING.token_budget,
            WIRING.deployment.retention_policy,
            WIRING.deployment.now(),
        ),
    )
