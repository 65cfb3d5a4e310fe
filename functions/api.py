"""Every route but ingest."""

from __future__ import annotations

from typing import Any

from streambank import api, telemetry, wiring
from streambank.wire import http

wiring.caller()


def handler(event: dict[str, Any], context: object) -> http.Reply:
    """Answer an API Gateway event."""
    return http.to_response(lambda: api.respond(event, context), on_fault=telemetry.log_fault)
