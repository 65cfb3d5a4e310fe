"""Arguments that several calls accept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypedDict

from streambank_client import types
from streambank_client.calls.requests import body_fields
from streambank_client.http.encoding import JsonObject, MetadataValue, typed_metadata
from streambank_client.http.settings import check_names


class RevisionSettings(TypedDict, total=False):
    """Metadata of memories, and how their revisions are kept: a TTL is 1 s to 100 years."""

    metadata: Mapping[str, MetadataValue] | None
    revision_labels: Mapping[str, str] | None
    revision_ttl: timedelta | str | None
    revision_expire_time: datetime | None
    disable_memory_revisions: bool | None


class WindowSettings(RevisionSettings, total=False):
    """Settings for the memories of a window.

    time_zone: the IANA name of the zone for relative dates.
    include_tool_traffic: whether the service reads tool calls and results; the default is the bank's setting.
    """

    metadata_merge_strategy: str | None
    time_zone: str | None
    include_tool_traffic: bool | None


class MemoryFields(RevisionSettings, total=False):
    """Fields of a memory beside its fact."""

    display_name: str | None
    description: str | None
    topics: Sequence[types.Topic] | None
    ttl: timedelta | str | None
    expire_time: datetime | None
    pinned: bool | None
    valid_from: datetime | None
    valid_until: datetime | None


def settings_fields(arguments: WindowSettings | MemoryFields, names: type) -> JsonObject:
    """Return keyword arguments as fields of a body. Raises TypeError for a name that *names* does not have."""
    check_names(arguments, names)
    metadata = arguments.get("metadata")
    others = {name: value for name, value in arguments.items() if name != "metadata"}
    return body_fields(metadata=None if metadata is None else typed_metadata(metadata), **others)
