"""What a replay judges by, and how its verdicts differ from the recorded ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate
from typing import Any

from streambank.model.ids import OperationId
from streambank.model.memory import Change, Memory, Profile, Revision
from streambank.model.plan import Candidate, Extracted, Plan, PlanStep
from streambank.model.replay import Comparison, Difference, JudgedWindow, ReplayedVerdict
from streambank.model.review import ReviewPolicy
from streambank.model.verdict import RecordedVerdict, Verdict
from streambank.rules import consolidation, held_steps, profiles, verdicts, wording
from streambank.rules.bank_config import customization
from streambank.rules.consolidation import WindowPolicy

# A new memory of a replay has an id that no memory has: it is never stored.
_NEW_ID = "replayed-{}"
# Bytes of the texts of a comparison, of both sides together; with its request an item stays below 400 KB.
MAX_COMPARISON_BYTES = 200_000
MAX_DIFFERENCE_BYTES = 16_000


# ---- the configuration


def overridden(document: Mapping[str, Any], scope: Iterable[str], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration in *document* for a scope with these keys, with the *overrides* of a replay."""
    custom = {**customization(document, list(scope)), **overrides.get("customization", {}), "scopeKeys": []}
    generation = {**document.get("generationConfig", {}), **overrides.get("generationConfig", {})}
    return {**document, "customizationConfigs": [custom], "generationConfig": generation}


# ---- the memories before a window


@dataclass(frozen=True, slots=True)
class WindowHistory:
    """What is recorded of a window's generation, and *at*, when it was committed."""

    extracted: Extracted | None
    plan: Plan | None
    verdicts: Sequence[RecordedVerdict]
    at: datetime

    @property
    def offered(self) -> dict[str, str]:
        """Return the fingerprint of each memory that a model was given, as the memory was before the window."""
        first = dict(self.extracted.offered) if self.extracted else {}
        second = dict(self.plan.offered) if self.plan else {}
        of_memories = second | first if self.plan and self.plan.start else first | second
        return {name: mark for name, mark in of_memories.items() if " " not in name}

    def is_created(self, memory: Memory) -> bool:
        """Tell whether the window, or something after it, made *memory*."""
        own = {one.memory_id for one in self.verdicts if one.verdict is Verdict.CREATED}
        return memory.id in own or (memory.id not in self.offered and memory.created > self.at)

    def revision_before(self, memory: Memory, revisions: Sequence[Revision]) -> int | None:
        """Return the number of the revision that *memory* had, or None where that is not known any more."""
        mark = self.offered.get(memory.id)
        if mark is not None:
            return int(mark.split(" ")[0])
        own = [one.previous_revision for one in self.verdicts if one.memory_id == memory.id and one.revision]
        if own:
            return own[0]
        if memory.updated <= self.at:
            return memory.revision
        return max((one.number for one in revisions if one.created <= self.at and one.fact), default=None)


def memory_before(memory: Memory, revisions: Sequence[Revision], history: WindowHistory) -> Memory | None:
    """Return *memory* as it was before the window, or None where its text of then is not known any more.

    A text that is not the present one has no vector.
    """
    number = history.revision_before(memory, revisions)
    then = next((one for one in revisions if one.number == number and one.fact), None)
    is_present = number == memory.revision and not _is_updated_since(memory, history)
    if not is_present and then is None:
        return None
    fact = then.fact if then and not is_present else memory.fact
    as_of, updated = _times_before(memory, then, history)
    return replace(
        memory,
        fact=fact,
        revision=number or 0,
        as_of=as_of,
        updated=updated,
        vector=memory.vector if fact == memory.fact else b"",
        profile=_profile_before(memory, fact, as_of),
    )


def _is_updated_since(memory: Memory, history: WindowHistory) -> bool:
    """Tell whether something of *memory* was changed by the window or after it, perhaps without a revision."""
    mark = history.offered.get(memory.id)
    if mark is None:
        return memory.updated > history.at
    return datetime.fromisoformat(mark.split(" ")[1]) != memory.updated


def _times_before(memory: Memory, then: Revision | None, history: WindowHistory) -> tuple[datetime, datetime]:
    """Return the time of the newest evidence, and of the last change, as they were before the window."""
    mark = history.offered.get(memory.id)
    if mark is not None:
        _, updated, as_of = mark.split(" ")
        return datetime.fromisoformat(as_of), datetime.fromisoformat(updated)
    changed = then.created if then else min(memory.updated, history.at)
    return min(memory.as_of, history.at), min(memory.updated, changed)


def _profile_before(memory: Memory, fact: str, as_of: datetime) -> Profile | None:
    """Return the profile of *memory* with the data *fact*: no field has evidence that is newer than *as_of*."""
    if memory.profile is None:
        return None
    times = memory.profile.times
    return replace(
        memory.profile, times={name: min(times.get(name, as_of), as_of) for name in profiles.parse_data(fact)}
    )


def has_changed(memory: Memory, history: WindowHistory) -> bool:
    """Tell whether the window, or something after it, changed *memory*, so that its revisions must be read."""
    is_own = any(one.memory_id == memory.id and one.revision for one in history.verdicts)
    is_other = history.revision_before(memory, ()) != memory.revision
    return is_own or is_other or _is_updated_since(memory, history)


# ---- verdicts


