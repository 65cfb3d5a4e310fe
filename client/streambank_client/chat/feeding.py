"""Sends the new messages of turns to a stream, as events with ids, so that a repeat adds nothing."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from streambank_client import formats
from streambank_client.banks import AsyncBank, Bank
from streambank_client.chat.new_messages import LoadedMessages
from streambank_client.chat.providers import ChatMessage
from streambank_client.edits import ingest_with_edits
from streambank_client.errors import StreambankError
from streambank_client.formats import FORMATS, Converted, Format, Options, ToolNames
from streambank_client.formats.openai_responses.item_types import unique_id
from streambank_client.http.batching import batches, is_caused_by_event
from streambank_client.http.drivers import Steps
from streambank_client.limits import checked_rule, checked_scope, checked_stream_id, with_method
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

    Raises:
        ValueError: an argument could never work: it is beyond the service's limits, or no bank.
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
        if format is not None and format not in FORMATS:
            raise ValueError(f"format must be one of {', '.join(FORMATS)}")
        self._bank = with_method(bank, "bank", "ingest_events")
        self._scope = None if scope is None else checked_scope(scope)
        self._stream_id = None if stream_id is None else checked_stream_id(stream_id)
        self._format = format
        self._rule = checked_rule(generation_rule)
        self._options = options
        self.counts = FeedCounts()

    def destination(self, session_id: str, *, scope: Mapping[str, str] | None, run_id: str) -> Destination:
        """Return where a turn's messages are sent. Raises ValueError if neither turn nor feed has a valid scope."""
        chosen = scope if scope is not None else self._scope
        if chosen is None:
            raise ValueError("scope: is required, by the feed or by the turn")
        return Destination(checked_scope(chosen), self._stream_id or session_id, run_id)

    def send(self, messages: Sequence[ChatMessage], *, loaded: LoadedMessages, to: Destination) -> Steps[None]:
        """Ingest those of a turn's *messages* that were not *loaded*, or were edited since."""
        events = self._events(messages, loaded.new(messages), loaded.changed(messages), to.run_id)
        for batch in batches(events, _size, most_events=_MOST_EVENTS, most_bytes=_MOST_BYTES):
            yield from self._send(batch, to)

    def _events(
        self, messages: Sequence[ChatMessage], new: Sequence[int], changed: Collection[int], run_id: str
    ) -> list[Event]:
        """Return the events of the *new* messages, and of *changed* ones that have an id.

        The other messages are read for the names of their tools only.
        """
        numbers, names, events = {at: number for number, at in enumerate(new)}, ToolNames(), []
        for at, message in enumerate(messages):
            converted = self._converted(message, names, is_new=at in numbers)
            if at in numbers:
                events += [_event(content, message, run_id, numbers[at]) for content in converted]
            elif at in changed:
                with_id = [content for content in converted if content.message_id or _own_id(message)]
                events += [_event(content, message, run_id, 0) for content in with_id]
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
            generation_rule=self._rule,
        )
        try:
            lost = yield from ingest_with_edits(lambda group: ingest(events=group), events)
        except StreambankError as error:
            if is_caused_by_event(error):
                yield from self._halve(events, to, error)
            else:
                self.counts.failed += len(events)
                _log.warning("turn not fed", extra={"error_type": type(error).__name__, "events": len(events)})
        else:
            self.counts.sent += len(events) - len(lost)
            self.counts.refused += len(lost)

    def _halve(self, events: Sequence[Event], to: Destination, error: StreambankError) -> Steps[None]:
        """Find the refused event by halving, and send the others."""
        if len(events) == 1:
            self.counts.refused += 1
            _log.warning("event refused", extra={"error_type": type(error).__name__, "events": 1})
            return
        middle = len(events) // 2
        yield from self._send(events[:middle], to)
        yield from self._send(events[middle:], to)


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
