"""Screening sessions, their events, and chat histories."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from streambank.model import ids
from streambank.model.chat import ChatAppend, ChatHistory
from streambank.model.content_policy import ContentPolicy
from streambank.model.session import MAX_STATE_BYTES, Session, SessionEvent, SessionFields
from streambank.pipeline.screening.calls import EVENT_ROOM_BYTES, added, screened_map
from streambank.pipeline.screening.memories import screened_name
from streambank.pipeline.screening.screening import Screening, check_refusal

if TYPE_CHECKING:
    from streambank.rules.content_policy.screen import Screen

# By how much the markers in a conversation may lengthen it; a reply has more room than that.
_CHAT_ROOM_BYTES = 4_000
_MAX_EVENT_BYTES = 350_000


def screened_fields(fields: SessionFields, policy: ContentPolicy, *, screening: Screening) -> SessionFields:
    """Return the fields of a session as they may be stored.

    Raises:
        InvalidArgument: a rule refuses some of them.
        Unavailable: the service for personal data did not answer.
    """
    screen = screening.screen(policy)
    state = screened_state(fields.state, screen)
    check_refusal(screen.take_findings(), "sessionState")
    name = screened_name(fields.display_name, screen)
    check_refusal(screen.take_findings(), "displayName")
    labels = screened_map(fields.labels, screen)
    check_refusal(screen.take_findings(), "labels")
    return replace(fields, state=state, display_name=name, labels=labels)


def screened_state(state: dict[str, Any], screen: Screen) -> dict[str, Any]:
    """Return the state of a session as it may be stored; it is not larger than a state may be."""
    _read_ahead(state, screen)
    screened: dict[str, Any] = screen.value(state, room=max(0, MAX_STATE_BYTES - _size(state)))
    return screened


def screened_session(session: Session, screen: Screen) -> Session:
    """Return a stored or imported session without what the rules remove, also where they refuse."""
    return replace(
        session,
        state=screened_state(session.state, screen),
        display_name=screened_name(session.display_name, screen),
        labels=screened_map(session.labels, screen),
    )


def refused_or_screened_event(event: SessionEvent, policy: ContentPolicy, *, screening: Screening) -> SessionEvent:
    """Return an event of a session as it may be stored. Raises as `screened_fields` does."""
    screened = screened_session_event(event, screening.screen(policy))
    check_refusal(screened.findings, "content")
    return screened


def screened_session_event(event: SessionEvent, screen: Screen) -> SessionEvent:
    """Return an event of a session without what the rules remove, and with what was found in it."""
    content, rest = event.content or {}, [event.actions, event.metadata, event.error_message, event.raw]
    _read_ahead([*(content.get("parts") or []), rest], screen)
    room = max(0, min(EVENT_ROOM_BYTES, _MAX_EVENT_BYTES - _size([content, rest])) // 2)
    if content.get("parts"):
        content = {**content, "parts": list(screen.parts(content["parts"], room=room))}
    actions, metadata, message, raw = screen.value(rest, room=room)
    return replace(
        event,
        content=content if event.content is not None else None,
        actions=actions,
        metadata=metadata,
        error_message=message,
        raw=raw,
        findings=added(event.findings, screen.take_findings()),
    )


def screened_history(history: ChatHistory, policy: ContentPolicy, *, screening: Screening) -> ChatHistory:
    """Return a conversation as it may be stored. Raises as `screened_fields` does."""
    screen = screening.screen(policy)
    messages = screened_messages(history.messages, screen)
    check_refusal(screen.take_findings(), "messages")
    return replace(history, messages=messages)


def screened_append(call: ChatAppend, policy: ContentPolicy, *, screening: Screening) -> ChatAppend:
    """Return messages to append as they may be stored. Raises as `screened_fields` does."""
    screen = screening.screen(policy)
    messages = screened_messages(call.messages, screen)
    check_refusal(screen.take_findings(), "messages")
    if messages == call.messages:
        return call
    # A hash of the body would tell something of what was removed.
    marker = replace(call.call, fingerprint=ids.fingerprint([messages, call.format, call.ttl])) if call.call else None
    return replace(call, messages=messages, call=marker)


def screened_messages(messages: Sequence[Mapping[str, Any]], screen: Screen) -> tuple[dict[str, Any], ...]:
    """Return the messages of a conversation without what the rules remove."""
    _read_ahead(messages, screen)
    return tuple(screen.value(list(messages), room=_CHAT_ROOM_BYTES))


def _read_ahead(value: Any, screen: Screen) -> None:
    # Imported here as in `Screening.screen`.
    from streambank.rules.content_policy.screen import texts_of  # noqa: PLC0415

    screen.read_ahead(texts_of(value))


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str).encode())
