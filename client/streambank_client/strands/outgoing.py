"""Messages for a stream: their events with ids, and the calls that send them."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from streambank_client.errors import InvalidArgument
from streambank_client.formats import strands as strands_format
from streambank_client.formats.conversion import JSON, Options, Reason
from streambank_client.formats.tool_names import ToolNames
from streambank_client.http.batching import batches
from streambank_client.http.drivers import Invoke, Steps
from streambank_client.strands.stores import AddMessagesContext
from streambank_client.strands.types import AgentMessage
from streambank_client.types import Event

# The service accepts 1,000 events and 4,000,000 bytes in a call; the JSON around the events is small.
MOST_EVENTS = 500
MOST_BYTES = 3_500_000
MOST_ID_BYTES = 512
# The JSON around an event's content: its id, where a byte may become six, and braces.
_AROUND_BYTES = 6 * MOST_ID_BYTES + 64


@dataclass(frozen=True)
class OutgoingEvent:
    """An event and the approximate size of its JSON in bytes."""

    event: Event
    size: int

    @property
    def event_id(self) -> str:
        return self.event.event_id or ""


@dataclass(frozen=True)
class PreparedBatch:
    """The events of a batch in order, the ids of malformed messages, and the number of dropped parts by reason."""

    events: tuple[OutgoingEvent, ...]
    refused: tuple[str, ...] = ()
    dropped: Mapping[Reason, int] = field(default_factory=dict)


def prepare(
    messages: Sequence[AgentMessage],
    context: AddMessagesContext,
    *,
    run_id: str,
    options: Options,
    tool_names: ToolNames,
) -> PreparedBatch:
    """Return the events of a batch; a malformed message is refused, the others are not."""
    events, refused, dropped = [], [], Counter[Reason]()
    for place, message in enumerate(messages):
        try:
            conversion = strands_format.to_contents([message], options=options, tool_names=tool_names)
        except ValueError:
            refused.append(_event_id(context, place, run_id, {}))
            continue
        dropped.update(part.reason for part in conversion.dropped if not part.is_detail)
        contents = [converted.content for converted in conversion.contents]
        events += [_outgoing_event(content, _event_id(context, place, run_id, content)) for content in contents]
    return PreparedBatch(tuple(events), tuple(refused), dropped)


def _outgoing_event(content: JSON, event_id: str) -> OutgoingEvent:
    event = Event.model_validate({"content": content, "eventId": event_id})
    return OutgoingEvent(event, len(_json(content).encode()) + _AROUND_BYTES)


def _event_id(context: AddMessagesContext, place: int, run_id: str, content: JSON) -> str:
    """Return the id of a message's event, which is the same whenever the message is sent.

    It is the message's own id, else the run and the message's number. Strands numbers the messages of every agent from
    0 and does not name the agent: a hash of the content distinguishes agents that share a store, although they must
    not.
    """
    own_id = context.message_ids[place] if context.message_ids else None
    if own_id:
        is_short = len(own_id.encode(errors="replace")) <= MOST_ID_BYTES
        return own_id if is_short else hashlib.sha256(own_id.encode()).hexdigest()
    if not context.sequence_numbers:
        return uuid.uuid4().hex
    number = context.sequence_numbers[place]
    if context.run_id:
        return f"{context.run_id}-{number}"
    return f"{run_id}-{number}-{hashlib.sha256(_json(content).encode()).hexdigest()[:12]}"


def _json(content: JSON) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def call_batches(events: Sequence[OutgoingEvent]) -> Iterator[Sequence[OutgoingEvent]]:
    """Yield *events* in batches of one call each."""
    return batches(events, lambda event: event.size, most_events=MOST_EVENTS, most_bytes=MOST_BYTES)


def deliver(events: Sequence[OutgoingEvent], send: Callable[[Sequence[OutgoingEvent]], object]) -> Steps[list[str]]:
    """Send *events* and return the ids of those that the service refuses, which are found by halving.

    Raises:
        StreambankError: no event is why the service refuses; it would refuse a call without events too.
    """
    try:
        yield Invoke(partial(send, events))
    except InvalidArgument:
        # If the scope or the rule is wrong, this call raises, and no event is dropped for it.
        yield Invoke(partial(send, ()))
        return (yield from _bisect(events, send))
    return []


def _bisect(events: Sequence[OutgoingEvent], send: Callable[[Sequence[OutgoingEvent]], object]) -> Steps[list[str]]:
    """Return the ids of the refused events among *events*, which the service has refused together."""
    if len(events) == 1:
        return [events[0].event_id]
    refused: list[str] = []
    middle = len(events) // 2
    for half in (events[:middle], events[middle:]):
        try:
            yield Invoke(partial(send, half))
        except InvalidArgument:
            refused += yield from _bisect(half, send)
    return refused
