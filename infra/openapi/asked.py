"""Twins of the bodies that ask about events and memories: what their hand-written readers take, for the document."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from infra.openapi.leaves import (
    UNSET_OPS,
    Fact,
    FilterOp,
    Id,
    Instant,
    Labels,
    Metadata,
    MetadataValue,
    Name,
    Scope,
    Strategy,
    Topics,
    TriggerDuration,
    Ttl,
    Twin,
    ZoneName,
    exactly_one,
    excluding,
)
from streambank.rules.filtering import groups
from streambank.rules.filtering.groups import GroupOp
from streambank.wire import generate, ingest, requests

_REVISION_EXPIRY = ("revisionTtl", "revisionExpireTime")
_EXPIRY = ("ttl", "expireTime")
_SOURCES = ("vertexSessionSource", "directContentsSource", "directMemoriesSource")
FilterText = Annotated[str, Field(max_length=4_096, examples=['fact=~"tea" AND create_time>"2026-01-01T00:00:00Z"'])]
Count = Annotated[int, Field(ge=0)]
EventCount = Annotated[int, Field(ge=1, le=ingest.MAX_EVENT_COUNT)]
Overlap = Annotated[int, Field(ge=1, lt=ingest.MAX_EVENT_COUNT, description="Less than eventCount.")]


# ---- events


class Part(Twin):
    """A part of any kind, kept as it was sent; text is what memories are made of."""

    model_config = ConfigDict(extra="allow")

    text: str | None = None
    thought: bool | None = None


class Content(Twin):
    role: Literal["user", "model", ""] | None = None
    parts: list[Part] | None = None


class Event(Twin):
    content: Content
    event_id: Id | None = None
    event_time: Instant | None = None


class DirectContentsSource(Twin):
    events: Annotated[list[Event], Field(min_length=1, max_length=ingest.MAX_EVENTS)]


class GenerationRule(Twin):
    """When a window is sealed; an empty rule seals it at once. An overlap needs a condition beside it."""

    model_config = ConfigDict(json_schema_extra=excluding(("idleDuration", "fixedInterval")))

    event_count: EventCount | None = None
    idle_duration: TriggerDuration | None = None
    fixed_interval: TriggerDuration | None = None
    overlap_event_count: Overlap | None = None


class GenerationTriggerConfig(Twin):
    generation_rule: GenerationRule | None = None


class WindowSettings(Twin):
    """What a call says about the memories of its window; labels and metadata have 64 keys and 4 KB together."""

    revision_labels: Labels | None = None
    revision_ttl: Ttl | None = None
    revision_expire_time: Instant | None = None
    disable_memory_revisions: bool | None = None
    metadata: Metadata | None = None
    metadata_merge_strategy: Strategy | None = None
    time_zone: ZoneName | None = None


class IngestEventsRequest(WindowSettings):
    model_config = ConfigDict(json_schema_extra=excluding(_REVISION_EXPIRY))

    scope: Scope
    stream_id: Id | None = None
    direct_contents_source: DirectContentsSource | None = None
    generation_trigger_config: GenerationTriggerConfig | None = None
    force_flush: bool | None = None


# ---- memories


class SessionSource(Twin):
    """The events of a session from startTime on and before endTime."""

    session: Annotated[str, Field(min_length=1, max_length=1_024)]
    start_time: Instant | None = None
    end_time: Instant | None = None


class DirectMemory(Twin):
    fact: Fact
    topics: Topics | None = None


class DirectMemoriesSource(Twin):
    direct_memories: Annotated[list[DirectMemory], Field(min_length=1, max_length=generate.MAX_DIRECT_MEMORIES)]


class GenerateMemoriesRequest(WindowSettings):
    """Exactly one source; the scope may be left out where a session's user gives it."""

    model_config = ConfigDict(
        json_schema_extra={
            **excluding(_REVISION_EXPIRY),
            "oneOf": [{"required": [source]} for source in _SOURCES],
            "anyOf": [{"required": ["scope"]}, {"required": ["vertexSessionSource"]}],
        }
    )

    scope: Scope | None = None
    vertex_session_source: SessionSource | None = None
    direct_contents_source: DirectContentsSource | None = None
    direct_memories_source: DirectMemoriesSource | None = None
    disable_consolidation: bool | None = None
    allowed_topics: Topics | None = None


