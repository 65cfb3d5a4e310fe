"""Taking events in, and making memories of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Unpack
from uuid import uuid4

from streambank_client import types
from streambank_client.arguments import WindowSettings, said
from streambank_client.calls import Call, Place, Told, fields, headers, told_of
from streambank_client.spelling import JsonObject


def ingest_events(
    place: Place,
    /,
    *,
    scope: Mapping[str, str],
    stream_id: str = "default",
    events: Sequence[types.Event] = (),
    generation_rule: types.GenerationRule | Mapping[str, Any] | None = None,
    force_flush: bool = False,
    idempotency_key: str | None = None,
    **settings: Unpack[WindowSettings],
) -> Call[Told[types.WindowResponse]]:
    """Take events in; the operation is that of the window which holds the newest of them.

    An event without an id gets one here, unless there is an idempotency key, so that the call may be repeated.
    """
    is_keyed = idempotency_key is not None
    sent = [event.document() if is_keyed else _identified(event) for event in events]
    body = fields(
        scope=scope,
        stream_id=stream_id,
        direct_contents_source={"events": sent} if sent else None,
        generation_trigger_config=None if generation_rule is None else fields(generation_rule=generation_rule),
        force_flush=force_flush or None,
    ) | said(settings, WindowSettings)
    return _making(place, "ingestEvents", body, idempotency_key)


def generate_memories(
    place: Place,
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
) -> Call[Told[types.WindowResponse]]:
    """Make memories at once of one source: of events, of up to five stated facts, or of a session (an id or a name).

    The scope may be left out where a session's user gives it. Without an idempotency key the client makes one.
    """
    body = fields(
        scope=scope,
        direct_contents_source={"events": [event.document() for event in events]} if events else None,
        direct_memories_source={"directMemories": [_stated(one) for one in direct_memories]}
        if direct_memories
        else None,
        vertex_session_source=_session(place, session, session_start_time, session_end_time),
        disable_consolidation=disable_consolidation,
        allowed_topics=allowed_topics,
    ) | said(settings, WindowSettings)
    return _making(place, "generate", body, idempotency_key or str(uuid4()))


def _making(place: Place, verb: str, body: JsonObject, key: str | None) -> Call[Told[types.WindowResponse]]:
    return Call(
        method="POST",
        path=f"{place.path}/memories:{verb}",
        parse=told_of(types.WindowResponse),
        repeatable=True,
        body=body,
        headers=headers(x_idempotency_key=key),
    )


def _identified(event: types.Event) -> JsonObject:
    return event.document() | {"eventId": event.event_id or str(uuid4())}


def _stated(memory: types.DirectMemory | str) -> JsonObject:
    return (types.DirectMemory(fact=memory) if isinstance(memory, str) else memory).document()


def _session(place: Place, given: str | None, start: datetime | None, end: datetime | None) -> JsonObject | None:
    if given is None:
        return None
    return fields(session=place.under("sessions", given).name, start_time=start, end_time=end)
