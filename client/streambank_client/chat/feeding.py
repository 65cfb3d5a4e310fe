"""Sends the new messages of turns to a stream, as events with ids, so that a repeat adds nothing."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from streambank_client import formats
from streambank_client.banks import AsyncBank, Bank
from streambank_client.chat.providers import ChatMessage
from streambank_client.errors import StreambankError
from streambank_client.formats import Converted, Format, Options, ToolNames
from streambank_client.formats.openai_responses.item_types import unique_id
from streambank_client.http.batching import batches, is_caused_by_event
from streambank_client.http.drivers import Invoke, Steps
from streambank_client.types.events import Event, GenerationRule

# The service accepts 1,000 events and 4,000,000 bytes in a call; an event's id and time are small beside its content.
_MOST_EVENTS = 500
_MOST_BYTES = 3_000_000
_MOST_ID_BYTES = 512
_log = logging.getLogger("streambank_client")


@dataclass(slots=True)
class FeedCounts:
    """Numbers of events that the service accepted, and of messages and events that it did not get, by the reason.

    dropped: instructions, blank messages, and those of no known format. refused: those that the service never accepts.
    failed: events of calls that failed; they are stored if the turn is sent again under its run id.
    """

    sent: int = 0
    dropped: int = 0
    refused: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a turn's messages are sent: scope and stream, and the run id, for the ids of messages without one."""

    scope: Mapping[str, str]
    stream_id: str
    run_id: str


class Feed:
    """Ingests the new messages of each turn; a failure is logged and counted, and does not fail the run.

    bank, scope: where the events are sent; a turn may name another scope.
    stream_id: the default is the turn's session id.
    format: the default is to detect the format of each message.
    generation_rule: when memories are made; the default is the stream's last rule, else the bank's.
    """

    def __init__(
        self,
        bank: AsyncBank | Bank,
        *,
        scope: Mapping[str, str] | None = None,
        stream_id: str | None = None,
        format: Format | None = None,  # noqa: A002
        generation_rule: GenerationRule | Mapping[str, Any] | None = None,
        options: Options = formats.conversion.DEFAULTS,
    ) -> None:
        self._bank = bank
        self._scope = scope
        self._stream_id = stream_id
        self._format = format
        self._rule = generation_rule
        self._options = options
        self.counts = FeedCounts()

    def destination(self, session_id: str, *, scope: Mapping[str, str] | None, run_id: str) -> Destination:
        """Return where a turn's messages are sent. Raises ValueError if neither turn nor feed has a scope."""
        chosen = scope or self._scope
        if not chosen:
            raise ValueError("scope: is required, by the feed or by the turn")
        return Destination(dict(chosen), self._stream_id or session_id, run_id)

    def send(self, messages: Sequence[ChatMessage], *, loaded: Sequence[ChatMessage], to: Destination) -> Steps[None]:
        """Ingest those of a turn's *messages* that were not *loaded*."""
        events = self._events(messages, new_messages(messages, loaded), to.run_id)
        for batch in batches(events, _size, most_events=_MOST_EVENTS, most_bytes=_MOST_BYTES):
            yield from self._send(batch, to)

    def _events(self, messages: Sequence[ChatMessage], new: Sequence[int], run_id: str) -> list[Event]:
        """Return the events of the *new* messages; the others are read for the names of their tools only."""
        numbers, names, events = {at: number for number, at in enumerate(new)}, ToolNames(), []
        for at, message in enumerate(messages):
            converted = self._converted(message, names, is_new=at in numbers)
            if at in numbers:
                events += [_event(content, message, run_id, numbers[at]) for content in converted]
        return events

    def _converted(self, message: ChatMessage, names: ToolNames, *, is_new: bool) -> tuple[Converted, ...]:
        message_format = self._format or formats.detect(message)
        contents: tuple[Converted, ...] = ()
        try:
            if message_format:
                conversion = formats.to_contents([message], message_format, options=self._options, tool_names=names)
                contents = conversion.contents
        except ValueError:
            self.counts.refused += is_new
            return ()
        self.counts.dropped += is_new and not contents
        return contents

    def _send(self, events: Sequence[Event], to: Destination) -> Steps[None]:
        ingest = partial(
            self._bank.ingest_events,
            scope=to.scope,
            stream_id=to.stream_id,
            events=events,
            generation_rule=self._rule,
        )
        try:
            yield Invoke(ingest)
        except StreambankError as error:
            if is_caused_by_event(error):
                yield from self._halve(events, to, error)
            else:
                self.counts.failed += len(events)
                _log.warning("turn not fed", extra={"error_type": type(error).__name__, "events": len(events)})
        else:
            self.counts.sent += len(events)

    def _halve(self, events: Sequence[Event], to: Destination, error: StreambankError) -> Steps[None]:
        """Find the refused event by halving, and send the others."""
        if len(events) == 1:
            self.counts.refused += 1
            _log.warning("event refused", extra={"error_type": type(error).__name__, "events": 1})
            return
        middle = len(events) // 2
        yield from self._send(events[:middle], to)
        yield from self._send(events[middle:], to)


def new_messages(messages: Sequence[ChatMessage], loaded: Sequence[ChatMessage]) -> list[int]:
    """Return the indexes of the messages that a run added to those *loaded*; equal texts are two messages.

    Loaded messages are recognized as the same objects. If none of these is left, because a framework has made copies,
    they are recognized as equal messages at the beginning.
    """
    known = {id(message) for message in loaded}
    new = [at for at, message in enumerate(messages) if id(message) not in known]
    is_copied = len(new) == len(messages) and list(messages[: len(loaded)]) == list(loaded)
    return new[len(loaded) :] if is_copied else new


def _event(converted: Converted, message: ChatMessage, run_id: str, number: int) -> Event:
    event_id = converted.message_id or _own_id(message) or f"{run_id}-{number}-{_digest(_json(converted.content))[:8]}"
    short_id = event_id if len(event_id.encode(errors="replace")) <= _MOST_ID_BYTES else _digest(event_id)
    return Event.model_validate({"content": converted.content, "event_id": short_id, "event_time": converted.time})


def _own_id(message: ChatMessage) -> str | None:
    """Return the `id` of a message with a role; without a role it may be the id of a tool call."""
    return unique_id(message) if "role" in message else None


def _size(event: Event) -> int:
    return len(_json(event.document()).encode(errors="replace"))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()
