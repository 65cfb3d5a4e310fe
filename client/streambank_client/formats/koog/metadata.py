"""Class names and message metadata in both versions of Koog's JSON."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from streambank_client.formats.content_builder import ContentBuilder
from streambank_client.formats.conversion import JSON, Reason
from streambank_client.formats.node import Node

PACKAGE = "ai.koog.prompt.message."
EVENT_ID = "agentcore.eventId"
# Kotlin's Instant.DISTANT_PAST, which Koog writes if the time is not known.
NO_TIME = "-100001-12-31T23:59:59.999999999Z"
_INSTANT = re.compile(r"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?Z")


def class_name(node: Node) -> str:
    """Return the class of an object without its package, or `""` if the object does not name it."""
    return node.text("type").removeprefix(PACKAGE)


def read_metadata(builder: ContentBuilder) -> None:
    """Set the time and the id of a message from its metadata, and record other metadata as dropped."""
    meta = builder.message.object("metaInfo")
    builder.drop_fields(meta.other_fields("timestamp", "metadata"), of="metaInfo")
    metadata = meta.object("metadata")
    builder.drop_fields(metadata.other_fields(EVENT_ID), of="metaInfo.metadata")
    builder.message_id = metadata.optional_text(EVENT_ID)
    timestamp = meta.text("timestamp")
    builder.time = _parse_timestamp(timestamp)
    if timestamp not in ("", NO_TIME) and not builder.time:
        builder.drop(Reason.MALFORMED, kind="metaInfo.timestamp")


def _parse_timestamp(timestamp: str) -> datetime | None:
    """Return a time to the microsecond, or None if it is malformed or out of Python's range."""
    match = _INSTANT.fullmatch(timestamp)
    try:
        return datetime.fromisoformat(f"{match[1]}.{(match[2] or '0')[:6].ljust(6, '0')}+00:00") if match else None
    except ValueError:
        return None


def to_metadata(time: datetime | None, message_id: str | None) -> JSON:
    """Return the metadata of a message."""
    metadata = {"metadata": {EVENT_ID: message_id}} if message_id else {}
    return {"timestamp": _format_timestamp(time) if time else NO_TIME, **metadata}


def _format_timestamp(time: datetime) -> str:
    """Return a time as Kotlin writes it: with no fraction, or with three or six digits."""
    utc = time.astimezone(UTC).replace(tzinfo=None)
    spec = "seconds" if not utc.microsecond else "microseconds" if utc.microsecond % 1000 else "milliseconds"
    return utc.isoformat(timespec=spec) + "Z"
