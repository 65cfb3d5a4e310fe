"""Messages on their way to a stream: their events, their ids, and calls that the service takes."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from streambank_client.errors import InvalidArgument
from streambank_client.formats import strands as strands_format
from streambank_client.formats.conversion import JSON, Options, Reason
from streambank_client.formats.tool_names import ToolNames
from streambank_client.http.batching import batches
from streambank_client.strands.stores import AddMessagesContext
from streambank_client.strands.types import Message
from streambank_client.types import Event

# The service takes 1,000 events and 4,000,000 bytes in a call; what stands around the events is little.
MOST_EVENTS = 500
MOST_BYTES = 3_500_000
MOST_ID_BYTES = 512
# Beside an event's content: its id, of which a byte may take six, and braces.
_AROUND_BYTES = 6 * MOST_ID_BYTES + 64


@dataclass(frozen=True)
class Outgoing:
    """An event and the bytes of its JSON, about."""

    event: Event
    size: int

    @property
    def event_id(self) -> str:
        return self.event.event_id or ""


@dataclass(frozen=True)
class Prepared:
    """The events of a batch in order, the ids of messages that cannot be one, and what was dropped, by reason."""

    events: tuple[Outgoing, ...]
    refused: tuple[str, ...] = ()
    dropped: Mapping[Reason, int] = field(default_factory=dict)


def prepared(
    messages: Sequence[Message],
    context: AddMessagesContext,
    *,
    run_id: str,
    options: Options,
    tool_names: ToolNames,
) -> Prepared:
    """Return the events of a batch; a message that is malformed is refused by itself and takes no other with it."""
    events, refused, dropped = [], [], Counter[Reason]()
    for place, message in enumerate(messages):
        try:
            conversion = strands_format.to_contents([message], options=options, tool_names=tool_names)
        except ValueError:
            refused.append(_event_id(context, place, run_id, {}))
            continue
        dropped.update(one.reason for one in conversion.dropped if not one.is_detail)
        contents = [converted.content for converted in conversion.contents]
        events += [_outgoing(content, _event_id(context, place, run_id, content)) for content in contents]
    return Prepared(tuple(events), tuple(refused), dropped)


def _outgoing(content: JSON, event_id: str) -> Outgoing:
    event = Event.model_validate({"content": content, "eventId": event_id})
    return Outgoing(event, len(_json(content).encode()) + _AROUND_BYTES)


def _event_id(context: AddMessagesContext, place: int, run_id: str, content: JSON) -> str:
    """Return the id under which a message is stored once, however often it is sent.

    A message's own id, else the run and its number. Strands numbers the messages of every agent from 0 and does not say
    which agent it is: there a hash of the content tells agents apart that share a store against all advice.
    """
    own = context.message_ids[place] if context.message_ids else None
    if own:
        return own if len(own.encode(errors="replace")) <= MOST_ID_BYTES else hashlib.sha256(own.encode()).hexdigest()
    if not context.sequence_numbers:
        return uuid.uuid4().hex
    number = context.sequence_numbers[place]
    if context.run_id:
        return f"{context.run_id}-{number}"
    return f"{run_id}-{number}-{hashlib.sha256(_json(content).encode()).hexdigest()[:12]}"


def _json(content: JSON) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def calls(events: Sequence[Outgoing]) -> Iterator[Sequence[Outgoing]]:
    """Yield *events* in runs that each fit into a call."""
    return batches(events, lambda event: event.size, most_events=MOST_EVENTS, most_bytes=MOST_BYTES)


def deliver(events: Sequence[Outgoing], send: Callable[[Sequence[Outgoing]], None]) -> tuple[str, ...]:
    """Send *events* and return the ids of those that the service refuses, found by halving what it refuses.

    Raises:
        StreambankError: it refuses for another reason than an event, and would refuse the call without any too.
    """
    try:
        send(events)
    except InvalidArgument:
        # An unknown rule or a wrong scope is no event's fault: nothing may be dropped for it.
        send(())
        return _bisected(events, send)
    return ()


def _bisected(events: Sequence[Outgoing], send: Callable[[Sequence[Outgoing]], None]) -> tuple[str, ...]:
    """Return the ids of the events that are refused; *events* together were."""
    if len(events) == 1:
        return (events[0].event_id,)
    middle = len(events) // 2
    return _halved(events[:middle], send) + _halved(events[middle:], send)


def _halved(events: Sequence[Outgoing], send: Callable[[Sequence[Outgoing]], None]) -> tuple[str, ...]:
    try:
        send(events)
    except InvalidArgument:
        return _bisected(events, send)
    return ()
