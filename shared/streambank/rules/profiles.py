"""Profiles: one memory for each schema and scope; its fact is the JSON of its data, merged field by field."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from streambank.model.bank import ProfileSchema
from streambank.model.memory import Memory, Profile
from streambank.model.plan import Candidate, PlanStep
from streambank.model.verdict import NEW, RESTATED, SUPERSEDED, Verdict
from streambank.rules.schemas import matches_schema

CHANGED = "changed"
SCHEMA_MISMATCH = "does not fit the schema"
TOO_LARGE = "would make the profile larger than 48 KB"
# A field of six bytes has a time of twenty: with its times, and with its evidence, a profile is below an item's 400 KB.
MAX_PROFILE_BYTES = 49_152
# Of the text in the verdict on what no profile takes.
_MAX_REFUSED_CHARACTERS = 8_192
_NEVER = datetime.min.replace(tzinfo=UTC)


def parse_data(to_fact: str) -> dict[str, Any]:
    """Return the data in the fact of a profile."""
    value: dict[str, Any] = json.loads(to_fact)
    return value


def to_fact(values: Mapping[str, Any]) -> str:
    """Return *values* as the fact of a profile, in the order of *values*."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def profile_candidates(values: Mapping[str, Any], grounded: Candidate, schema: ProfileSchema) -> list[Candidate]:
    """Return a candidate with the fields that match their schema, and a rejected one for each other field."""
    matching = {name: value for name, value in values.items() if matches_schema({name: value}, schema)}
    others = {name: value for name, value in values.items() if name not in matching}
    base = replace(grounded, profile=schema.id)
    rejected = [_refused(replace(base, fact=to_fact({name: value})), SCHEMA_MISMATCH) for name, value in others.items()]
    return [*([replace(base, fact=to_fact(matching))] if matching else []), *rejected]


def merge_candidates(proposed: Sequence[Candidate]) -> list[Candidate]:
    """Return one candidate for each profile, where later values replace earlier ones; rejected ones stay."""
    by_profile: dict[str, Candidate] = {}
    for one in proposed:
        if one.rejected:
            continue
        before = by_profile.get(one.profile)
        by_profile[one.profile] = _merge(before, one) if before else one
    merged = (one if _has_room(one.fact) else _refused(one, TOO_LARGE) for one in by_profile.values())
    return [*merged, *(one for one in proposed if one.rejected)]


def _has_room(fact: str) -> bool:
    return len(fact.encode(errors="replace")) <= MAX_PROFILE_BYTES


def _refused(candidate: Candidate, reason: str) -> Candidate:
    """Return *candidate* as refused for *reason*; its verdict has the beginning of its text."""
    return replace(candidate, fact=candidate.fact[:_MAX_REFUSED_CHARACTERS], rejected=reason)


def _merge(before: Candidate, after: Candidate) -> Candidate:
    return replace(
        after,
        fact=to_fact(parse_data(before.fact) | parse_data(after.fact)),
        seqs=tuple(sorted({*before.seqs, *after.seqs})),
        at=max(before.at, after.at),
    )


def find_profile(memories: Iterable[Memory], schema: str) -> Memory | None:
    """Return the profile of *schema* among a scope's *memories*."""
    return next((one for one in memories if one.profile and one.profile.schema == schema), None)


def plan_step(candidate: Candidate, memory: Memory | None) -> PlanStep:
    """Return the step that *candidate* takes on the profile of its scope."""
    if candidate.rejected:
        return PlanStep(Verdict.REJECTED, reason=candidate.rejected)
    if memory is None or memory.profile is None:
        return PlanStep(Verdict.CREATED, text=candidate.fact, reason=NEW)
    current, proposed = parse_data(memory.fact), parse_data(candidate.fact)
    newer = {name: value for name, value in proposed.items() if candidate.at >= _time(memory, name)}
    if current | newer != current:
        return _change_step(memory, to_fact(current | newer))
    if any(candidate.at > _time(memory, name) for name in newer):
        return PlanStep(Verdict.UPDATED, memory.id, memory.fact, reason=RESTATED)
    if current | proposed == current:
        return PlanStep(Verdict.UNCHANGED, memory.id, reason=RESTATED)
    return PlanStep(Verdict.REJECTED, memory.id, candidate.fact, reason=SUPERSEDED)


def _change_step(memory: Memory, fact: str) -> PlanStep:
    if _has_room(fact):
        return PlanStep(Verdict.UPDATED, memory.id, fact, reason=CHANGED)
    return PlanStep(Verdict.REJECTED, memory.id, reason=TOO_LARGE)


def new_profile(candidate: Candidate) -> Profile | None:
    """Return the profile of the memory that *candidate* creates, or None if it is no profile."""
    if not candidate.profile:
        return None
    return Profile(candidate.profile, dict.fromkeys(parse_data(candidate.fact), candidate.at))


def updated_profile(memory: Memory, candidate: Candidate) -> Profile | None:
    """Return the profile of *memory* after *candidate*, or None if it is no profile."""
    if memory.profile is None or not candidate.profile:
        return memory.profile
    newer = {name: candidate.at for name in parse_data(candidate.fact) if candidate.at >= _time(memory, name)}
    return replace(memory.profile, times={**memory.profile.times, **newer})


def _time(memory: Memory, name: str) -> datetime:
    """Return the time of a field's newest evidence; a field without a value has the earliest time."""
    times = memory.profile.times if memory.profile else {}
    has_value = name in parse_data(memory.fact)
    return times.get(name, memory.created if has_value else _NEVER)
