"""Memories and revisions as the wire shows them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime

from streambank.model.ids import OperationId
from streambank.model.memory import Memory, Revision
from streambank.model.metadata import MetadataValue
from streambank.model.search import RawEvent
from streambank.rules.search_ranking import Hit
from streambank.wire.times import rfc3339, without_nulls
from streambank.wire.topics import topic


def memory(shown: Memory, bank_name: str) -> dict[str, object]:
    """Return a memory. Map values hold nothing but what the SDK's types know."""
    metadata = {key: metadata_value(value) for key, value in shown.metadata.items()}
    return without_nulls(
        {
            "name": f"{bank_name}/memories/{shown.id}",
            "displayName": shown.display_name,
            "description": shown.description,
            **_said(shown),
            "scope": shown.scope,
            "topics": [topic(name) for name in shown.topics] or None,
            "metadata": metadata or None,
            "createTime": rfc3339(shown.created),
            "updateTime": rfc3339(shown.updated),
            "expireTime": rfc3339(shown.expires),
            "sources": _sources(shown, bank_name) or None,
        }
    )


def _said(shown: Memory) -> dict[str, object]:
    if shown.profile is None:
        return {"fact": shown.fact, "memoryType": "NATURAL_LANGUAGE_COLLECTION"}
    content = {"schemaId": shown.profile.schema, "data": json.loads(shown.fact or "{}")}
    return {"structuredContent": content, "memoryType": "STRUCTURED_PROFILE"}


def profiles(shown: Iterable[Memory]) -> dict[str, object]:
    """Return the profiles among memories by their schemas; nothing where there is none."""
    found = {
        one.profile.schema: {"schemaId": one.profile.schema, "profile": json.loads(one.fact)}
        for one in shown
        if one.profile
    }
    return {"profiles": found} if found else {}


def _sources(shown: Memory, bank_name: str) -> list[dict[str, object]]:
    """Return the operations that a memory comes from, with the numbers of the events that it cites."""
    cited: dict[str, set[int]] = {}
    for found in shown.evidence:
        name = f"{bank_name}/operations/{OperationId(found.sid, found.window)}"
        cited.setdefault(name, set()).update(found.seqs)
    return [{"operation": name, "sequences": sorted(seqs)} for name, seqs in cited.items()]


def retrieved(hits: Iterable[Hit], bank_name: str) -> list[dict[str, object]]:
    """Return the memories among *hits*."""
    return [
        {"memory": memory(what, bank_name), "distance": distance} for distance, what in hits if isinstance(what, Memory)
    ]


def retrieved_events(hits: Iterable[Hit]) -> list[dict[str, object]]:
    """Return the events among *hits*."""
    return [_event(what, distance) for distance, what in hits if isinstance(what, RawEvent)]


def _event(what: RawEvent, distance: float) -> dict[str, object]:
    said = what.event.event
    event: dict[str, object] = {
        "eventId": said.event_id,
        "eventTime": rfc3339(said.time or what.event.arrived),
        "content": {"role": said.role, "parts": list(said.parts)},
    }
    return {
        "event": without_nulls(event),
        "streamId": what.stream.name,
        "window": what.window,
        "sequence": what.event.seq,
        "pending": what.is_pending,
        "distance": distance,
    }


def metadata_value(value: MetadataValue) -> dict[str, object]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, datetime):
        return {"timestampValue": rfc3339(value)}
    return {"stringValue": value} if isinstance(value, str) else {"doubleValue": value}


def revision(shown: Revision, bank_name: str) -> dict[str, object]:
    """Return a revision; a deletion's is empty."""
    is_data = shown.is_profile and bool(shown.fact)
    return without_nulls(
        {
            "name": f"{bank_name}/memories/{shown.memory_id}/revisions/{shown.number}",
            **({"structuredData": json.loads(shown.fact)} if is_data else {"fact": shown.fact}),
            "createTime": rfc3339(shown.created),
            "expireTime": rfc3339(shown.expires),
            "labels": shown.labels or None,
            "extractedMemories": [_extracted(fact, is_data=is_data) for fact in shown.extracted] or None,
        }
    )


def _extracted(fact: str, *, is_data: bool) -> dict[str, object]:
    return {"structuredData": json.loads(fact)} if is_data else {"fact": fact}
