"""The small types that request bodies are made of, each with its rule and its description. Lengths are in bytes."""

from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from streambank.errors import InvalidArgument
from streambank.model.memory import ManagedTopic
from streambank.model.metadata import MergeStrategy
from streambank.wire import ingest, reader, settings, topics
from streambank.wire.model import OneOfModel, Read, described_by

MAX_NAME_BYTES = 1_024
MAX_FACT_BYTES = 8_192
MAX_FILTER_BYTES = 4_096
MAX_COUNT = 10**15
_LARGEST_DOUBLE = 1.7e308
_TIME = {"type": "string", "format": "date-time", "examples": ["2026-01-31T23:59:59Z"]}
_SECONDS = {"type": "string", "pattern": r"^[0-9]{1,12}(\.[0-9]{1,9})?s$"}
_MAP_KEY = {"maxLength": settings.MAX_MAP_BYTES}
_TTL = {**_SECONDS, "description": "1 s to 100 years.", "examples": ["86400s"]}
_TRIGGER = {
    **_SECONDS,
    "description": "A multiple of 60 s, at most 30 days.",
    "examples": ["60s", "300s", "2592000s"],
}


def text(most_bytes: int, least_bytes: int = 0, **schema: Any) -> Read:
    """Return the reader of a string of *least_bytes* to *most_bytes* bytes."""
    lengths = {"minLength": least_bytes, "maxLength": most_bytes} if least_bytes else {"maxLength": most_bytes}
    read = partial(reader.text, least_bytes=least_bytes, most_bytes=most_bytes)
    return Read(read, {"type": "string", **lengths, **schema})


def whole_number(least: int, most: int, **schema: Any) -> Read:
    """Return the reader of a whole number, which proto3 JSON may write as a string or with a zero fraction."""
    read = partial(reader.integer, least=least, most=most)
    return Read(read, {"type": "integer", "minimum": least, "maximum": most, **schema})


def _fact(value: Any, path: str) -> str:
    fact = reader.text(value, path, least_bytes=1, most_bytes=MAX_FACT_BYTES)
    if not fact.strip():
        raise InvalidArgument(path, "must not be blank")
    return fact


def _trigger_duration(value: Any, path: str) -> timedelta:
    return reader.duration(value, path, least=ingest.MINUTE, most=ingest.LONGEST_TRIGGER, multiple_of=ingest.MINUTE)


def json_object(value: Any, path: str) -> dict[str, Any]:
    """Return an object whose keys are the caller's own and are not respelled. Raises InvalidArgument."""
    if not isinstance(value, dict):
        raise InvalidArgument(path, "must be an object")
    return value


Count = Annotated[int, whole_number(0, MAX_COUNT)]
# An object whose keys are the caller's own and are not respelled.
JsonObject = Annotated[dict[str, Any], Read(json_object, {"type": "object", "additionalProperties": True})]

Scope = Annotated[
    dict[str, str],
    Read(
        ingest.scope,
        {
            "type": "object",
            "minProperties": 1,
            "maxProperties": ingest.MAX_SCOPE_PAIRS,
            "propertyNames": {"minLength": 1, "maxLength": ingest.MAX_SCOPE_BYTES},
            "additionalProperties": {
                "type": "string",
                "minLength": 1,
                "maxLength": ingest.MAX_SCOPE_BYTES,
                "pattern": "^[^*]+$",
            },
            "examples": [{"user_id": "123"}],
        },
    ),
]
Id = Annotated[str, text(ingest.MAX_ID_BYTES)]
RequiredId = Annotated[str, text(ingest.MAX_ID_BYTES, least_bytes=1)]
Name = Annotated[str, text(MAX_NAME_BYTES)]
Fact = Annotated[
    str,
    Read(
        _fact,
        {"type": "string", "minLength": 1, "maxLength": MAX_FACT_BYTES, "pattern": r"\S", "examples": ["Likes tea."]},
    ),
]
FilterText = Annotated[str, text(MAX_FILTER_BYTES, examples=['fact=~"tea" AND create_time>"2026-01-01T00:00:00Z"'])]
Instant = Annotated[datetime, Read(reader.instant, _TIME)]
Ttl = Annotated[timedelta, Read(settings.ttl, _TTL)]
# The same as they were sent, for configurations, which are stored and returned as they are.
TtlText = Annotated[str, Read(settings.ttl, _TTL, keeps_value=True)]
TriggerDurationText = Annotated[str, Read(_trigger_duration, _TRIGGER, keeps_value=True)]
Labels = Annotated[
    dict[str, str],
    Read(
        settings.labels,
        {
            "type": "object",
            "maxProperties": settings.MAX_MAP_KEYS,
            "propertyNames": _MAP_KEY,
            "additionalProperties": {"type": "string", **_MAP_KEY},
            "examples": [{"source": "chat"}],
        },
    ),
]
MergeStrategyName = Annotated[
    MergeStrategy | None,
    Read(
        settings.merge_strategy,
        {"type": "string", "enum": [*MergeStrategy, *settings.UNSPECIFIED_STRATEGIES]},
    ),
]
ZoneName = Annotated[
    str | None, Read(settings.time_zone, {"type": "string", "maxLength": 64, "examples": ["Europe/Vienna"]})
]
Double = Annotated[float, Field(ge=-_LARGEST_DOUBLE, le=_LARGEST_DOUBLE)]


class MetadataValue(OneOfModel):
    """A typed value: exactly one of its kinds."""

    string_value: Annotated[str, text(settings.MAX_MAP_BYTES)] | None = None
    double_value: Double | None = None
    bool_value: bool | None = None
    timestamp_value: Instant | None = None


TypedValue = Annotated[Any, Read(settings.metadata_value, described_by(MetadataValue))]
MetadataMap = Annotated[
    dict[str, Any],  # typed values, as `model.metadata.Metadata` has them
    Read(
        settings.metadata,
        {
            "type": "object",
            "maxProperties": settings.MAX_MAP_KEYS,
            "propertyNames": _MAP_KEY,
            "additionalProperties": described_by(MetadataValue),
        },
    ),
]


class Topic(OneOfModel):
    """A managed topic, or the label of a custom one."""

    managed_memory_topic: Annotated[str, Field(json_schema_extra={"enum": list(ManagedTopic)})] | None = None
    custom_memory_topic_label: Annotated[str, text(topics.MAX_LABEL_BYTES, least_bytes=1)] | None = None


Topics = Annotated[
    tuple[str, ...],
    Read(
        topics.topics,
        {"type": "array", "maxItems": topics.MAX_TOPICS, "items": described_by(Topic)},
    ),
]
