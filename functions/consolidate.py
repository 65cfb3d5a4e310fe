"""The second state of a generation."""

from __future__ import annotations

from typing import Any

from streambank import telemetry, tracing, wiring
from streambank.model.window import Attempt
from streambank.pipeline.generation.consolidate import ConsolidateContext, consolidate
from streambank.wiring import models

STORES = wiring.stores()


@telemetry.redact_exceptions()
def handler(event: dict[str, Any], context: object) -> dict[str, str]:
    """Store a plan for a window's candidates and return the outcome."""
    attempt = Attempt(event["bank"], event["sid"], event["win"], event["att"])
    outcome = tracing.stage("consolidate", attempt, _consolidated)
    telemetry.worked(telemetry.CONSOLIDATED, attempt, outcome)
    return {"outcome": outcome}


def _consolidated(attempt: Attempt) -> str:
    return consolidate(
        attempt,
        windows=STORES.windows,
        plans=STORES.plans,
        banks=STORES.banks,
        context=ConsolidateContext(
            STORES.memories,
            models.consolidator(),
            models.embedder(),
            models.token_budget(),
            STORES.retention_policy,
            wiring.now(),
        ),
    )
