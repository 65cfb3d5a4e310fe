"""Twins of the bodies that ask about sessions."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from infra.openapi.asked import Part
from infra.openapi.leaves import Instant, Labels, Name, NeededId, Ttl, Twin, excluding
from streambank.wire import ingest

_EXPIRY = ("ttl", "expireTime")
Text = Annotated[str, Field(max_length=ingest.MAX_EVENT_BYTES)]
Object = dict[str, Any]
Version = Annotated[int, Field(ge=0, lt=2**31)]


class SessionFields(Twin):
    """The last three are read-only: taken, and not looked at."""

    display_name: Name | None = None
    session_state: Object | None = None
    labels: Labels | None = None
    ttl: Ttl | None = None
    expire_time: Instant | None = None
    name: Any = None
    create_time: Any = None
    update_time: Any = None


class CreateSessionRequest(SessionFields):
    model_config = ConfigDict(json_schema_extra=excluding(_EXPIRY))

    user_id: NeededId


class UpdateSessionRequest(SessionFields):
    """Changes what updateMask names, else the fields that it has; a user id may be named, not changed."""

    model_config = ConfigDict(json_schema_extra=excluding(_EXPIRY))

    user_id: NeededId | None = None


class SessionContent(Twin):
    """Of any role."""

    role: Text | None = None
    parts: list[Part] | None = None


class EventActions(Twin):
    skip_summarization: bool | None = None
    state_delta: Object | None = None
    artifact_delta: dict[str, Version] | None = None
    transfer_agent: Text | None = None
    escalate: bool | None = None
    requested_auth_configs: Object | None = None


class EventMetadata(Twin):
    grounding_metadata: Object | None = None
    partial: bool | None = None
    turn_complete: bool | None = None
    interrupted: bool | None = None
    long_running_tool_ids: list[Text] | None = None
    branch: Text | None = None
    custom_metadata: Object | None = None
    input_transcription: Object | None = None
    output_transcription: Object | None = None


class AppendEventRequest(Twin):
    author: NeededId
    invocation_id: NeededId
    timestamp: Instant
    name: Any = None
    content: SessionContent | None = None
    actions: EventActions | None = None
    event_metadata: EventMetadata | None = None
    error_code: Text | None = None
    error_message: Text | None = None
    raw_event: Object | None = None
