"""Candidates, plans and verdicts as `P#` items of at most 350 KB."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple
from datetime import datetime
from functools import partial
from typing import Any, Protocol

from streambank.model.coverage import Coverage
from streambank.model.extraction import ExtractedFact, ExtractedProfile, Extraction, FactChange
from streambank.model.plan import Candidate, Extracted, Plan, PlanStep
from streambank.model.usage import Usage
from streambank.model.validity import OPEN, Validity
from streambank.model.verdict import RecordedVerdict, Verdict
from streambank.model.window import Attempt
from streambank.store import codec, keys, text
from streambank.store.actions import Put
from streambank.store.attributes import seconds
from streambank.store.keys import Key

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


def _list_puts(key_of: Callable[[int, str], Key], rows: Iterable[Any], head: codec.Values) -> list[Put]:
    """Return the items of a list, the first with the values *head*; whatever the others are, it names them.

    Two attempts, or two executions of one, write parts of different lists under different keys, so they never mix.
    """
    first, *rest = [text.compressed(chunk) for chunk in _chunks(rows)]
    digest = hashlib.sha256(b"".join([first, *rest])).hexdigest()[:16]
    puts = [Put(key_of(0, ""), {"d": first, "parts": 1 + len(rest), "of": digest, **head})]
    puts += [Put(key_of(part, digest), {"d": data, "of": digest}) for part, data in enumerate(rest, 1)]
    return puts


def rest_of(head: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Return number and digest of each item of a list but its first, which is *head*."""
    return [(part, head.get("of", "")) for part in range(1, head["parts"])]


def _joined(items: Sequence[Mapping[str, Any]]) -> list[Any]:
    return [row for item in items for row in text.decompressed(item["d"])]


def _vector_text(vector: bytes) -> str:
    return base64.b64encode(vector).decode()


# ---- candidates


def extracted_puts(attempt: Attempt, extracted: Extracted) -> list[Put]:
    not_covered = extracted.coverage.not_covered
    cost: codec.Values = {
        "use": text.dumps(_usage_row(extracted.usage)),
        "cov": extracted.coverage.covered,
        "unc": text.dumps(dict(not_covered)) if not_covered else None,
        "seen": text.compressed(dict(extracted.offered)),
    }
    key_of = partial(keys.candidates, attempt.bank, attempt.sid, attempt.window)
    return _list_puts(key_of, map(_candidate_row, extracted.candidates), cost)


def _candidate_row(candidate: Candidate) -> list[Any]:
    return [
        candidate.fact,
        list(candidate.seqs),
        candidate.at.isoformat(),
        list(candidate.topics),
        _vector_text(candidate.vector),
        candidate.rejected,
        candidate.profile,
        candidate.change,
        list(candidate.memory_ids),
        candidate.text,
        list(candidate.doubts),
        *_history_row(candidate),
    ]


def _history_row(one: Candidate | ExtractedFact | PlanStep) -> list[Any]:
    """Return what ends a row where its text has a validity, or is a correction."""
    if one.validity.is_open and not one.is_correction:
        return []
    times = [time and time.isoformat() for time in (one.validity.start, one.validity.end)]
    return [[*times, one.is_correction]]


def _history(rest: Sequence[Any]) -> tuple[Validity, bool]:
    """Return what `_history_row` has written."""
    if not rest:
        return OPEN, False
    start, end, is_correction = rest[0]
    times = (datetime.fromisoformat(one) if one else None for one in (start, end))
    return Validity(*times), is_correction


def _candidate(row: Sequence[Any]) -> Candidate:
    fact, seqs, at, topics, vector, rejected, profile, change, memory_ids, proposed, doubts, *rest = row
    validity, is_correction = _history(rest)
    return Candidate(
        fact=fact,
        seqs=tuple(seqs),
        at=datetime.fromisoformat(at),
        topics=tuple(topics),
        vector=base64.b64decode(vector),
        rejected=rejected,
        profile=profile,
        change=FactChange(change) if change else None,
        memory_ids=tuple(memory_ids),
        text=proposed,
        doubts=tuple(doubts),
        validity=validity,
        is_correction=is_correction,
    )


def extracted_of(items: Sequence[Mapping[str, Any]]) -> Extracted | None:
    if not items:
        return None
    head = items[0]
    candidates = tuple(map(_candidate, _joined(items)))
    coverage = Coverage(head["cov"], json.loads(head.get("unc", "{}")))
    return Extracted(candidates, _usage(head), coverage, text.decompressed(head["seen"]))


def _usage_row(usage: Usage) -> list[int]:
    """Return the sums in *usage*; the tokens of embeddings are counted for a bank's day, not for a window."""
    return list(astuple(usage)[:6])


def _usage(item: Mapping[str, Any]) -> Usage:
    return Usage(*json.loads(item["use"]))


# ---- pieces of a long window


def piece_put(attempt: Attempt, number: int, digest: str, answer: Extraction) -> Put:
    data = text.compressed(_answer_rows(answer))
    return Put(keys.piece(attempt.bank, attempt.sid, attempt.window, number), {"d": data, "of": digest})


