"""The events of an ADK session as Streambank's events, mended so that the service accepts them."""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from streambank_client.adk.custom_metadata import valid_text
from streambank_client.formats import google
from streambank_client.formats.conversion import JSON, Options, Reason
from streambank_client.types.events import Event

if TYPE_CHECKING:
    from google.adk.events import Event as AdkEvent

MAX_ID_BYTES = 512
# The tool by which ADK requests and receives a credential; its calls and results are never stored.
_CREDENTIAL_TOOL = "adk_request_credential"
# 10^11 seconds are in the year 5138, and 10^11 milliseconds in 1973: a larger number has a finer unit.
_MAX_SECONDS = 1e11
_UNITS_PER_SECOND = (1.0, 1e3, 1e6, 1e9)
_OPTIONS = Options(include_reasoning=True)
_EXPECTED_REASONS = frozenset({Reason.BLANK, Reason.EMPTY})
_log = logging.getLogger("streambank_client")


def to_events(events: Sequence[AdkEvent]) -> list[Event]:
    """Return the events that can become memories, in order.

    Turns that were taken back, fragments, credentials and events without content are left out. What the service would
    reject is mended, or left out and logged by its reason, without text.
    """
    reasons = Counter[Reason]()
    converted = [event for adk_event in live_events(events) for event in _convert(adk_event, reasons)]
    if reasons:
        counts = {reason.value: count for reason, count in reasons.items()}
        is_loss = bool(reasons.keys() - {Reason.REWRITTEN})
        _log.log(
            logging.WARNING if is_loss else logging.INFO,
            "parts of events changed or left out",
            extra={"reasons": counts},
        )
    return converted


def live_events(events: Sequence[AdkEvent]) -> list[AdkEvent]:
    """Return the events without those that a rewind took back, and without the rewinds.

    A rewind that a later one took back has no effect.
    """
    first_indexes: dict[str, int] = {}
    for index, event in enumerate(events):
        first_indexes.setdefault(event.invocation_id, index)
    end = len(events)
    live: list[AdkEvent] = []
    for index in reversed(range(len(events))):
        target = events[index].actions.rewind_before_invocation_id
        if index >= end:
            continue
        if target:
            end = first_indexes.get(target, end)
        else:
            live.append(events[index])
    return live[::-1]


def _convert(event: AdkEvent, reasons: Counter[Reason]) -> Iterator[Event]:
    """Yield the event, unless nothing of it can be stored."""
    content = None if event.partial or _has_credentials(event) else _content(event, reasons)
    if content is None:
        return
    try:
        conversion = google.to_contents([content], options=_OPTIONS)
    except ValueError:
        reasons[Reason.MALFORMED] += 1
        return
    reasons.update(dropped.reason for dropped in conversion.dropped if dropped.reason not in _EXPECTED_REASONS)
    time = _time(event.timestamp)
    if time is None:
        reasons[Reason.REWRITTEN] += 1
    for converted in conversion.contents:
        yield Event.model_validate({"content": converted.content, "eventId": _event_id(event.id), "eventTime": time})


def _content(event: AdkEvent, reasons: Counter[Reason]) -> JSON | None:
    """Return the content of an event, or that of a finished transcription, with parts that may not be valid yet."""
    if event.content and event.content.parts:
        # A content with another role or none has the role of its author, who is the user or an agent.
        role = event.content.role if event.content.role in ("user", "model") else None
        parts = [dump for part in event.content.parts if (dump := _dumped(part, reasons)) is not None]
        return {"role": role or ("user" if event.author == "user" else "model"), "parts": parts}
    for role, transcription in (("user", event.input_transcription), ("model", event.output_transcription)):
        if transcription and transcription.text and transcription.finished is not False:
            return {"role": role, "parts": [{"text": transcription.text}]}
    return None


def _dumped(part: Any, reasons: Counter[Reason]) -> JSON | None:
    """Return a part as a dict; a value that is not JSON stays as it is, and the conversion decides about it."""
    for mode in ("json", "python"):
        with suppress(ValueError):
            dump: JSON = part.model_dump(mode=mode, by_alias=True, exclude_none=True)
            return dump
    # It is nested so deeply that it cannot be written, or contains itself.
    reasons[Reason.TOO_DEEP] += 1
    return None


def _has_credentials(event: AdkEvent) -> bool:
    tool_parts: Iterable[Any] = [*event.get_function_calls(), *event.get_function_responses()]
    return any(part.name == _CREDENTIAL_TOOL for part in tool_parts)


def _time(timestamp: float) -> datetime | None:
    """Return the time of a timestamp in seconds or in a finer unit, or None if it is no time."""
    for units_per_second in _UNITS_PER_SECOND:
        seconds = timestamp / units_per_second
        if abs(seconds) < _MAX_SECONDS:
            with suppress(ValueError, OverflowError, OSError):
                return datetime.fromtimestamp(seconds, UTC)
            return None
    return None


def _event_id(event_id: str) -> str:
    """Return ADK's id, or its hash if the service does not accept it."""
    is_valid = valid_text(event_id) == event_id and len(event_id.encode()) <= MAX_ID_BYTES
    return event_id if is_valid else hashlib.sha256(event_id.encode(errors="surrogatepass")).hexdigest()
