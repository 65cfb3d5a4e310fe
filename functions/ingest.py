"""POST memories:ingestEvents."""

from __future__ import annotations

from typing import Any

from streambank import startup, telemetry
from streambank.api import ingest
from streambank.wire import http
from streambank.wiring.ingest import build

WIRING = build()
startup.finish()


def handler(event: dict[str, Any], context: object) -> http.Response:
    """Answer an API Gateway event with the operation of the window that holds its newest event."""
    return http.to_response(lambda: ingest.respond(event, WIRING), on_fault=telemetry.log_fault)
