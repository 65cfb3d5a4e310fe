"""The last state of a generation: the plan is applied, slice by slice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from enum import StrEnum

from streambank.errors import Conflict
from streambank.model.event import StoredEvent
from streambank.model.memory import Change, Memory
from streambank.model.plan import Candidate, Completion, Extracted, Plan, PlanStep, Slice
from streambank.model.verdict import RecordedVerdict
from streambank.model.window import Attempt, Window
from streambank.rules import citations, consolidation
from streambank.rules.bank_config import bank_config
from streambank.rules.consolidation import WindowPolicy
from streambank.store.banks import Banks
from streambank.store.memories import Memories
from streambank.store.plans import Plans
from streambank.store.streams import RetentionPolicy
from streambank.store.windows import Windows

# Verdicts that share a transaction with at most one change: far below its 100 actions.
_SLICE_STEPS = 40
# When the sweep frees held events if the commit died before it did.
_RELEASE_AFTER = timedelta(minutes=2)


class CommitOutcome(StrEnum):
    """What the state machine is told."""

    COMMITTED = "committed"
    CONFLICT = "conflict"
    LATE = "late"


def commit(
    attempt: Attempt,
    *,
    windows: Windows,
    plans: Plans,
    memories: Memories,
    banks: Banks,
    retention_policy: RetentionPolicy,
    now: datetime,
) -> str:
    """Apply the stored plan of *attempt*'s window from its cursor on; return the outcome.

    Outcomes: `committed`, `conflict` (the scope changed since the plan was made, or the window is held since it was
    read), `late`.
    """
    window = windows.mine(attempt)
    extracted = plans.extracted(attempt) if window else None
    plan = plans.plan(attempt) if extracted else None
    if window is None or extracted is None or plan is None:
        return CommitOutcome.LATE
    view = memories.view(attempt.bank, window.stream.scope, now=now)
    if view.erasing or view.version != plan.version_at(window.cursor):
        return CommitOutcome.CONFLICT
    policy = WindowPolicy(window, bank_config(banks.document(attempt.bank), window.stream.scope))
    known = {memory.id: memory for memory in view.memories}
    try:
        slices = _slices(attempt, policy, extracted, plan, known, now=now)
        for piece in _citing(slices, window, extracted, windows, retention_policy, now=now):
            completion = _completion(piece, plans, policy, extracted, plan, retention_policy, now=now)
            kept = replace(piece, expires=retention_policy.of_results(window, now=now))
            memories.commit_slice(attempt.bank, window.stream.scope, kept, completion, now=now)
    except Conflict as conflict:
        return _refused(conflict, window, windows, attempt)
    if window.held:
        _release(attempt, windows, retention_policy, now)
    return CommitOutcome.COMMITTED


def _slices(
    attempt: Attempt, policy: WindowPolicy, extracted: Extracted, plan: Plan, known: dict[str, Memory], *, now: datetime
) -> Iterator[Slice]:
    """Yield the slices that are left, at least one; each sees the memories as the ones before it left them."""
    cursor, verdicts = policy.window.cursor, list[RecordedVerdict]()
    start, last = cursor, len(extracted.candidates)
    while cursor < last:
        candidate = extracted.candidates[cursor]
        step = consolidation.revise_step(candidate, plan.steps[cursor - plan.start], known)
        change = _change(policy, cursor, candidate, step, known, now=now)
        verdicts.append(_recorded(cursor, candidate, step, change))
        cursor += 1
        if change or len(verdicts) == _SLICE_STEPS or cursor == last:
            yield Slice(attempt, start, cursor, plan.version_at(start), tuple(verdicts), change)
            start, verdicts = cursor, []
    if policy.window.cursor == last:
        yield Slice(attempt, last, last, 0, ())


def _citing(
    slices: Iterable[Slice],
    window: Window,
    extracted: Extracted,
    windows: Windows,
    retention_policy: RetentionPolicy,
    *,
    now: datetime,
) -> Iterator[Slice]:
    """Yield *slices*, a change of a live memory with what its candidate cites; the events are read once, if at all.

    A plan does not carry the turns: its items are kept for longer than events are.
    """
    events: list[StoredEvent] | None = None
    for piece in slices:
        seqs = extracted.candidates[piece.end - 1].seqs if piece.change and piece.change.after.deleted is None else ()
        if piece.change is None or not seqs:
            yield piece
            continue
        if events is None:
            events = sorted([*windows.overlap(window), *windows.events(window)], key=StoredEvent.order)
        found = citations.citation(window, piece.end - 1, seqs, events, retention=retention_policy.retention)
        yield replace(piece, change=replace(piece.change, citation=found if found and found.is_live(now) else None))


def _change(
    policy: WindowPolicy, number: int, candidate: Candidate, step: PlanStep, known: dict[str, Memory], *, now: datetime
) -> Change | None:
    memory = known.pop(step.memory_id, None) if step.memory_id else None
    change = consolidation.change(policy, number, candidate, step, memory, now=now)
    after = change.after if change else memory
    if after and after.deleted is None:
        known[after.id] = after
    return change


def _recorded(number: int, candidate: Candidate, step: PlanStep, change: Change | None) -> RecordedVerdict:
    before = change.before.revision if change and change.before else None
    return RecordedVerdict(
        number=number,
        verdict=step.verdict,
        fact=candidate.fact,
        reason=step.reason,
        memory_id=change.after.id if change else step.memory_id,
        revision=change.revision.number if change and change.revision else None,
        previous_revision=before or None,
    )


def _completion(
    piece: Slice,
    plans: Plans,
    policy: WindowPolicy,
    extracted: Extracted,
    plan: Plan,
    retention_policy: RetentionPolicy,
    *,
    now: datetime,
) -> Completion | None:
    """Return what the last slice says about the window, or None for any other slice."""
    if piece.end < len(extracted.candidates):
        return None
    window = policy.window
    earlier = plans.verdicts(window) if piece.start else []
    outcome = _outcome([*earlier, *piece.verdicts], extracted, plan, window)
    return Completion(
        outcome, now, retention_policy.of_operation(window, now=now), now + _RELEASE_AFTER if window.held else None
    )


def _outcome(
    verdicts: Sequence[RecordedVerdict], extracted: Extracted, plan: Plan, window: Window
) -> dict[str, object]:
    return {
        "verdicts": consolidation.count_verdicts(verdicts),
        "covered": extracted.covered,
        "events": window.count,
        "usage": asdict(extracted.usage + plan.usage),
    }


def _refused(conflict: Conflict, before: Window, windows: Windows, attempt: Attempt) -> CommitOutcome:
    """Return what a refused slice comes to: a window that was held meanwhile is still this attempt's."""
    if not conflict.failed(0):
        return CommitOutcome.CONFLICT
    now = windows.mine(attempt)
    return CommitOutcome.CONFLICT if now and now.held != before.held else CommitOutcome.LATE


def _release(attempt: Attempt, windows: Windows, retention_policy: RetentionPolicy, now: datetime) -> None:
    """Give held events their expiry back; if this dies, index `due` still shows the window to the sweep."""
    done = windows.get(attempt.bank, attempt.sid, attempt.window)
    if done:
        windows.release_events(done, now=now, retention_policy=retention_policy)
