"""Memories and revisions as the wire shows them."""

from __future__ import annotations

from datetime import datetime

from streambank.model.memory import Memory, Revision
from streambank.model.metadata import MetadataValue
from streambank.wire.times import rfc3339, without_nulls
from streambank.wire.topics import topic


def memory(shown: Memory, bank_name: str) -> dict[str, object]:
    """Return a memory. Map values hold nothing but what the SDK's types know."""
    metadata = {key: _metadata(value) for key, value in shown.metadata.items()}
    return without_nulls(
        {
            "name": f"{bank_name}/memories/{shown.id}",
            "displayName": shown.display_name,
            "description": shown.description,
            "fact": shown.fact,
            "scope": shown.scope,
            "topics": [topic(name) for name in shown.topics] or None,
            "metadata": metadata or None,
            "memoryType": "NATURAL_LANGUAGE_COLLECTION",
            "createTime": rfc3339(shown.created),
            "updateTime": rfc3339(shown.updated),
            "expireTime": rfc3339(shown.expires),
        }
    )


def _metadata(value: MetadataValue) -> dict[str, object]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, datetime):
        return {"timestampValue": rfc3339(value)}
    return {"stringValue": value} if isinstance(value, str) else {"doubleValue": value}


def revision(shown: Revision, bank_name: str) -> dict[str, object]:
    """Return a revision."""
    return without_nulls(
        {
            "name": f"{bank_name}/memories/{shown.memory_id}/revisions/{shown.number}",
            "fact": shown.fact,
            "createTime": rfc3339(shown.created),
            "expireTime": rfc3339(shown.expires),
            "labels": shown.labels or None,
            "extractedMemories": [{"fact": fact} for fact in shown.extracted] or None,
        }
    )
