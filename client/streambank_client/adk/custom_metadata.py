"""The settings in ADK's `custom_metadata`, under the names that ADK's own Memory Bank service reads."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from pydantic import BaseModel

from streambank_client.calls.requests import json_value
from streambank_client.http.encoding import JsonObject, camel_case
from streambank_client.types.memories import Topic

_REVISION_NAMES = frozenset({"disable_memory_revisions", "revision_expire_time", "revision_labels", "revision_ttl"})
# Settings of IngestEvents, of GenerateMemories, and of CreateMemory.
_INGEST_NAMES = frozenset({"force_flush", "generation_trigger_config", "stream_id"})
_WINDOW_NAMES = _REVISION_NAMES | {"metadata_merge_strategy"}
_GENERATE_ALONE_NAMES = frozenset({"allowed_topics", "disable_consolidation"})
_AT_ONCE_NAMES = _WINDOW_NAMES | _GENERATE_ALONE_NAMES | {"http_options", "metadata", "ttl", "wait_for_completion"}
_MEMORY_NAMES = _REVISION_NAMES | {"description", "display_name", "expire_time", "memory_id", "topics", "ttl"}
_ALL_NAMES = _INGEST_NAMES | _AT_ONCE_NAMES | _MEMORY_NAMES | {"enable_consolidation"}
_MANAGED_TOPICS = frozenset({
    "USER_PERSONAL_INFO", "USER_PREFERENCES", "KEY_CONVERSATION_DETAILS", "EXPLICIT_INSTRUCTIONS"
})  # fmt: skip
_VALUE_NAMES = frozenset({"bool_value", "double_value", "string_value", "timestamp_value"})
_log = logging.getLogger("streambank_client")


@dataclass(frozen=True, slots=True)
class EventSettings:
    """How events are sent, and the settings of the memories that are made of them.

    *generation* has the settings that only GenerateMemories accepts. *waits*: the call waits for the memories.
    """

    stream_id: str | None = None
    force_flush: bool = False
    generation_rule: JsonObject | None = None
    waits: bool = False
    window: JsonObject = field(default_factory=dict)
    generation: JsonObject = field(default_factory=dict)


def event_settings(values: Mapping[str, object] | None, *, is_stored: bool = True) -> EventSettings:
    """Return the settings for events, or for facts that are consolidated without being *stored* as events.

    Other names are metadata; settings without an effect are logged. Names of GenerateMemories mean that memories are
    made at once, as in ADK's own service.
    """
    given = _given(values)
    is_at_once = bool(_AT_ONCE_NAMES & given.keys())
    generation = _fields(given, _GENERATE_ALONE_NAMES)
    stream_names = _INGEST_NAMES if is_stored and not generation else frozenset[str]()
    _log_ignored(given, stream_names | _AT_ONCE_NAMES | {"enable_consolidation"})
    window = _fields(given, _WINDOW_NAMES)
    if "ttl" in given:
        window.setdefault("revision_ttl", given["ttl"])
    if metadata := _metadata(given):
        window["metadata"] = metadata
    force_flush = given.get("force_flush")
    return EventSettings(
        stream_id=str(given["stream_id"]) if given.get("stream_id") else None,
        force_flush=is_at_once if force_flush is None else bool(force_flush),
        generation_rule=_rule(given.get("generation_trigger_config")),
        waits=bool(given.get("wait_for_completion")),
        window=window,
        generation=generation,
    )


def memory_settings(values: Mapping[str, object], *, revision_labels: Mapping[str, str]) -> JsonObject:
    """Return the arguments of `create_memory` beside scope and fact; *revision_labels* override the given ones."""
    given = _given(values)
    _log_ignored(given, _MEMORY_NAMES | {"http_options", "metadata", "wait_for_completion", "enable_consolidation"})
    fields = _fields(given, _MEMORY_NAMES)
    labels = {**fields.pop("revision_labels", {}), **revision_labels}
    labels = {key: valid_text(label) for key, label in labels.items()}
    extras = {"metadata": _metadata(given), "revision_labels": labels}
    return fields | {name: value for name, value in extras.items() if value}


def is_consolidation_enabled(values: Mapping[str, object] | None) -> bool:
    """Return `enable_consolidation`.

    Raises:
        TypeError: it is not a boolean.
    """
    is_enabled = (values or {}).get("enable_consolidation")
    if is_enabled is not None and not isinstance(is_enabled, bool):
        raise TypeError('custom_metadata["enable_consolidation"] must be a bool')
    return bool(is_enabled)


def timeout_seconds(values: Mapping[str, object] | None) -> float | None:
    """Return the timeout in `http_options`, which is in milliseconds there."""
    milliseconds = _http_options(values or {}).get("timeout")
    return milliseconds / 1_000 if milliseconds else None


def valid_text(text: str) -> str:
    """Return *text* with halves of surrogate pairs replaced, which UTF-8 cannot encode."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _given(values: Mapping[str, object] | None) -> JsonObject:
    return {str(name): value for name, value in (values or {}).items() if value is not None}


