"""GenerateMemories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from streambank import tracing
from streambank.api.api_request import ApiRequest
from streambank.api.route import Routes
from streambank.errors import NotFound
from streambank.model.event import KeyedEvent
from streambank.model.operation import Operation
from streambank.model.principal import Role
from streambank.model.session import SESSION_ID
from streambank.pipeline.generation.generate import GenerateCall, from_session, generate, without_keys
from streambank.pipeline.generation.operations import get_operation
from streambank.pipeline.sessions.sessions import session_turns
from streambank.rules import access
from streambank.wire import parameters
from streambank.wire.generate import GenerateMemoriesRequest, SessionSource
from streambank.wire.operation import WindowOperation, operation

routes = Routes()


@routes.post(
    "/memories:generate",
    "generateMemories",
    "Makes memories of events, of a session, or of facts.",
    role=Role.INGEST,
    span="upsert_memory",
    parameters=(parameters.IDEMPOTENCY_KEY,),
)
def generate_memories(request: ApiRequest, body: GenerateMemoriesRequest) -> WindowOperation:
    """Start a generation outside of any stream and return its operation."""
    body.check_source()
    settings, source = body.window_settings(), body.vertex_session_source
    session_scope, events = _session(request, source) if source else ({}, body.direct_contents_source)
    scope = body.scope or session_scope
    access.check_scope(request.principal, scope)
    call = GenerateCall(
        bank=request.path.bank,
        scope=scope,
        token=request.idempotency_key or "",
        fingerprint=body.body_fingerprint() if request.idempotency_key else b"",
        events=without_keys(events),
        memories=body.memories(),
        settings=settings,
    )
    started = generate(call, context=request.wiring.generate_context())
    tracing.note({tracing.OPERATION: str(replace(started.id, downstream=False))})
    return operation(_with_verdicts(request, started), request.path.bank_name)


def _with_verdicts(request: ApiRequest, started: Operation) -> Operation:
    """Return the operation with its verdicts, where a repeated call meets a generation that is done."""
    if not started.state.is_final:
        return started
    return get_operation(request.path.bank, started.id, context=request.wiring.operation_context())


def _session(request: ApiRequest, source: SessionSource) -> tuple[dict[str, str], Sequence[KeyedEvent]]:
    """Return the scope of a session's user, and the session's events. Raises NotFound."""
    access.check_sessions(request.principal)
    name = source.name()
    if name.bank not in (None, request.path.bank) or not SESSION_ID.fullmatch(name.session_id):
        raise NotFound(f"there is no session {name.session_id!r} in this bank")
    session, turns = session_turns(
        request.path.bank,
        name.session_id,
        start=source.start_time,
        end=source.end_time,
        sessions=request.stores.sessions,
        now=request.wiring.now(),
    )
    if not access.sees_user(request.principal, session.user_id):
        raise NotFound(f"there is no session {name.session_id!r}")
    return {"user_id": session.user_id}, from_session(turns)
