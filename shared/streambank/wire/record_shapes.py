"""What the lines of an export hold, as an import reads them: bounded, and nothing unknown."""

import json
from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from streambank.errors import InvalidArgument
from streambank.model.chat import MAX_FORMAT_BYTES, ChatHistory
from streambank.model.content_policy import Finding
from streambank.model.memory import Citation, Evidence, Memory, Profile, Revision
from streambank.model.record import MemoryRecord, SessionEventRecord
from streambank.model.session import SESSION_ID, Session, SessionEvent
from streambank.model.validity import Statement
from streambank.rules.evidence import newest_evidence
from streambank.rules.history import MAX_STATEMENTS
from streambank.wire import ingest, reader, settings
from streambank.wire.model import Read, RequestModel, rule
from streambank.wire.record_findings import findings
from streambank.wire.validity import ValidityFields

MAX_EVENTS = 10_000
MAX_REVISIONS = 1_000
MAX_TEXT = 20_000


def _session_id(value: Any, path: str) -> str:
    if not isinstance(value, str) or not SESSION_ID.fullmatch(value):
        raise InvalidArgument(path, "is no id of a session")
    return value


def sized(most_bytes: int) -> BeforeValidator:
    """Return a validator that refuses a value with more JSON than an item has room for."""

    def check(value: Any) -> Any:
        try:
            size = reader.byte_length(json.dumps(value, ensure_ascii=False, separators=(",", ":")), "")
        except InvalidArgument as error:
            raise rule(error.problem, error.field) from None
        if size > most_bytes:
            raise rule(f"has {size} bytes of JSON; the limit is {most_bytes}")
        return value

    return BeforeValidator(check)


Instant = Annotated[datetime, Read(reader.instant, {})]
SessionId = Annotated[str, Read(_session_id, {})]
Map = Annotated[dict[str, Any], sized(ingest.MAX_EVENT_BYTES)]
Scope = Annotated[dict[str, str], Read(ingest.scope, {})]
Id = Annotated[str, Field(min_length=1, max_length=ingest.MAX_ID_BYTES)]
Text = Annotated[str, Field(max_length=MAX_TEXT)]
CitedText = Annotated[str, Field(max_length=ingest.MAX_EVENT_BYTES)]
Name = Annotated[str, Field(max_length=1_024)]
Number = Annotated[int, Field(ge=0, lt=10**12)]
Sid = Annotated[str, Field(pattern=r"^[a-z2-7]{26}$")]
MemoryId = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
Labels = Annotated[dict[str, Text], Field(max_length=64)]
Metadata = Annotated[dict[str, Any], Read(settings.metadata, {})]


# ---- memories


class EvidenceShape(RequestModel):
    stream: Sid
    window: Number
    events: Annotated[list[Number], Field(max_length=MAX_EVENTS)]


class ProfileShape(RequestModel):
    schema_id: Name
    times: Annotated[dict[str, Instant], Field(max_length=1_000)] = Field(default_factory=dict)


class StatementShape(RequestModel):
    event_time: Instant
    learn_time: Instant


class HistoryShape(ValidityFields):
    """When a text holds, and when it was stated; an older export has neither."""

    statements: Annotated[list[StatementShape], Field(max_length=MAX_STATEMENTS)] = Field(default_factory=list)

    @property
    def stated(self) -> tuple[Statement, ...]:
        """Return the statements."""
        return tuple(Statement(one.event_time, one.learn_time) for one in self.statements)


class RevisionShape(HistoryShape):
    number: Number
    fact: Text
    create_time: Instant
    expire_time: Instant | None = None
    labels: Labels = Field(default_factory=dict)
    extracted: list[Text] = Field(default_factory=list)
    is_profile: bool = False
    is_correction: bool = False
    is_late: bool = False

    def of(self, memory_id: str) -> Revision:
        """Return the revision that this is of a memory."""
        return Revision(
            memory_id,
            self.number,
            self.fact,
            self.create_time,
            self.expire_time,
            self.labels,
            tuple(self.extracted),
            self.is_profile,
            self.validity,
            self.stated,
            self.is_correction,
            self.is_late,
        )


