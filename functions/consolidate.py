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
    context = ConsolidateContext(
        windows=STORES.windows,
        plans=STORES.plans,
        banks=STORES.banks,
        memories=STORES.memories,
        consolidator=models.consolidator(),
        embedder=models.embedder(),
        token_budget=models.token_budget(),
        retention_policy=STORES.retention_policy,
        now=wiring.now(),
    )
    return consolidate(attempt, context=context)
