"""The history of a chat: loaded, replaced, appended to, deleted. Its id is any text, so it is in the query."""

from __future__ import annotations

import uuid
from typing import Any

from streambank.api.api_request import ApiRequest
from streambank.api.route import Reach, Routes
from streambank.model.chat import Expectation
from streambank.model.principal import Role
from streambank.pipeline.screening.conversations import screened_append, screened_history
from streambank.pipeline.sessions import chat_history
from streambank.wire import chat as wire
from streambank.wire import parameters
from streambank.wire.chat import (
    AppendChatHistoryRequest,
    AppendedChatHistory,
    ChatHistory,
    StoreChatHistoryRequest,
    StoredChatHistory,
)
from streambank.wire.reply import Empty

routes = Routes()
_PATH = "/chatHistory"


def _expectation(request: ApiRequest) -> Expectation:
    return wire.expectation(request.header("if-match"), request.header("if-none-match"))


def _context(request: ApiRequest) -> dict[str, Any]:
    return {
        "histories": request.stores.histories,
        "retry_policy": request.wiring.deployment.retry_policy,
        "now": request.wiring.now(),
    }


# A conversation has no scope, so a caller that is bound to one is refused.
@routes.get(
    _PATH,
    "getChatHistory",
    "Returns a chat.",
    reach=Reach.ALL_SCOPES,
    parameters=(parameters.CONVERSATION_ID,),
)
def load(request: ApiRequest) -> ChatHistory:
    """Return a conversation; one that is unknown has no messages."""
    conversation_id = wire.conversation_id(request.query)
    history = chat_history.load(request.bank().id, conversation_id, **_context(request))
    return wire.chat_history(history) if history else wire.unknown(conversation_id)


@routes.put(
    _PATH,
    "storeChatHistory",
    "Replaces a chat, all of it or nothing.",
    role=Role.EDIT,
    reach=Reach.ALL_SCOPES,
    parameters=parameters.CHAT,
    max_body_bytes=wire.MAX_BODY_BYTES,
)
def store(request: ApiRequest, body: StoreChatHistoryRequest) -> StoredChatHistory:
    """Replace a conversation."""
    conversation_id, expected = wire.conversation_id(request.query), _expectation(request)
    history = body.draft().at(request.wiring.now(), conversation_id=conversation_id, version=uuid.uuid4().hex)
    bank = request.bank()
    if bank.content_policy:
        history = screened_history(history, bank.content_policy, screening=request.wiring.screenings.of(bank.id))
    chat_history.store(bank.id, history, expected, **_context(request))
    return wire.stored(history)


@routes.post(
    f"{_PATH}:append",
    "appendChatHistory",
    "Puts messages behind those of a chat, all of them or none, once.",
    role=Role.EDIT,
    reach=Reach.ALL_SCOPES,
    parameters=(*parameters.CHAT, parameters.IDEMPOTENCY_KEY),
    creates=True,
    max_body_bytes=wire.MAX_BODY_BYTES,
)
def append(request: ApiRequest, body: AppendChatHistoryRequest) -> AppendedChatHistory:
    """Append to a conversation; one that does not exist is made."""
    conversation_id, expected = wire.conversation_id(request.query), _expectation(request)
    call = body.append(conversation_id, version=uuid.uuid4().hex, idempotency_key=request.idempotency_key)
    bank = request.bank()
    if bank.content_policy:
        call = screened_append(call, bank.content_policy, screening=request.wiring.screenings.of(bank.id))
    keys_kept = request.wiring.deployment.retention_policy.dedup_horizon
    chat = chat_history.append(bank.id, call, expected, keys_kept=keys_kept, **_context(request))
    return wire.appended(chat)


@routes.delete(
    _PATH,
    "deleteChatHistory",
    "Deletes a chat.",
    role=Role.EDIT,
    reach=Reach.ALL_SCOPES,
    parameters=parameters.CHAT,
)
def delete(request: ApiRequest) -> Empty:
    """Delete a conversation."""
    conversation_id = wire.conversation_id(request.query)
    chat_history.delete(request.bank().id, conversation_id, _expectation(request), **_context(request))
    return Empty()