def _http_options(values: Mapping[str, object]) -> JsonObject:
    options: JsonObject = dict(_plain(values.get("http_options")) or {})
    return options


def _log_ignored(given: JsonObject, known: AbstractSet[str]) -> None:
    ignored = sorted(given.keys() & _ALL_NAMES - known)
    ignored += [f"http_options.{name}" for name in _http_options(given) if name != "timeout"]
    if ignored:
        _log.warning("custom_metadata has settings without an effect here", extra={"settings": ignored})


def _fields(given: JsonObject, names: AbstractSet[str]) -> JsonObject:
    return {name: _READERS.get(name, _plain)(given[name]) for name in sorted(names & given.keys())}


def _plain(value: Any) -> Any:
    """Return a value of Google's types as our calls accept it."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime) and value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    return value


def _labels(value: Any) -> dict[str, str]:
    """Return the labels whose keys and values are strings, as ADK's own service does."""
    labels = value.items() if isinstance(value, Mapping) else ()
    return {key: label for key, label in labels if isinstance(key, str) and isinstance(label, str)}


def _topics(value: Any) -> list[Topic]:
    items = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    return [_topic(_plain(item)) for item in items]


def _topic(value: Any) -> Topic:
    if not isinstance(value, str):
        return Topic.model_validate(value)
    is_managed = value in _MANAGED_TOPICS
    return Topic(managed_memory_topic=value) if is_managed else Topic(custom_memory_topic_label=value)


def _rule(config: Any) -> JsonObject | None:
    """Return the rule in a trigger config, which is a mapping or an object of Google's SDK, in either spelling."""
    plain = _plain(config) or {}
    rule = _plain(plain.get("generation_rule", plain.get("generationRule")))
    return {camel_case(name): json_value(value) for name, value in rule.items()} if rule else None


def _metadata(given: JsonObject) -> JsonObject:
    """Return the metadata under `metadata`, and all values whose names are no settings."""
    own = given.get("metadata")
    values = {**(own if isinstance(own, Mapping) else {}), **{k: v for k, v in given.items() if k not in _ALL_NAMES}}
    typed = {valid_text(str(key)): _metadata_value(value) for key, value in values.items()}
    return {key: value for key, value in typed.items() if value is not None}


def _metadata_value(value: Any) -> Any:
    """Return a value of metadata: what has no type of its own there is stored as text."""
    value = _plain(value)
    if isinstance(value, bool | datetime):
        return value
    if isinstance(value, int | float) and abs(value) <= 1e308:
        return float(value)
    if isinstance(value, Mapping) and value and value.keys() <= _VALUE_NAMES:
        return {camel_case(name): json_value(_plain(item)) for name, item in value.items()}
    return None if value is None else valid_text(str(value))


_READERS: dict[str, Callable[[Any], Any]] = {"revision_labels": _labels, "topics": _topics, "allowed_topics": _topics}
