"""Profiles: one memory for each schema and scope, whose fact is the JSON of its data, merged field by field."""

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
MISFIT = "does not fit the schema"
_NEVER = datetime.min.replace(tzinfo=UTC)


def parse_data(to_fact: str) -> dict[str, Any]:
    """Return the values in the fact of a profile."""
    value: dict[str, Any] = json.loads(to_fact)
    return value


def to_fact(values: Mapping[str, Any]) -> str:
    """Return the fact that holds *values*; the order of fields is theirs."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def profile_candidates(values: Mapping[str, Any], grounded: Candidate, schema: ProfileSchema) -> list[Candidate]:
    """Return what a model proposes for a profile: the fields that fit their schema, and each that does not, refused."""
    fitting = {name: value for name, value in values.items() if matches_schema({name: value}, schema)}
    others = {name: value for name, value in values.items() if name not in fitting}
    mine = replace(grounded, profile=schema.id)
    refused = [replace(mine, fact=to_fact({name: value}), rejected=MISFIT) for name, value in others.items()]
    return [*([replace(mine, fact=to_fact(fitting))] if fitting else []), *refused]


def merge_candidates(proposed: Sequence[Candidate]) -> list[Candidate]:
    """Return one candidate for each profile, the later values in the earlier one's place; refusals stay as they are."""
    whole: dict[str, Candidate] = {}
    for one in proposed:
        if one.rejected:
            continue
        before = whole.get(one.profile)
        whole[one.profile] = _both(before, one) if before else one
    return [*whole.values(), *(one for one in proposed if one.rejected)]


def _both(before: Candidate, after: Candidate) -> Candidate:
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
    """Return what *candidate* means for the profile that its scope has."""
    if candidate.rejected:
        return PlanStep(Verdict.REJECTED, reason=candidate.rejected)
    if memory is None or memory.profile is None:
        return PlanStep(Verdict.CREATED, text=candidate.fact, reason=NEW)
    known, said = parse_data(memory.fact), parse_data(candidate.fact)
    newer = {name: value for name, value in said.items() if candidate.at >= _time(memory, name)}
    if known | newer != known:
        return PlanStep(Verdict.UPDATED, memory.id, to_fact(known | newer), reason=CHANGED)
    if any(candidate.at > _time(memory, name) for name in newer):
        return PlanStep(Verdict.UPDATED, memory.id, memory.fact, reason=RESTATED)
    if known | said == known:
        return PlanStep(Verdict.UNCHANGED, memory.id, reason=RESTATED)
    return PlanStep(Verdict.REJECTED, memory.id, reason=SUPERSEDED)


def new_profile(candidate: Candidate) -> Profile | None:
    """Return the profile that *candidate* begins, or None if it is none."""
    if not candidate.profile:
        return None
    return Profile(candidate.profile, dict.fromkeys(parse_data(candidate.fact), candidate.at))


def updated_profile(memory: Memory, candidate: Candidate) -> Profile | None:
    """Return the profile of *memory* after *candidate*, or None if it is none."""
    if memory.profile is None or not candidate.profile:
        return memory.profile
    newer = {name: candidate.at for name in parse_data(candidate.fact) if candidate.at >= _time(memory, name)}
    return replace(memory.profile, times={**memory.profile.times, **newer})


def _time(memory: Memory, name: str) -> datetime:
    """Return how new the evidence of a field is; a field that has none gives way to any."""
    times = memory.profile.times if memory.profile else {}
    is_known = name in parse_data(memory.fact)
    return times.get(name, memory.created if is_known else _NEVER)
