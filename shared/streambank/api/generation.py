"""GenerateMemories."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Any

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from streambank import tracing, wiring
from streambank.api.asking import body, idempotency_key, place, principal
from streambank.errors import NotFound
from streambank.model.operation import Operation
from streambank.model.session import SESSION_ID
from streambank.pipeline.generation.generate import GenerateCall, GenerateContext, from_session, generate, without_keys
from streambank.pipeline.generation.operations import OperationContext, get_operation
from streambank.rules import access
from streambank.wire import operation
from streambank.wire.generate import GenerateRequest, generate_request

ROUTER = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@ROUTER.post("/bank/memories:generate")
def generated() -> dict[str, Any]:
    request = _with_session(generate_request(body(ROUTER)))
    access.check_scope(principal(ROUTER), request.scope or {})
    token = idempotency_key(ROUTER)
    call = GenerateCall(
        bank=place(ROUTER).bank,
        scope=request.scope or {},
        token=f"key {token}" if token else f"call {secrets.token_hex(16)}",
        events=without_keys(request.events),
        memories=request.memories,
        settings=request.settings,
    )
    stores = wiring.stores()
    context = GenerateContext(stores.streams, stores.windows, stores.banks, stores.retention_policy, wiring.now())
    shown = generate(call, context=context)
    tracing.note({tracing.OPERATION: str(replace(shown.id, downstream=False))})
    return operation.operation(_finished(shown), place(ROUTER).bank_name)


def _finished(shown: Operation) -> Operation:
    """A repeated call may find its generation done: then its reply tells what came of it."""
    if not shown.state.is_final:
        return shown
    stores = wiring.stores()
    context = OperationContext(stores.streams, stores.windows, stores.plans)
    return get_operation(place(ROUTER).bank, shown.id, context=context)


def _with_session(request: GenerateRequest) -> GenerateRequest:
    """Return *request* with the events of its session; the scope defaults to the session's user."""
    if request.session is None:
        return request
    from streambank.pipeline.sessions.sessions import session_turns

    access.check_sessions(principal(ROUTER))
    source, stores = request.session, wiring.stores()
    if source.bank not in (None, place(ROUTER).bank) or not SESSION_ID.fullmatch(source.session):
        raise NotFound(f"there is no session {source.session!r} in this bank")
    session, turns = session_turns(
        place(ROUTER).bank,
        source.session,
        start=source.start,
        end=source.end,
        sessions=stores.sessions,
        now=wiring.now(),
    )
    if not access.sees_user(principal(ROUTER), session.user_id):
        raise NotFound(f"there is no session {source.session!r}")
    return replace(request, scope=request.scope or {"user_id": session.user_id}, events=from_session(turns))