def _answer_rows(answer: Extraction) -> list[Any]:
    facts = [_fact_row(fact) for fact in answer.facts]
    profiles = [[one.schema, dict(one.data), list(one.events)] for one in answer.profiles]
    return [facts, profiles, _usage_row(answer.usage)]


def _fact_row(fact: ExtractedFact) -> list[Any]:
    events, memories = list(fact.events), list(fact.memories)
    rest = _history_row(fact)
    return [fact.fact, events, fact.topic, fact.change, memories, fact.text, fact.problem, *rest]


def _fact(row: Sequence[Any]) -> ExtractedFact:
    fact, events, topic, change, memories, proposed, problem, *rest = row
    change = FactChange(change) if change else None
    return ExtractedFact(fact, tuple(events), topic, change, tuple(memories), proposed, problem, *_history(rest))


def piece_of(item: Mapping[str, Any] | None, digest: str) -> Extraction | None:
    """Return the answer in *item*, unless it is of another request."""
    if item is None or item["of"] != digest:
        return None
    return _answer(text.decompressed(item["d"]))


def _answer(rows: Sequence[Any]) -> Extraction:
    facts, profiles, usage = rows
    return Extraction(
        tuple(map(_fact, facts)),
        Usage(*usage),
        tuple(ExtractedProfile(schema, data, tuple(events)) for schema, data, events in profiles),
    )


# ---- plans


def plan_puts(attempt: Attempt, plan: Plan) -> list[Put]:
    common: codec.Values = {
        "ver": plan.version,
        "start": plan.start,
        "seen": text.compressed(plan.offered),
        "use": text.dumps(_usage_row(plan.usage)),
        "idx": int(plan.needs_index) or None,
    }
    key_of = partial(keys.plan, attempt.bank, attempt.sid, attempt.window)
    return _list_puts(key_of, map(_step_row, plan.steps), common)


def _step_row(step: PlanStep) -> list[Any]:
    others = [_step_row(one) for one in step.others]
    vector = _vector_text(step.vector)
    row = [step.verdict, step.memory_id, step.text, vector, step.reason, others, list(step.seqs), step.merged_into]
    return [*row, *_history_row(step)]


def _step(row: Sequence[Any]) -> PlanStep:
    verdict, memory_id, fact, vector, reason, others, seqs, merged_into, *rest = row
    return PlanStep(
        Verdict(verdict),
        memory_id,
        fact,
        base64.b64decode(vector),
        reason,
        tuple(map(_step, others)),
        tuple(seqs),
        merged_into,
        *_history(rest),
    )


def plan_of(items: Sequence[Mapping[str, Any]]) -> Plan | None:
    if not items:
        return None
    head = items[0]
    steps = tuple(map(_step, _joined(items)))
    offered = text.decompressed(head["seen"])
    return Plan(head["ver"], head["start"], steps, offered, _usage(head), "idx" in head)


# ---- verdicts


def verdicts_put(attempt: Attempt, verdicts: Sequence[RecordedVerdict], expires: datetime | None) -> Put:
    """Return the item of a slice's *verdicts*, which are in the order of their candidates."""
    key = keys.verdicts(attempt.bank, attempt.sid, attempt.window, verdicts[0].number)
    return Put(key, {"d": text.compressed([_verdict_row(one) for one in verdicts]), "ttl": seconds(expires)})


def verdict_bytes(recorded: RecordedVerdict) -> int:
    """Return how many bytes a verdict has in its item before compression."""
    return len(text.dumps(_verdict_row(recorded)).encode())


def _verdict_row(recorded: RecordedVerdict) -> list[Any]:
    *row, seqs = astuple(recorded)
    return [*row, list(seqs)] if seqs else row


def verdicts_of(item: Mapping[str, Any]) -> list[RecordedVerdict]:
    return list(map(_verdict, text.decompressed(item["d"])))


def _verdict(row: Sequence[Any]) -> RecordedVerdict:
    number, verdict, fact, reason, memory_id, revision, previous, *cited = row
    seqs = tuple(cited[0]) if cited else ()
    return RecordedVerdict(number, Verdict(verdict), fact, reason, memory_id, revision, previous, seqs)


# ---- rewriting


class TextChanges(Protocol):
    """What a rewriting does to the texts of a generation's results."""

    def candidate(self, candidate: Candidate, /) -> Candidate: ...

    def step(self, step: PlanStep, /) -> PlanStep: ...

    def answer(self, answer: Extraction, /) -> Extraction: ...

    def verdict(self, verdict: RecordedVerdict, /) -> RecordedVerdict: ...


def rewritten(kind: str, item: Mapping[str, Any], changes: TextChanges) -> codec.Values:
    """Return the attributes that *changes* change of an item of results of *kind*; none where they change nothing."""
    rows = text.decompressed(item["d"])
    match kind:
        case "C":
            after: list[Any] = [_candidate_row(changes.candidate(_candidate(row))) for row in rows]
        case "L":
            after = [_step_row(changes.step(_step(row))) for row in rows]
        case "V":
            after = [_verdict_row(changes.verdict(_verdict(row))) for row in rows]
        case _:
            after = _answer_rows(changes.answer(_answer(rows)))
    return {"d": text.compressed(after)} if text.dumps(after) != text.dumps(rows) else {}
