"""POST memories:ingestEvents."""

from __future__ import annotations

from typing import Any

from streambank import telemetry, tracing, wiring
from streambank.model.principal import Principal, Role
from streambank.pipeline.events.ingest import ingest
from streambank.rules import access
from streambank.wire import http, operation
from streambank.wire.ingest import ingest_call

USING, CALLER = wiring.ingestion(), wiring.caller()


def handler(event: dict[str, Any], context: object) -> http.Reply:
    """Answer an API Gateway event with the operation of the window that holds its newest event."""
    return http.to_response(lambda: _respond(event), on_fault=telemetry.log_fault)


def _respond(event: dict[str, Any]) -> http.Reply:
    principal, place = CALLER(event), http.place(event)
    span = tracing.span(tracing.INGEST, {tracing.STORE_ID: place.bank}, parent=http.header(event, "traceparent"))
    return span(_accepted)(event, principal, place)


def _accepted(event: dict[str, Any], principal: Principal, place: http.BankPath) -> http.Reply:
    access.check(principal, Role.INGEST, place.bank)
    key = http.header(event, "x-idempotency-key")
    call = ingest_call(http.body(event), bank=place.bank, idempotency_key=key)
    access.check_scope(principal, call.stream.scope)
    receipt = ingest(call, context=USING)
    telemetry.ingested(receipt, place.bank, http.request_id(event))
    tracing.accepted(receipt)
    return http.reply(operation.receipt(receipt, place.bank_name))
