"""Events of sessions in requests and replies: fields in either spelling, maps as they were sent.

What is checked here would make an event unreadable to Google's SDK, whose types are as strict.
"""

from typing import Annotated, Any, NotRequired, Self

from typing_extensions import TypedDict

from streambank.model import session as model
from streambank.wire import fields, ingest, reader
from streambank.wire.content_policy import PolicyFinding, findings
from streambank.wire.fields import Instant, JsonObject, RequiredId, json_object
from streambank.wire.ingest import MAX_EVENT_BYTES
from streambank.wire.ingest_model import Part
from streambank.wire.model import Read, RequestModel, described_by
from streambank.wire.reply import Page, Time, rfc3339, without_nulls
from streambank.wire.session import check_size

Text = Annotated[str, fields.text(MAX_EVENT_BYTES)]
_VERSION = {"type": "integer", "minimum": 0, "exclusiveMaximum": 2**31}


def _versions(value: Any, path: str) -> dict[str, Any]:
    for key, version in json_object(value, path).items():
        reader.integer(version, reader.join(path, key), least=0, most=2**31 - 1)
    return json_object(value, path)


Versions = Annotated[dict[str, Any], Read(_versions, {"type": "object", "additionalProperties": _VERSION})]
Parts = Annotated[list[dict[str, Any]], Read(ingest.parts, {"type": "array", "items": described_by(Part)})]


class SessionContent(RequestModel):
    """Of any role; its parts keep the rules of ingested ones."""

    role: Text | None = None
    parts: Parts | None = None


class EventActions(RequestModel):
    skip_summarization: bool | None = None
    state_delta: JsonObject | None = None
    artifact_delta: Versions | None = None
    transfer_agent: Text | None = None
    escalate: bool | None = None
    requested_auth_configs: JsonObject | None = None


class EventMetadata(RequestModel):
    grounding_metadata: JsonObject | None = None
    partial: bool | None = None
    turn_complete: bool | None = None
    interrupted: bool | None = None
    long_running_tool_ids: list[Text] | None = None
    branch: Text | None = None
    custom_metadata: JsonObject | None = None
    input_transcription: JsonObject | None = None
    output_transcription: JsonObject | None = None


class AppendEventRequest(RequestModel):
    author: RequiredId
    invocation_id: RequiredId
    timestamp: Instant
    name: Any = None
    content: SessionContent | None = None
    actions: EventActions | None = None
    event_metadata: EventMetadata | None = None
    error_code: Text | None = None
    error_message: Text | None = None
    raw_event: JsonObject | None = None

    @classmethod
    def parse(cls, body: Any) -> Self:
        """Return *body* as an event. Raises InvalidArgument, also for one that is too large or nested too deeply."""
        if isinstance(body, dict):
            check_size(body, "", most_bytes=MAX_EVENT_BYTES)
        return super().parse(body)

    def event(self) -> model.SessionEvent:
        """Return the event."""
        return model.SessionEvent(
            author=self.author,
            invocation_id=self.invocation_id,
            timestamp=self.timestamp,
            content=_as_sent(self.content),
            actions=_as_sent(self.actions),
            metadata=_as_sent(self.event_metadata),
            error_code=self.error_code,
            error_message=self.error_message,
            raw=self.raw_event,
        )


def _as_sent(part: RequestModel | None) -> dict[str, Any] | None:
    """Return the fields that were sent, in camelCase."""
    return None if part is None else part.model_dump(by_alias=True, exclude_unset=True)


class SessionEvent(TypedDict):
    name: str
    author: str
    invocationId: str
    timestamp: Time
    content: NotRequired[dict[str, Any] | None]
    actions: NotRequired[dict[str, Any] | None]
    eventMetadata: NotRequired[dict[str, Any] | None]
    errorCode: NotRequired[str | None]
    errorMessage: NotRequired[str | None]
    rawEvent: NotRequired[dict[str, Any] | None]
    contentPolicy: NotRequired[list[PolicyFinding] | None]


class SessionEvents(Page):
    sessionEvents: list[SessionEvent]


def session_event(event: model.SessionEvent, session_name: str) -> SessionEvent:
    """Return an event of a session."""
    return without_nulls(
        SessionEvent(
            name=f"{session_name}/events/{event.number}",
            author=event.author,
            invocationId=event.invocation_id,
            timestamp=rfc3339(event.timestamp),
            content=event.content,
            actions=event.actions,
            eventMetadata=event.metadata,
            errorCode=event.error_code,
            errorMessage=event.error_message,
            rawEvent=event.raw,
            contentPolicy=findings(event.findings),
        )
    )
