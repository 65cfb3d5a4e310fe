"""Streams as an operator sees them, and where single events are."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from streambank import wiring
from streambank.api import asking
from streambank.api.asking import bank, body, principal, query
from streambank.pipeline.events.streams import find_events, list_streams
from streambank.pipeline.generation.operations import OperationContext
from streambank.rules import access
from streambank.wire import paging, requests
from streambank.wire import stream as stream_wire
from streambank.wire.ingest import scope as scope_of

ROUTER = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@ROUTER.get("/bank/streams")
def listed() -> dict[str, Any]:
    said, place, stores = query(ROUTER), asking.place(ROUTER), wiring.stores()
    asked, found = f"streams {place.bank}", stores.banks.get(bank(ROUTER))
    where = paging.position(asked, said.get("pageToken"), (int, str), secret=wiring.page_secret())
    shown, end = list_streams(
        place.bank,
        paging.page_size(said.get("pageSize")),
        (where[0], where[1]) if where else None,
        context=OperationContext(stores.streams, stores.windows, stores.plans),
        bank_rule=found.default_rule if found else None,
    )
    page: dict[str, Any] = {"streams": [stream_wire.stream(one, place.bank_name) for one in shown]}
    return page | ({"nextPageToken": paging.token(asked, list(end), secret=wiring.page_secret())} if end else {})


@ROUTER.post("/bank/streams:findEvents")
def found() -> dict[str, Any]:
    request = requests.parsed(stream_wire.FindEventsRequest, body(ROUTER))
    scope, event_ids = scope_of(request.scope, "scope"), stream_wire.event_ids(request)
    access.check_scope(principal(ROUTER), scope)
    stores = wiring.stores()
    shown = find_events(
        bank(ROUTER),
        scope,
        request.stream_id,
        event_ids,
        context=OperationContext(stores.streams, stores.windows, stores.plans),
        now=wiring.now(),
    )
    return {"events": [stream_wire.event(one, asking.place(ROUTER).bank_name) for one in shown]}
