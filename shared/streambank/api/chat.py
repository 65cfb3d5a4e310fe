"""The history of a chat: loaded, replaced, deleted. Its id is any text, so it travels in the query."""

from __future__ import annotations

import uuid
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from streambank import wiring
from streambank.api.asking import bank, query
from streambank.model.chat import Expectation
from streambank.pipeline.sessions import chat_history
from streambank.wire import chat as chat_wire
from streambank.wire import http

ROUTER = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]
_PATH = "/bank/chatHistory"


def _expected() -> Expectation:
    event = ROUTER.context["event"]
    return chat_wire.expectation(http.header(event, "if-match"), http.header(event, "if-none-match"))


def _using() -> dict[str, Any]:
    built = wiring.stores()
    return {"histories": built.histories, "retry_policy": built.retry_policy, "now": wiring.now()}


@ROUTER.get(_PATH)
def load() -> Response[str]:
    conversation_id = chat_wire.conversation_id(query(ROUTER))
    found = chat_history.load(bank(ROUTER), conversation_id, **_using())
    shown = chat_wire.shown(found) if found else chat_wire.unknown(conversation_id)
    # The resolver would write every letter beyond ASCII as six, and a long history would not fit into a reply.
    return Response(200, "application/json", http.reply(shown)["body"])


@ROUTER.put(_PATH)
def store() -> dict[str, Any]:
    conversation_id, expected = chat_wire.conversation_id(query(ROUTER)), _expected()
    said = chat_wire.draft(http.body(ROUTER.context["event"], most_bytes=chat_wire.MAX_BODY_BYTES))
    history = said.at(wiring.now(), conversation_id=conversation_id, version=uuid.uuid4().hex)
    chat_history.store(bank(ROUTER), history, expected, **_using())
    return chat_wire.stored(history)


@ROUTER.delete(_PATH)
def delete() -> dict[str, Any]:
    conversation_id = chat_wire.conversation_id(query(ROUTER))
    chat_history.delete(bank(ROUTER), conversation_id, _expected(), **_using())
    return {}
