"""Streams as an operator sees them, and the state of single events."""

from __future__ import annotations

from streambank.api.api_request import ApiRequest
from streambank.api.route import Reach, Routes
from streambank.model.principal import Role
from streambank.pipeline.events import find, streams
from streambank.rules import access
from streambank.wire import page_room, parameters
from streambank.wire import stream as wire
from streambank.wire.reply import without_nulls
from streambank.wire.stream import EventStatuses, FindEventsRequest, Streams

routes = Routes()


@routes.get(
    "/streams",
    "listStreams",
    "Lists streams with what they wait for.",
    reach=Reach.ALL_SCOPES,
    parameters=parameters.PAGE,
)
def list_streams(request: ApiRequest) -> Streams:
    """Return a page of a bank's streams."""
    name = f"streams {request.path.bank}"
    after = request.page_position(name, int, str)
    page, end = streams.list_streams(
        request.path.bank,
        request.page_size,
        (after[0], after[1]) if after else None,
        context=request.wiring.operation_context(),
        bank_rule=request.bank().default_rule,
        weigh=lambda status: page_room.body_bytes(wire.stream(status, request.path.bank_name)),
    )
    return without_nulls(
        Streams(
            streams=[wire.stream(status, request.path.bank_name) for status in page],
            nextPageToken=request.next_page_token(name, list(end) if end else None),
        )
    )


@routes.post(
    "/streams:findEvents",
    "findEvents",
    "Returns what became of events of a stream.",
    role=Role.READ,
)
def find_events(request: ApiRequest, body: FindEventsRequest) -> EventStatuses:
    """Return where events of a stream are, and what became of them, by their ids."""
    access.check_scope(request.principal, body.scope)
    context = request.wiring.detail_context()
    statuses = find.find_events(request.bank().id, body.scope, body.stream_id, body.distinct_ids(), context=context)
    return wire.events(statuses, request.path.bank_name)
