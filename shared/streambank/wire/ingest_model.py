"""The body of IngestEvents as a model: it describes what `wire/ingest.py` reads by hand."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from streambank.errors import InvalidArgument
from streambank.wire import ingest, settings
from streambank.wire.fields import (
    Id,
    Instant,
    Labels,
    MergeStrategyName,
    MetadataMap,
    Scope,
    TriggerDurationText,
    Ttl,
    ZoneName,
    whole_number,
)
from streambank.wire.model import RequestModel, rule

_EventCount = Annotated[int, whole_number(1, ingest.MAX_EVENT_COUNT)]
_TokenCount = Annotated[int, whole_number(1, ingest.MAX_TOKEN_COUNT, description="Tokens of texts, estimated.")]
_Overlap = Annotated[int, whole_number(1, ingest.MAX_EVENT_COUNT - 1, description="Less than eventCount.")]


class Part(BaseModel):
    """A part of any kind, kept as it was sent; text is what memories are made of."""

    model_config = ConfigDict(extra="allow")

    text: str | None = None
    thought: bool | None = None


class Content(RequestModel):
    role: Literal["user", "model", ""] | None = None
    parts: list[Part] | None = None


class Event(RequestModel):
    content: Content
    event_id: Id | None = None
    event_time: Instant | None = None


class DirectContentsSource(RequestModel):
    events: Annotated[list[Event], Field(min_length=1, max_length=ingest.MAX_EVENTS)]


class GenerationRule(RequestModel):
    """When a window is sealed; an empty rule seals it at once. An overlap needs a condition beside it."""

    exclusive = (("idleDuration", "fixedInterval"),)

    event_count: _EventCount | None = None
    token_count: _TokenCount | None = None
    idle_duration: TriggerDurationText | None = None
    fixed_interval: TriggerDurationText | None = None
    overlap_event_count: _Overlap | None = None

    @model_validator(mode="after")
    def _check_conditions(self) -> Self:
        try:
            ingest.trigger_rule(self.model_dump(by_alias=True, exclude_none=True), "")
        except InvalidArgument as error:
            raise rule(error.problem, error.field) from None
        return self


class GenerationTriggerConfig(RequestModel):
    generation_rule: GenerationRule | None = None


class WindowSettingsFields(RequestModel):
    """Settings for the memories of a window; labels and metadata have 64 keys and 4 KB together."""

    exclusive = (("revisionTtl", "revisionExpireTime"),)

    revision_labels: Labels | None = None
    revision_ttl: Ttl | None = None
    revision_expire_time: Instant | None = None
    disable_memory_revisions: bool | None = None
    metadata: MetadataMap | None = None
    metadata_merge_strategy: MergeStrategyName | None = None
    time_zone: ZoneName | None = None
    include_tool_traffic: bool | None = None

    @model_validator(mode="after")
    def _check_maps(self) -> Self:
        try:
            settings.check_maps(self.revision_labels, self.metadata)
        except InvalidArgument as error:
            raise rule(error.problem, error.field) from None
        return self


class IngestEventsRequest(WindowSettingsFields):
    scope: Scope
    stream_id: Id | None = None
    direct_contents_source: DirectContentsSource | None = None
    generation_trigger_config: GenerationTriggerConfig | None = None
    force_flush: bool | None = None
