"""The small types that bodies are made of, with the limits of the readers; lengths are bytes of UTF-8."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from streambank.model.memory import ManagedTopic
from streambank.model.metadata import MergeStrategy
from streambank.rules.filtering.groups import GroupOp
from streambank.wire import generate, ingest, requests, settings, topics

UNSPECIFIED = ["METADATA_MERGE_STRATEGY_UNSPECIFIED", ""]
UNSET_OPS = ["", "OPERATOR_UNSPECIFIED"]
LARGEST_DOUBLE = 1.7e308


def excluding(*pairs: tuple[str, str]) -> dict[str, Any]:
    """Return the rule that the names of a pair never stand together."""
    return {"allOf": [{"not": {"required": list(pair)}} for pair in pairs]}


def exactly_one() -> dict[str, Any]:
    """Return the rule that one field, and no more, is given."""
    return {"minProperties": 1, "maxProperties": 1}


class Twin(BaseModel):
    """An object that a reader written by hand takes; what is unknown is refused, null counts as absent."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, validate_by_name=True, validate_by_alias=True)


class Answer(BaseModel):
    """An object that the service writes; fields may be added at any time."""

    model_config = ConfigDict(alias_generator=to_camel)


ScopeText = Annotated[str, Field(min_length=1, max_length=ingest.MAX_SCOPE_BYTES)]
ScopeValue = Annotated[str, Field(min_length=1, max_length=ingest.MAX_SCOPE_BYTES, pattern=r"^[^*]+$")]
Scope = Annotated[
    dict[ScopeText, ScopeValue],
    Field(min_length=1, max_length=ingest.MAX_SCOPE_PAIRS, examples=[{"user_id": "123"}]),
]
Id = Annotated[str, Field(max_length=ingest.MAX_ID_BYTES)]
NeededId = Annotated[str, Field(min_length=1, max_length=ingest.MAX_ID_BYTES)]
Name = Annotated[str, Field(max_length=requests.MAX_NAME_BYTES)]
Fact = Annotated[str, Field(min_length=1, max_length=generate.MAX_FACT_BYTES, pattern=r"\S", examples=["Likes tea."])]
Instant = Annotated[str, Field(json_schema_extra={"format": "date-time"}, examples=["2026-01-31T23:59:59Z"])]
Ttl = Annotated[requests.Seconds, Field(description="1 s to 100 years.", examples=["86400s"])]
TriggerDuration = Annotated[
    requests.Seconds, Field(description="A multiple of 60 s, at most 30 days.", examples=["60s", "300s", "2592000s"])
]
MapText = Annotated[str, Field(max_length=settings.MAX_MAP_BYTES)]
Labels = Annotated[dict[MapText, MapText], Field(max_length=settings.MAX_MAP_KEYS, examples=[{"source": "chat"}])]
Strategy = Annotated[str, Field(json_schema_extra={"enum": [*MergeStrategy, *UNSPECIFIED]})]
ZoneName = Annotated[str, Field(max_length=64, examples=["Europe/Vienna"])]
Managed = Annotated[str, Field(json_schema_extra={"enum": list(ManagedTopic)})]
Label = Annotated[str, Field(min_length=1, max_length=1_024)]
Double = Annotated[float, Field(ge=-LARGEST_DOUBLE, le=LARGEST_DOUBLE)]


class MetadataValue(Twin):
    """A typed value: exactly one of its kinds."""

    model_config = ConfigDict(json_schema_extra=exactly_one())

    string_value: MapText | None = None
    double_value: Double | None = None
    bool_value: bool | None = None
    timestamp_value: Instant | None = None


Metadata = Annotated[dict[MapText, MetadataValue], Field(max_length=settings.MAX_MAP_KEYS)]


class Topic(Twin):
    """A managed topic, or the label of a custom one."""

    model_config = ConfigDict(json_schema_extra=exactly_one())

    managed_memory_topic: Managed | None = None
    custom_memory_topic_label: Label | None = None


Topics = Annotated[list[Topic], Field(max_length=topics.MAX_TOPICS)]
FilterOp = Annotated[str, Field(json_schema_extra={"enum": [*GroupOp, *UNSET_OPS]})]
