"""The last state of a generation."""

from __future__ import annotations

from typing import Any

from streambank import wiring
from streambank.model.window import Attempt
from streambank.pipeline.commit import commit

STORES = wiring.stores()


def handler(event: dict[str, Any], context: object) -> dict[str, str]:
    """Apply a window's plan and return the outcome."""
    outcome = commit(
        Attempt(event["bank"], event["sid"], event["win"], event["att"]),
        windows=STORES.windows,
        plans=STORES.plans,
        memories=STORES.memories,
        banks=STORES.banks,
        lifetimes=STORES.lifetimes,
        now=wiring.now(),
    )
    return {"outcome": outcome}