def replayed_verdicts(
    policy: WindowPolicy,
    candidates: Sequence[Candidate],
    steps: Sequence[PlanStep],
    memories: Iterable[Memory],
    *,
    now: datetime,
) -> tuple[ReplayedVerdict, ...]:
    """Return the verdicts that a commit of *steps* on *memories* would record."""
    known = {memory.id: memory for memory in memories}
    merges = held_steps.pinned_merges(Plan(0, 0, tuple(steps), {}), known)
    made = list[ReplayedVerdict]()
    for number, (candidate, planned) in enumerate(zip(candidates, steps, strict=True)):
        revised = [consolidation.revise_step(candidate, one, known) for one in planned.all]
        for step in _carried_out(policy, candidate, revised, known, merges):
            new_id = _NEW_ID.format(number) if step.verdict is Verdict.CREATED else ""
            change = verdicts.applied(policy, new_id, candidate, step, known, now=now)
            made.append(_replayed(verdicts.recorded(number, candidate, step, change), change))
    return tuple(made)


def _carried_out(
    policy: WindowPolicy,
    candidate: Candidate,
    steps: Sequence[PlanStep],
    known: Mapping[str, Memory],
    merges: Collection[str],
) -> Iterator[PlanStep]:
    """Yield *steps*, with refusals in place of those that would wait for review."""
    review_policy = ReviewPolicy() if policy.window.direct else policy.config.review_policy
    for one in held_steps.held(candidate, steps, known, review_policy, merges):
        if isinstance(one, PlanStep):
            yield one
        else:
            yield from held_steps.refused(one, held_steps.REASONS[one.cause])


def _replayed(one: RecordedVerdict, change: Change | None) -> ReplayedVerdict:
    memory_id = None if one.verdict is Verdict.CREATED else one.memory_id
    text = change.after.fact if change and change.after.deleted is None and _changes_text(change) else None
    return ReplayedVerdict(one.verdict, one.fact, one.reason, memory_id, text)


def _changes_text(change: Change) -> bool:
    return change.before is None or change.before.fact != change.after.fact


def recorded_verdict(one: RecordedVerdict, revisions: Mapping[str, Sequence[Revision]]) -> ReplayedVerdict:
    """Return a recorded verdict with the text that it gave its memory, where the memory's *revisions* have it."""
    of_memory = revisions.get(one.memory_id or "", ())
    text = next((each.fact for each in of_memory if each.number == one.revision and each.fact), None)
    return ReplayedVerdict(one.verdict, one.fact, one.reason, one.memory_id, text)


def visible_verdicts(
    recorded: Iterable[RecordedVerdict], extracted: Extracted | None, forgotten: frozenset[int]
) -> list[RecordedVerdict]:
    """Return those of *recorded* whose candidates cite none of the *forgotten* events (I11)."""
    candidates = extracted.candidates if extracted else ()
    hidden = {number for number, one in enumerate(candidates) if not forgotten.isdisjoint(one.seqs)}
    return [one for one in recorded if one.number not in hidden and forgotten.isdisjoint(one.seqs)]


# ---- comparing


def difference(comparison: Comparison, operation: OperationId) -> Difference | None:
    """Return how the verdicts of a window differ, or None where they are the same."""
    recorded, replayed = (Counter(map(_mark, side.verdicts)) for side in (comparison.recorded, comparison.replayed))
    if recorded == replayed:
        return None
    before, after = _facts(comparison.recorded), _facts(comparison.replayed)
    only_recorded = [fact for name, fact in before.items() if name not in after]
    only_replayed = [fact for name, fact in after.items() if name not in before]
    differing = max((recorded - replayed).total(), (replayed - recorded).total())
    kept = _first([*only_recorded, *only_replayed], MAX_DIFFERENCE_BYTES)
    return Difference(
        operation,
        differing,
        tuple(only_recorded[:kept]),
        tuple(only_replayed[: max(0, kept - len(only_recorded))]),
        len(only_recorded) + len(only_replayed) - kept,
    )


def _mark(one: ReplayedVerdict) -> tuple[str, str, str | None, str | None]:
    memory_id = None if one.verdict is Verdict.CREATED else one.memory_id
    return one.verdict, wording.normalized(one.fact), memory_id, one.text


def _facts(side: JudgedWindow) -> dict[str, str]:
    return {wording.normalized(one.fact): one.fact for one in side.verdicts}


def _first(texts: Sequence[str], most_bytes: int) -> int:
    """Return how many of *texts* have room together."""
    return sum(size <= most_bytes for size in accumulate(len(one.encode()) for one in texts))


def counts(comparison: Comparison, different: Difference | None) -> Counter[str]:
    """Return what one replayed window adds to the summary of a bank."""
    summed = Counter({"replayed": 1, "different": int(different is not None)})
    for name, side in (("recorded", comparison.recorded), ("replayed", comparison.replayed)):
        summed.update(f"{name}.{one.verdict}" for one in side.verdicts)
        summed[f"{name}.inputTokens"] += side.usage.input_tokens
        summed[f"{name}.outputTokens"] += side.usage.output_tokens
        summed[f"{name}.micros"] += side.usage.micros
    if different:
        summed["onlyRecorded"] += len(different.only_recorded)
        summed["onlyReplayed"] += len(different.only_replayed)
    return summed


def bounded(comparison: Comparison) -> Comparison:
    """Return *comparison* with as many verdicts of each side as there is room for."""
    sides, omitted = list[JudgedWindow](), 0
    for side in (comparison.recorded, comparison.replayed):
        kept = _first([_text(one) for one in side.verdicts], MAX_COMPARISON_BYTES // 2)
        omitted += len(side.verdicts) - kept
        sides.append(replace(side, verdicts=side.verdicts[:kept]))
    return replace(comparison, recorded=sides[0], replayed=sides[1], omitted=omitted)


def _text(one: ReplayedVerdict) -> str:
    return "".join([one.verdict, one.fact, one.reason, one.memory_id or "", one.text or ""]) + " " * 20
