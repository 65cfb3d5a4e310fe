"""Candidates, plans and verdicts as `P#` items of at most 350 KB."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple
from datetime import datetime
from typing import Any

from streambank.model.extraction import ExtractedFact, ExtractedProfile, Extraction
from streambank.model.plan import Candidate, Extracted, Plan, PlanStep
from streambank.model.usage import Usage
from streambank.model.verdict import RecordedVerdict, Verdict
from streambank.model.window import Attempt
from streambank.store import keys, text
from streambank.store.actions import Put
from streambank.store.attributes import seconds

# Bytes of JSON before compression; vectors hardly compress.
_CHUNK_BYTES = 350_000


def _chunks(rows: Iterable[Any]) -> list[list[Any]]:
    chunks: list[list[Any]] = [[]]
    filled = 0
    for row in rows:
        size = len(text.dumps(row).encode())
        if filled + size > _CHUNK_BYTES and chunks[-1]:
            chunks.append([])
            filled = 0
        chunks[-1].append(row)
        filled += size
    return chunks


def _joined(items: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the rows of the newest list among *items*: an older, longer one may have left parts behind."""
    parts = items[: items[0]["parts"]]
    return [row for item in parts for row in text.decompressed(item["d"])]


def _vector_text(vector: bytes) -> str:
    return base64.b64encode(vector).decode()


# ---- candidates


def extracted_puts(attempt: Attempt, extracted: Extracted) -> list[Put]:
    chunks = _chunks(_candidate_row(candidate) for candidate in extracted.candidates)
    cost: dict[str, str | int | bytes | None] = {
        "use": text.dumps(_usage_row(extracted.usage)),
        "cov": extracted.covered,
    }
    return [
        Put(
            keys.candidates(attempt.bank, attempt.sid, attempt.window, part),
            {"d": text.compressed(chunk), "parts": len(chunks), **cost},
        )
        for part, chunk in enumerate(chunks)
    ]


def _candidate_row(candidate: Candidate) -> list[Any]:
    return [
        candidate.fact,
        list(candidate.seqs),
        candidate.at.isoformat(),
        list(candidate.topics),
        _vector_text(candidate.vector),
        candidate.rejected,
        candidate.profile,
    ]


def extracted_of(items: Sequence[Mapping[str, Any]]) -> Extracted | None:
    if not items:
        return None
    rows = _joined(items)
    candidates = tuple(
        Candidate(fact, tuple(seqs), datetime.fromisoformat(at), tuple(topics), base64.b64decode(vector), *rest)
        for fact, seqs, at, topics, vector, *rest in rows
    )
    return Extracted(candidates, _usage(items[0]), items[0]["cov"])


def _usage_row(usage: Usage) -> list[int]:
    """Return the sums in *usage*; the tokens of embeddings are counted for a bank's day, not for a window."""
    return list(astuple(usage)[:6])


def _usage(item: Mapping[str, Any]) -> Usage:
    return Usage(*json.loads(item["use"]))


# ---- pieces of a long window


def piece_put(attempt: Attempt, number: int, digest: str, answer: Extraction) -> Put:
    facts = [[fact.fact, list(fact.events), fact.topic] for fact in answer.facts]
    profiles = [[one.schema, dict(one.data), list(one.events)] for one in answer.profiles]
    data = text.compressed([facts, profiles, _usage_row(answer.usage)])
    return Put(keys.piece(attempt.bank, attempt.sid, attempt.window, number), {"d": data, "of": digest})


def piece_of(item: Mapping[str, Any] | None, digest: str) -> Extraction | None:
    """Return the answer in *item*, unless it is of another request."""
    if item is None or item["of"] != digest:
        return None
    facts, profiles, usage = text.decompressed(item["d"])
    return Extraction(
        tuple(ExtractedFact(fact, tuple(events), topic) for fact, events, topic in facts),
        Usage(*usage),
        tuple(ExtractedProfile(schema, data, tuple(events)) for schema, data, events in profiles),
    )


# ---- plans


def plan_puts(attempt: Attempt, plan: Plan) -> list[Put]:
    chunks = _chunks(_step_row(step) for step in plan.steps)
    common: dict[str, str | int | bytes | None] = {
        "ver": plan.version,
        "start": plan.start,
        "seen": text.compressed(plan.offered),
        "use": text.dumps(_usage_row(plan.usage)),
    }
    return [
        Put(
            keys.plan(attempt.bank, attempt.sid, attempt.window, part),
            {"d": text.compressed(chunk), "parts": len(chunks), **common},
        )
        for part, chunk in enumerate(chunks)
    ]


def _step_row(step: PlanStep) -> list[Any]:
    return [step.verdict, step.memory_id, step.text, _vector_text(step.vector), step.reason]


def plan_of(items: Sequence[Mapping[str, Any]]) -> Plan | None:
    if not items:
        return None
    head = items[0]
    steps = tuple(
        PlanStep(Verdict(verdict), memory_id, fact, base64.b64decode(vector), reason)
        for verdict, memory_id, fact, vector, reason in _joined(items)
    )
    offered = text.decompressed(head["seen"])
    return Plan(head["ver"], head["start"], steps, offered, _usage(head))


# ---- verdicts


def verdict_put(attempt: Attempt, recorded: RecordedVerdict, expires: datetime | None) -> Put:
    key = keys.verdict(attempt.bank, attempt.sid, attempt.window, recorded.number)
    return Put(
        key,
        {
            "k": recorded.number,
            "v": recorded.verdict,
            "fact": recorded.fact,
            "why": recorded.reason or None,
            "mem": recorded.memory_id,
            "rev": recorded.revision,
            "prev": recorded.previous_revision,
            "ttl": seconds(expires),
        },
    )


def recorded_of(item: Mapping[str, Any]) -> RecordedVerdict:
    return RecordedVerdict(
        item["k"],
        Verdict(item["v"]),
        item["fact"],
        item.get("why", ""),
        item.get("mem"),
        item.get("rev"),
        item.get("prev"),
    )
