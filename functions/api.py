"""Every route but ingest."""

from __future__ import annotations

from typing import Any

from streambank import startup, telemetry
from streambank.api import app
from streambank.wire import http
from streambank.wiring.api import build

WIRING = build()
startup.finish()


def handler(event: dict[str, Any], context: object) -> http.Response:
    """Answer an API Gateway event."""
    return http.to_response(lambda: app.respond(event, WIRING), on_fault=telemetry.log_fault)
