"""Every route but ingest: what a request asks, which pipeline answers, how the answer looks."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, NoReturn

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver

from streambank import wiring
from streambank.api import (
    banks,
    chat,
    edits,
    erasing,
    generation,
    memories,
    operations,
    sessions,
    streams,
    transferring,
    usage,
)
from streambank.api.roles import admitted
from streambank.api.traced import traced
from streambank.errors import NotFound
from streambank.wire import http

# It logs every refusal as an error with a traceback; what is a fault of ours is logged by the function.
logging.getLogger("aws_lambda_powertools.event_handler.api_gateway").disabled = True
_APP = APIGatewayHttpResolver()
for _routes in (banks, memories, edits, generation, sessions, chat, operations, usage, erasing, streams, transferring):
    _APP.include_router(_routes.ROUTER)
_APP.use(middlewares=[traced, admitted])


@_APP.not_found
def _no_route(_: Exception) -> NoReturn:
    raise NotFound("there is no such route or method")


def respond(event: Mapping[str, Any], context: object) -> http.Reply:
    """Answer an API Gateway event; the many spellings of a bank's path are one route each.

    Raises:
        StreambankError: whatever the route raises.
    """
    principal, place = wiring.caller()(event), http.place(event)
    _APP.append_context(place=place, event=event, principal=principal)  # type: ignore[no-untyped-call]
    path = "/bank" + place.rest.replace(":", "/:", 1) if place.rest.startswith(":") else "/bank" + place.rest
    return dict(_APP.resolve({**event, "rawPath": path if place.bank else "/banks"}, context))  # type: ignore[arg-type]
