"""The minute sweep."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from streambank import metrics, startup, telemetry
from streambank.pipeline.sweep import sweep
from streambank.wiring.sweep import build

WIRING = build()
# Enough to finish what was begun: one item takes a few round trips.
RESERVE_MS = 10_000
startup.finish()


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Handle what is due and tell what was done."""
    report = asdict(sweep(context=WIRING.sweep, has_time=lambda: context.get_remaining_time_in_millis() > RESERVE_MS))
    telemetry.swept(report)
    metrics.swept(report)
    return report
