"""What is said in turns becomes events of a stream, under ids that make it safe to send them again."""

from __future__ import annotations

import hashlib
import inspect
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streambank_client import formats
from streambank_client.banks import AsyncBank, Bank
from streambank_client.chat.providers import Message
from streambank_client.errors import StreambankError
from streambank_client.formats import Converted, Format, Options, ToolNames
from streambank_client.http.batching import batches, is_caused_by_event
from streambank_client.types.events import Event, GenerationRule

# The service takes 1,000 events and 4,000,000 bytes in a call; an event's id and time are little beside its content.
_MOST_EVENTS = 500
_MOST_BYTES = 3_000_000
_MOST_ID_BYTES = 512
_log = logging.getLogger("streambank_client")


@dataclass(slots=True)
class FeedCounts:
    """What became of messages: events that the service took, and messages that left none, by the reason.

    dropped: instructions, blanks, what no format knows. refused: what the service would never take. failed: events of
    calls that did not come through; sending the turn again under its run id makes good for them.
    """

    sent: int = 0
    dropped: int = 0
    refused: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a turn's messages go: whose they are, to which stream, and what names those that have no ids."""

    scope: Mapping[str, str]
    stream_id: str
    run_id: str


class Feed:
    """Ingests what is new in each turn; what goes wrong is logged and counted, and fails no run.

    bank, scope: where the events go, and whose they are; a turn may name another scope.
    stream_id: None is the turn's session id.
    format: None tells it from each message.
    generation_rule: when memories are made; None is the stream's last one, else the bank's.
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
        """Return where a turn's messages go. Raises ValueError if nobody says whose they are."""
        whose = scope or self._scope
        if not whose:
            raise ValueError("scope: is required, by the feed or by the turn")
        return Destination(dict(whose), self._stream_id or session_id, run_id)

    async def send(self, messages: Sequence[Message], *, loaded: Sequence[Message], to: Destination) -> None:
        """Ingest those of a turn's *messages* that were not *loaded*."""
        events = self._events(messages, new_messages(messages, loaded), to.run_id)
        for part in batches(events, _size, most_events=_MOST_EVENTS, most_bytes=_MOST_BYTES):
            await self._send(part, to)

    def _events(self, messages: Sequence[Message], new: Sequence[int], run_id: str) -> list[Event]:
        """Return the events of the *new* messages; the others are only read for the names of their tools."""
        numbers, names, events = {at: number for number, at in enumerate(new)}, ToolNames(), []
        for at, message in enumerate(messages):
            converted = self._converted(message, names, is_new=at in numbers)
            if at in numbers:
                events += [_event(one, message, run_id, numbers[at]) for one in converted]
        return events

    def _converted(self, message: Message, names: ToolNames, *, is_new: bool) -> tuple[Converted, ...]:
        form = self._format or formats.detect(message)
        try:
            contents = (
                formats.to_contents([message], form, options=self._options, tool_names=names).contents if form else ()
            )
        except ValueError:
            self.counts.refused += is_new
            return ()
        self.counts.dropped += is_new and not contents
        return contents

    async def _send(self, events: Sequence[Event], to: Destination) -> None:
        try:
            sent = self._bank.ingest_events(
                scope=to.scope, stream_id=to.stream_id, events=events, generation_rule=self._rule
            )
            if inspect.isawaitable(sent):
                await sent
        except StreambankError as error:
            if is_caused_by_event(error):
                await self._halve(events, to, error)
            else:
                self.counts.failed += len(events)
                _log.warning("turn not fed", extra={"error_type": type(error).__name__, "events": len(events)})
        else:
            self.counts.sent += len(events)

    async def _halve(self, events: Sequence[Event], to: Destination, error: StreambankError) -> None:
        """Find the event that is refused, so that it takes no other with it."""
        if len(events) == 1:
            self.counts.refused += 1
            _log.warning("event refused", extra={"error_type": type(error).__name__, "events": 1})
            return
        middle = len(events) // 2
        await self._send(events[:middle], to)
        await self._send(events[middle:], to)


def new_messages(messages: Sequence[Message], loaded: Sequence[Message]) -> list[int]:
    """Return the places of the messages that a run added to what was *loaded*: equal texts are two messages.

    What was loaded is known again as the same objects; where none of them is left, since a framework made copies, a
    beginning that says the same as all of it.
    """
    known = {id(message) for message in loaded}
    new = [at for at, message in enumerate(messages) if id(message) not in known]
    is_copied = len(new) == len(messages) and list(messages[: len(loaded)]) == list(loaded)
    return new[len(loaded) :] if is_copied else new


def _event(converted: Converted, message: Message, run_id: str, number: int) -> Event:
    event_id = converted.message_id or _own_id(message) or f"{run_id}-{number}-{_digest(_json(converted.content))[:8]}"
    named = event_id if len(event_id.encode(errors="replace")) <= _MOST_ID_BYTES else _digest(event_id)
    return Event.model_validate({"content": converted.content, "event_id": named, "event_time": converted.time})


def _own_id(message: Message) -> str | None:
    """Return the id that an application gave a message with a role; the `id` of other messages may be a tool call's."""
    given = message.get("id") if "role" in message else None
    return given if isinstance(given, str) and given else None


def _size(event: Event) -> int:
    return len(_json(event.document()).encode(errors="replace"))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()