class MemoryFields(Twin):
    name: Any = None
    display_name: Name | None = None
    description: Name | None = None
    topics: Topics | None = None
    metadata: Metadata | None = None
    ttl: Ttl | None = None
    expire_time: Instant | None = None
    revision_labels: Labels | None = None
    revision_ttl: Ttl | None = None
    revision_expire_time: Instant | None = None
    disable_memory_revisions: bool | None = None


class CreateMemoryRequest(MemoryFields):
    model_config = ConfigDict(json_schema_extra=excluding(_EXPIRY, _REVISION_EXPIRY))

    scope: Scope
    fact: Fact


class UpdateMemoryRequest(MemoryFields):
    """Changes what updateMask names, else the fields that it has; a scope may come along, and does not change."""

    model_config = ConfigDict(json_schema_extra=excluding(_EXPIRY, _REVISION_EXPIRY))

    scope: Scope | None = None
    fact: Fact | None = None


class RollbackMemoryRequest(Twin):
    """The id of a revision, or its whole name."""

    target_revision_id: Annotated[str, Field(pattern=r"^([^/]*/)*[0-9]{1,12}$", examples=["1"])]


class MetadataFilter(Twin):
    """A comparison; true and false have no order."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"properties": {"value": {"not": {"required": ["boolValue"]}}}},
                {"properties": {"op": {"enum": [GroupOp.EQUAL, *UNSET_OPS]}}},
            ]
        }
    )

    key: Annotated[str, Field(min_length=1)]
    value: MetadataValue
    op: FilterOp | None = None
    negate: bool | None = None


class FilterGroup(Twin):
    """Filters that must all hold."""

    filters: Annotated[list[MetadataFilter], Field(min_length=1, max_length=groups.MAX_FILTERS)]


FilterGroups = Annotated[
    list[FilterGroup], Field(max_length=groups.MAX_GROUPS, description="One group that holds is enough.")
]


class PurgeMemoriesRequest(Twin):
    """What is to go; without force it is only counted."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["filter"]}, {"required": ["filterGroups"]}]},
    )

    filter: Annotated[FilterText, Field(min_length=1, pattern=r"\S")] | None = None
    filter_groups: Annotated[FilterGroups, Field(min_length=1)] | None = None
    force: bool | None = None


# ---- twins of models whose schema says less than they check


class SimilaritySearchParams(requests.SimilaritySearchParams):
    """The last two are extensions: raw events among the results, and those that no memories were made of yet."""

    top_k: Count = 0


class SimpleRetrievalParams(requests.SimpleRetrievalParams):
    page_size: Count = 0


class RetrieveRequest(requests.RetrieveRequest):
    """All memories of exactly this scope, or those nearest to a text, or a page of them."""

    model_config = ConfigDict(json_schema_extra=excluding(("similaritySearchParams", "simpleRetrievalParams")))

    scope: Scope
    filter: FilterText | None = None
    filter_groups: FilterGroups | None = None
    memory_types: list[Literal["NATURAL_LANGUAGE_COLLECTION", "STRUCTURED_PROFILE"]] | None = None
    similarity_search_params: SimilaritySearchParams | None = None
    simple_retrieval_params: SimpleRetrievalParams | None = None


class RetrieveProfilesRequest(requests.RetrieveProfilesRequest):
    scope: Scope


class ConsolidationConfig(requests.ConsolidationConfig):
    revisions_per_candidate_count: Annotated[int, Field(ge=0, le=100)] | None = None


class GranularTtlConfig(requests.GranularTtlConfig):
    create_ttl: Ttl | None = None
    generate_created_ttl: Ttl | None = None
    generate_updated_ttl: Ttl | None = None


class TtlConfig(requests.TtlConfig):
    model_config = ConfigDict(json_schema_extra=excluding(("defaultTtl", "granularTtlConfig")))

    default_ttl: Ttl | None = None
    granular_ttl_config: GranularTtlConfig | None = None
    memory_revision_default_ttl: Ttl | None = None


class MemoryTopic(requests.MemoryTopic):
    model_config = ConfigDict(json_schema_extra=exactly_one())


class MemoryTopicId(requests.MemoryTopicId):
    model_config = ConfigDict(json_schema_extra=exactly_one())


class SchemaConfig(requests.SchemaConfig):
    model_config = ConfigDict(json_schema_extra=excluding(("schema", "jsonSchema")))


STRICTER = (ConsolidationConfig, TtlConfig, MemoryTopic, MemoryTopicId, SchemaConfig)