class CitationShape(RequestModel):
    stream: Sid
    window: Number
    number: Number
    cited_text: Annotated[CitedText, Field(alias="said")]  # the format's name
    expire_time: Instant

    def citation(self) -> Citation:
        """Return the citation."""
        return Citation(self.stream, self.window, self.number, self.cited_text, self.expire_time)


class MemoryLine(HistoryShape):
    scope: Scope
    memory_id: MemoryId
    fact: Text
    create_time: Instant
    update_time: Instant
    evidence_time: Instant
    expire_time: Instant | None = None
    whole_time: Instant | None = None
    hidden_revisions: Number = 0
    revision: Number = 0
    topics: Annotated[list[Name], Field(max_length=100)] = Field(default_factory=list)
    metadata: Metadata = Field(default_factory=dict)
    display_name: Name | None = None
    description: Name | None = None
    pinned: bool = False
    evidence: list[EvidenceShape] = Field(default_factory=list)
    profile: ProfileShape | None = None
    revisions: Annotated[list[RevisionShape], Field(max_length=MAX_REVISIONS)] = Field(default_factory=list)
    citations: Annotated[list[CitationShape], Field(max_length=MAX_REVISIONS)] = Field(default_factory=list)

    def record(self) -> MemoryRecord:
        """Return the memory, without a vector, with its revisions and what it cites."""
        cited = (
            Citation(one.stream, one.window, one.number, one.cited_text, one.expire_time) for one in self.citations
        )
        return MemoryRecord(self._memory(), tuple(one.of(self.memory_id) for one in self.revisions), tuple(cited))

    def _memory(self) -> Memory:
        return Memory(
            self.memory_id,
            self.fact,
            self.scope,
            self.create_time,
            self.update_time,
            self.evidence_time,
            self.revision,
            tuple(self.topics),
            self.metadata,
            expires=self.expire_time,
            display_name=self.display_name,
            description=self.description,
            evidence=newest_evidence([Evidence(one.stream, one.window, tuple(one.events)) for one in self.evidence]),
            profile=Profile(self.profile.schema_id, self.profile.times) if self.profile else None,
            pinned=self.pinned,
            validity=self.validity,
            statements=self.stated,
            whole_since=self.whole_time,
            hidden=self.hidden_revisions,
        )


# ---- sessions and chats


class SessionLine(RequestModel):
    session_id: SessionId
    user_id: Id
    create_time: Instant
    update_time: Instant
    first: Number
    last: Number
    display_name: Name | None = None
    session_state: Map = Field(default_factory=dict)
    labels: Labels = Field(default_factory=dict)
    expire_time: Instant | None = None

    def record(self) -> Session:
        """Return the session, of version 1."""
        return Session(
            self.session_id,
            self.user_id,
            self.create_time,
            self.update_time,
            self.first,
            self.last,
            display_name=self.display_name,
            state=self.session_state,
            labels=self.labels,
            expires=self.expire_time,
        )


class SessionEventLine(RequestModel):
    session_id: SessionId
    first: Number
    number: Number
    author: Id
    invocation_id: Id
    timestamp: Instant
    content: Map | None = None
    actions: Map | None = None
    event_metadata: Map | None = None
    error_code: CitedText | None = None
    error_message: CitedText | None = None
    raw_event: Map | None = None
    content_policy: Annotated[tuple[Finding, ...], Read(findings, {})] = ()

    def record(self) -> SessionEventRecord:
        """Return the event, and the session that it is of."""
        event = SessionEvent(
            self.author,
            self.invocation_id,
            self.timestamp,
            self.number,
            self.content,
            self.actions,
            self.event_metadata,
            self.error_code,
            self.error_message,
            self.raw_event,
            self.content_policy,
        )
        return SessionEventRecord(self.session_id, self.first, event)


class ChatLine(RequestModel):
    conversation_id: Id
    messages: Annotated[list[dict[str, Any]], Field(max_length=10_000)]
    format: Annotated[str, Field(max_length=MAX_FORMAT_BYTES)] = ""
    update_time: Instant
    expire_time: Instant | None = None

    def record(self) -> ChatHistory:
        """Return the conversation, without the name of a version: whoever stores it gives it one."""
        return ChatHistory(
            self.conversation_id, tuple(self.messages), self.format, "", self.update_time, self.expire_time
        )
