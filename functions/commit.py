"""The last state of a generation."""

from __future__ import annotations

from typing import Any

from streambank import telemetry, tracing, wiring
from streambank.model.window import Attempt
from streambank.pipeline.generation.commit import CommitContext, commit

STORES = wiring.stores()


@telemetry.redact_exceptions()
def handler(event: dict[str, Any], context: object) -> dict[str, str]:
    """Apply a window's plan and return the outcome."""
    attempt = Attempt(event["bank"], event["sid"], event["win"], event["att"])
    outcome = tracing.stage("upsert_memory", attempt, _committed, is_memory_operation=True)
    telemetry.worked(telemetry.COMMITTED, attempt, outcome)
    return {"outcome": outcome}


def _committed(attempt: Attempt) -> str:
    context = CommitContext(
        windows=STORES.windows,
        plans=STORES.plans,
        memories=STORES.memories,
        banks=STORES.banks,
        retention_policy=STORES.retention_policy,
        now=wiring.now(),
    )
    return commit(attempt, context=context)
