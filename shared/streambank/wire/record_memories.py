"""Memories among the lines of an export."""

from __future__ import annotations

from collections.abc import Sequence

from streambank.model.memory import Memory, Revision
from streambank.model.record import MemoryRecord
from streambank.model.validity import Statement, Validity
from streambank.wire.memory import metadata_value
from streambank.wire.record_times import time_text
from streambank.wire.reply import without_nulls


def memory_document(record: MemoryRecord) -> dict[str, object]:
    memory = record.memory
    evidence = [{"stream": one.sid, "window": one.window, "events": list(one.seqs)} for one in memory.evidence]
    return {
        "scope": memory.scope,
        "memoryId": memory.id,
        "fact": memory.fact,
        **_times(memory),
        "revision": memory.revision,
        "topics": list(memory.topics) or None,
        "metadata": {key: metadata_value(value) for key, value in memory.metadata.items()} or None,
        "displayName": memory.display_name,
        "description": memory.description,
        "pinned": memory.pinned or None,
        "evidence": evidence or None,
        "profile": _profile(memory),
        **_history(memory.validity, memory.statements),
        "wholeTime": time_text(memory.whole_since),
        "hiddenRevisions": memory.hidden or None,
        "revisions": [_revision(one) for one in record.revisions] or None,
        "citations": _citations(record) or None,
    }


def _times(memory: Memory) -> dict[str, object]:
    return {
        "createTime": time_text(memory.created),
        "updateTime": time_text(memory.updated),
        "evidenceTime": time_text(memory.as_of),
        "expireTime": time_text(memory.expires),
    }


def _history(validity: Validity, statements: Sequence[Statement]) -> dict[str, object]:
    """Return when a text holds, and when it was stated."""
    return {
        "validFrom": time_text(validity.start),
        "validUntil": time_text(validity.end),
        "statements": list(map(_statement, statements)) or None,
    }


def _statement(one: Statement) -> dict[str, object]:
    return {"eventTime": time_text(one.at), "learnTime": time_text(one.learnt)}


def _profile(memory: Memory) -> dict[str, object] | None:
    if memory.profile is None:
        return None
    times = {name: time_text(time) for name, time in memory.profile.times.items()}
    return {"schemaId": memory.profile.schema, "times": times}


def _revision(revision: Revision) -> dict[str, object]:
    return without_nulls(
        {
            "number": revision.number,
            "fact": revision.fact,
            "createTime": time_text(revision.created),
            "expireTime": time_text(revision.expires),
            "labels": revision.labels or None,
            "extracted": list(revision.extracted) or None,
            "isProfile": revision.is_profile or None,
            **_history(revision.validity, revision.statements),
            "isCorrection": revision.is_correction or None,
            "isLate": revision.is_late or None,
        }
    )


def _citations(record: MemoryRecord) -> list[dict[str, object]]:
    return [
        {
            "stream": one.sid,
            "window": one.window,
            "number": one.number,
            "said": one.text,
            "expireTime": time_text(one.expires),
        }
        for one in record.citations
    ]
