"""The first state of a generation."""

from __future__ import annotations

from typing import Any

from streambank import telemetry, tracing, wiring
from streambank.model.window import Attempt
from streambank.pipeline.generation.extract import ExtractContext, extract
from streambank.wiring import models

STORES = wiring.stores()


@telemetry.redact_exceptions()
def handler(event: dict[str, Any], context: object) -> dict[str, str]:
    """Store the candidates of a window and return the outcome."""
    attempt = Attempt(event["bank"], event["sid"], event["win"], event["att"])
    outcome = tracing.stage("extract", attempt, _extracted)
    telemetry.worked(telemetry.EXTRACTED, attempt, outcome)
    return {"outcome": outcome}


def _extracted(attempt: Attempt) -> str:
    context = ExtractContext(
        windows=STORES.windows,
        plans=STORES.plans,
        banks=STORES.banks,
        extractor=models.extractor(),
        embedder=models.embedder(),
        token_budget=models.token_budget(),
        retention_policy=STORES.retention_policy,
        now=wiring.now(),
    )
    return extract(attempt, context=context)
