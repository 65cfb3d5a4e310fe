"""Arguments that several calls take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypedDict

from streambank_client import types
from streambank_client.calls import fields
from streambank_client.spelling import JsonObject, MetadataValue, wrapped


class RevisionSettings(TypedDict, total=False):
    """What is kept beside memories, and what of their revisions: TTLs are 1 s to 100 years."""

    metadata: Mapping[str, MetadataValue] | None
    revision_labels: Mapping[str, str] | None
    revision_ttl: timedelta | str | None
    revision_expire_time: datetime | None
    disable_memory_revisions: bool | None


class WindowSettings(RevisionSettings, total=False):
    """What a call says about the memories of its window; *time_zone* is the IANA name that relative dates are in."""

    metadata_merge_strategy: str | None
    time_zone: str | None


class MemoryFields(RevisionSettings, total=False):
    """What a memory has beside its fact."""

    display_name: str | None
    description: str | None
    topics: Sequence[types.Topic] | None
    ttl: timedelta | str | None
    expire_time: datetime | None


def check(given: Mapping[str, object], kind: type) -> None:
    """Raise TypeError for a name that *kind* does not have: Python checks those of its own parameters only."""
    for name in given:
        if name not in kind.__annotations__:
            raise TypeError(f"unexpected keyword argument {name!r}")


def said(given: WindowSettings | MemoryFields, kind: type) -> JsonObject:
    """Return what was given as the wire has it. Raises TypeError for a name that *kind* does not have."""
    check(given, kind)
    metadata = given.get("metadata")
    rest = {name: value for name, value in given.items() if name != "metadata"}
    return fields(metadata=None if metadata is None else wrapped(metadata), **rest)
