"""IngestEvents. The function `Ingest` imports this and nothing else of the API: its cold start carries no pydantic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streambank import telemetry, tracing
from streambank.api.request import Request
from streambank.api.route import Route
from streambank.model.principal import Role
from streambank.pipeline.events.ingest import IngestContext, ingest
from streambank.rules import access
from streambank.wire import http
from streambank.wire.ingest import ingest_call
from streambank.wire.operation import WindowOperation, ingest_operation
from streambank.wiring.ingest import IngestWiring


@dataclass(frozen=True, slots=True)
class IngestRequest(Request):
    """A request, and what an ingest works with."""

    context: IngestContext


def respond(event: Mapping[str, Any], wiring: IngestWiring) -> http.Response:
    """Answer an API Gateway event of the ingest route. Raises StreambankError."""
    principal = wiring.authenticate(event)
    return ROUTE.respond(IngestRequest(event, http.bank_path(event), principal, wiring.ingest), {})


def ingest_events(request: IngestRequest) -> WindowOperation:
    """Accept events and return the operation of the window that holds the newest."""
    path = request.path
    call = ingest_call(request.body(), bank=path.bank, idempotency_key=request.header("x-idempotency-key"))
    access.check_scope(request.principal, call.stream.scope)
    receipt = ingest(call, context=request.context)
    telemetry.ingested(receipt, path.bank, http.request_id(request.event))
    tracing.accepted(receipt)
    return ingest_operation(receipt, path.bank_name)


ROUTE = Route(
    "ingestEvents",
    "POST",
    "/memories:ingestEvents",
    "Accepts events; ids make it safe to send them again.",
    Role.INGEST,
    ingest_events,
    span=tracing.INGEST,
)
