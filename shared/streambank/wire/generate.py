"""GenerateMemories requests."""

from typing import Annotated, Any, NamedTuple

from pydantic import Field

from streambank.errors import InvalidArgument
from streambank.model.event import KeyedEvent
from streambank.model.rule import WindowSettings
from streambank.model.window import DirectMemory as ModelDirectMemory
from streambank.wire import ingest, settings
from streambank.wire.fields import Fact, Instant, Scope, Topics, text
from streambank.wire.ingest_model import DirectContentsSource, WindowSettingsFields
from streambank.wire.model import JsonSchema, Read, RequestModel, described_by
from streambank.wire.validity import ValidityFields

MAX_DIRECT_MEMORIES = 5
_MAX_SESSION_NAME_BYTES = 1_024
_SOURCES = ("vertexSessionSource", "directContentsSource", "directMemoriesSource")


class SessionName(NamedTuple):
    """A session's id, and the bank that its whole name names, if any."""

    session_id: str
    bank: str | None


class SessionSource(RequestModel):
    """The events of a session from startTime on and before endTime."""

    session: Annotated[str, text(_MAX_SESSION_NAME_BYTES, least_bytes=1)]
    start_time: Instant | None = None
    end_time: Instant | None = None

    def name(self) -> SessionName:
        """Return the name of the session, taken apart."""
        parts = self.session.split("/")
        return SessionName(parts[-1], parts[-3] if len(parts) >= 3 else None)


class DirectMemory(ValidityFields):
    fact: Fact
    topics: Topics = ()


class DirectMemoriesSource(RequestModel):
    direct_memories: Annotated[list[DirectMemory], Field(min_length=1, max_length=MAX_DIRECT_MEMORIES)]


class GenerateMemoriesRequest(WindowSettingsFields):
    """Exactly one source; the scope may be left out where a session's user gives it."""

    scope: Scope | None = None
    vertex_session_source: SessionSource | None = None
    direct_contents_source: Annotated[
        tuple[KeyedEvent, ...], Read(ingest.events, described_by(DirectContentsSource))
    ] = ()
    direct_memories_source: DirectMemoriesSource | None = None
    disable_consolidation: bool | None = None
    allowed_topics: Topics | None = None

    def check_source(self) -> None:
        """Raise InvalidArgument unless there is exactly one source, and a scope where no session gives it."""
        sources = (self.vertex_session_source, self.direct_contents_source or None, self.direct_memories_source)
        names = [name for name, source in zip(_SOURCES, sources, strict=True) if source is not None]
        if len(names) != 1:
            raise InvalidArgument(names[1] if names else "", "exactly one of " + ", ".join(_SOURCES) + " is required")
        if self.scope is None and self.vertex_session_source is None:
            raise InvalidArgument("scope", "is required")

    def window_settings(self) -> WindowSettings:
        """Return the settings of the window."""
        return WindowSettings(
            revision_labels=self.revision_labels,
            revision_expiry=settings.expiry(self.revision_ttl, self.revision_expire_time),
            disable_revisions=self.disable_memory_revisions,
            metadata=self.metadata,
            merge_strategy=self.metadata_merge_strategy,
            time_zone=self.time_zone,
            disable_consolidation=self.disable_consolidation,
            allowed_topics=self.allowed_topics or None,
            include_tool_traffic=self.include_tool_traffic,
        )

    def memories(self) -> tuple[ModelDirectMemory, ...]:
        """Return the memories that the caller states."""
        source = self.direct_memories_source
        stated = source.direct_memories if source else ()
        return tuple(ModelDirectMemory(one.fact, one.topics, one.validity) for one in stated)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> JsonSchema:
        described: JsonSchema = super().__get_pydantic_json_schema__(schema, handler)
        target = handler.resolve_ref_schema(described)
        target["oneOf"] = [{"required": [source]} for source in _SOURCES]
        target["anyOf"] = [{"required": ["scope"]}, {"required": ["vertexSessionSource"]}]
        return described
