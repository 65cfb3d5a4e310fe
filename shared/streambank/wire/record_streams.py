"""What the lines of an export hold of streams, as an import reads them."""

from base64 import b64decode
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from streambank.errors import InvalidArgument
from streambank.model import ids
from streambank.model.content_policy import Finding
from streambank.model.event import Event
from streambank.model.record import BatchRecord, MarkerRecord, StreamRecord
from streambank.model.rule import Reason, TriggerRule, WindowSettings
from streambank.model.stream import StreamId
from streambank.model.window import Window, WindowState
from streambank.wire import ingest, reader
from streambank.wire.model import Read, RequestModel
from streambank.wire.record_findings import findings
from streambank.wire.record_shapes import Instant, Number, Scope, Sid, sized

# What one call accepted is at most 380,000 bytes an item; an item takes 409,600.
MAX_BATCH_BYTES = 400_000


def _fingerprint(value: Any, path: str) -> bytes:
    return b64decode(reader.text(value, path, most_bytes=64), validate=True)


def _events(value: Any, path: str) -> list[Event]:
    if not isinstance(value, list) or not 1 <= len(value) <= ingest.MAX_EVENTS:
        raise InvalidArgument(path, f"must be a list of 1 to {ingest.MAX_EVENTS} events")
    return [_event(one, f"[{index}]") for index, one in enumerate(value)]


def _event(value: Any, path: str) -> Event:
    """Return an event; what a content policy found in it is beside what a caller may send."""
    if not isinstance(value, dict) or "contentPolicy" not in value:
        return ingest.event_of(value, path)
    sent = {name: item for name, item in value.items() if name != "contentPolicy"}
    found = findings(value["contentPolicy"], f"{path}.contentPolicy")
    return replace(ingest.event_of(sent, path), findings=found)


Findings = Annotated[tuple[Finding, ...], Read(findings, {})]


Rule = Annotated[TriggerRule, Read(ingest.trigger_rule, {})]


# Functions of our own: pydantic cannot read the signature of an enumeration on Python 3.13.
def _reason(value: str) -> Reason:
    return Reason(value)


def _state(value: str) -> WindowState:
    return WindowState(value)


class InStream(RequestModel):
    scope: Scope
    stream_id: Annotated[str, Field(max_length=ingest.MAX_ID_BYTES)]

    def stream(self, bank: str) -> StreamId:
        """Return the stream that this is of, in *bank*."""
        return StreamId(bank, ids.stream_key(self.scope, self.stream_id), self.scope, self.stream_id)


class StreamLine(InStream):
    events: Number
    windows: Number
    rule: Rule | None = None
    anchor_time: Instant | None = None
    last_time: Instant | None = None

    def record(self, bank: str) -> StreamRecord:
        """Return the stream, as one of *bank*."""
        return StreamRecord(self.stream(bank), self.events, self.windows, self.rule, self.anchor_time, self.last_time)


class WindowLine(InStream):
    window: Annotated[int, Field(ge=1, lt=10**12)]
    first_event: Number
    last_event: Number
    trigger: Annotated[Reason, BeforeValidator(_reason)]
    state: Annotated[WindowState, BeforeValidator(_state)]
    seal_time: Instant
    last_time: Instant
    include_tool_traffic: bool | None = None

    def record(self, bank: str) -> Window:
        """Return the window, as one of *bank*."""
        return Window(
            self.stream(bank),
            self.window,
            self.first_event,
            self.last_event,
            self.trigger,
            self.seal_time,
            self.last_time,
            state=self.state,
            settings=WindowSettings(include_tool_traffic=self.include_tool_traffic),
        )


class EventsLine(InStream):
    first_event: Annotated[int, Field(ge=1, lt=10**12)]
    window: Annotated[int, Field(ge=1, lt=10**12)]
    accept_time: Instant
    expire_time: Instant | None = None
    events: Annotated[list[Event], Read(_events, {}), sized(MAX_BATCH_BYTES)]

    def record(self, bank: str) -> BatchRecord:
        """Return the events, as ones of *bank*."""
        return BatchRecord(
            self.stream(bank), self.first_event, self.window, self.accept_time, tuple(self.events), self.expire_time
        )


class MarkerLine(InStream):
    key: Sid
    event: Number  # 0 for a call with an idempotency key that came before any event
    window: Number  # 0, and the event too, where the event was moved to another stream of the scope
    fingerprint: Annotated[bytes, Read(_fingerprint, {})] = b""
    expire_time: Instant
    content_policy: Findings = ()

    def record(self, bank: str) -> MarkerRecord:
        """Return the marker, as one of *bank*."""
        return MarkerRecord(
            self.stream(bank),
            self.key,
            self.event,
            self.window,
            self.expire_time,
            self.fingerprint,
            self.content_policy,
        )
