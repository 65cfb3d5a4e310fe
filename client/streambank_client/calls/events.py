"""Events and the generation of memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Unpack
from uuid import uuid4

from streambank_client import types
from streambank_client.calls.arguments import WindowSettings, settings_fields
from streambank_client.calls.replies import OperationSnapshot, read_operation
from streambank_client.calls.requests import body_fields, header_fields
from streambank_client.calls.resources import ResourcePath
from streambank_client.http.call import Call
from streambank_client.http.encoding import JsonObject


def ingest_events(
    resource: ResourcePath,
    /,
    *,
    scope: Mapping[str, str],
    stream_id: str = "default",
    events: Sequence[types.Event] = (),
    generation_rule: types.GenerationRule | Mapping[str, Any] | None = None,
    force_flush: bool = False,
    idempotency_key: str | None = None,
    **settings: Unpack[WindowSettings],
) -> Call[OperationSnapshot[types.WindowResponse]]:
    """Ingest events; the operation is that of the window which holds the newest event.

    Without an idempotency key the client gives each event without an id one, so that the call can be repeated.
    """
    is_keyed = idempotency_key is not None
    documents = [event.document() if is_keyed else _with_id(event) for event in events]
    body = body_fields(
        scope=scope,
        stream_id=stream_id,
        direct_contents_source={"events": documents} if documents else None,
        generation_trigger_config=None if generation_rule is None else body_fields(generation_rule=generation_rule),
        force_flush=force_flush or None,
    ) | settings_fields(settings, WindowSettings)
    return _generation_call(resource, "ingestEvents", body, idempotency_key)


def generate_memories(
    resource: ResourcePath,
    /,
    *,
    scope: Mapping[str, str] | None = None,
    events: Sequence[types.Event] = (),
    direct_memories: Sequence[types.DirectMemory | str] = (),
    session: str | None = None,
    session_start_time: datetime | None = None,
    session_end_time: datetime | None = None,
    disable_consolidation: bool | None = None,
    allowed_topics: Sequence[types.Topic] | None = None,
    idempotency_key: str | None = None,
    **settings: Unpack[WindowSettings],
) -> Call[OperationSnapshot[types.WindowResponse]]:
    """Generate memories at once from one source: events, up to five facts, or a session (an id or a name).

    The scope may be left out for a session: it is then the session's user. The client makes an idempotency key if
    none is given.
    """
    body = body_fields(
        scope=scope,
        direct_contents_source={"events": [event.document() for event in events]} if events else None,
        direct_memories_source={"directMemories": [_direct_memory(memory) for memory in direct_memories]}
        if direct_memories
        else None,
        vertex_session_source=_session_source(resource, session, session_start_time, session_end_time),
        disable_consolidation=disable_consolidation,
        allowed_topics=allowed_topics,
    ) | settings_fields(settings, WindowSettings)
    return _generation_call(resource, "generate", body, idempotency_key or str(uuid4()))


def _generation_call(
    resource: ResourcePath, verb: str, body: JsonObject, key: str | None
) -> Call[OperationSnapshot[types.WindowResponse]]:
    return Call(
        method="POST",
        path=f"{resource.path}/memories:{verb}",
        parse=read_operation(types.WindowResponse),
        repeatable=True,
        body=body,
        headers=header_fields(x_idempotency_key=key),
    )


def _with_id(event: types.Event) -> JsonObject:
    return event.document() | {"eventId": event.event_id or str(uuid4())}


def _direct_memory(memory: types.DirectMemory | str) -> JsonObject:
    return (types.DirectMemory(fact=memory) if isinstance(memory, str) else memory).document()


def _session_source(
    resource: ResourcePath, session: str | None, start: datetime | None, end: datetime | None
) -> JsonObject | None:
    if session is None:
        return None
    return body_fields(session=resource.child("sessions", session).name, start_time=start, end_time=end)
