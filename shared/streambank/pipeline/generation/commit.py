"""The last state of a generation: the plan is applied, slice by slice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING

from streambank.errors import Conflict, IdTaken
from streambank.model.bank import BankConfig
from streambank.model.change_record import ChangeStamp
from streambank.model.event import StoredEvent
from streambank.model.ids import OperationId
from streambank.model.memory import Change, Citation, Memory
from streambank.model.plan import Completion, Extracted, ForgetRequest, Plan, Slice
from streambank.model.rule import Reason
from streambank.model.verdict import RecordedVerdict, Verdict
from streambank.model.window import Attempt, Window
from streambank.pipeline.generation.finish import finish
from streambank.pipeline.generation.held_steps import HeldSteps
from streambank.pipeline.screening.calls import screened_turns
from streambank.pipeline.screening.screening import Screenings
from streambank.pipeline.screening.stored import StoredTexts
from streambank.rules import citations, consolidation, forgetting, slices
from streambank.rules import verdicts as verdict_rules
from streambank.rules.bank_config import bank_config
from streambank.rules.changes import record_expiry
from streambank.rules.consolidation import WindowPolicy
from streambank.rules.keyed_hashes import KeyedHashes
from streambank.rules.model_choice import requested_model
from streambank.rules.new_ids import NewIds
from streambank.rules.slices import AppliedStep
from streambank.store.actions import written_bytes
from streambank.store.banks import Banks
from streambank.store.memories import Memories
from streambank.store.memory_items import change_bytes
from streambank.store.plan_items import verdict_bytes
from streambank.store.plans import Plans
from streambank.store.review_items import review_put
from streambank.store.reviews import Reviews
from streambank.store.scope_indexes import ScopeIndexes
from streambank.store.streams import RetentionPolicy
from streambank.store.windows import Windows

if TYPE_CHECKING:
    from streambank.rules.content_policy.screen import Screen

# How many ids of other memories one call passes over; the next call goes on behind the memories that it wrote.
_MAX_OTHER_IDS = 100
# When the sweep does what the end of a window leaves to do, if the commit died before it did.
_FINISHED_AFTER = timedelta(minutes=2)


class CommitOutcome(StrEnum):
    """The outcomes that the state machine branches on."""

    COMMITTED = "committed"
    CONFLICT = "conflict"
    LATE = "late"


@dataclass(frozen=True, slots=True)
class CommitContext:
    """What a commit needs.

    *model_name* returns the model that is asked where a bank names this one, or none. *clock* tells the time of each
    slice, as a commit may take minutes.
    """

    windows: Windows
    plans: Plans
    memories: Memories
    indexes: ScopeIndexes
    reviews: Reviews
    banks: Banks
    retention_policy: RetentionPolicy
    id_secret: bytes
    now: datetime
    screenings: Screenings = field(default=Screenings())
    model_name: Callable[[str | None], str] = requested_model
    clock: Callable[[], datetime] | None = None

    def stamp(self, window: Window, config: BankConfig) -> ChangeStamp:
        """Return the stamp of a slice that is written now."""
        time = self.clock() if self.clock else self.now
        operation = OperationId(window.stream.sid, window.number, window.reason is Reason.DIRECT)
        return ChangeStamp(time, record_expiry(config, now=time), operation)


def commit(attempt: Attempt, *, context: CommitContext) -> str:
    """Apply the stored plan of *attempt*'s window from its cursor on, and return the outcome.

    Outcomes: `committed`, `conflict` (the scope was written since the plan was made, or the window was marked since it
    was read: the expiry of its events was suspended, or the next window waits for it; or the plan is of another list of
    candidates), `late` (the attempt is not current any more, or the bank is being deleted). An id that another memory
    has is no conflict: the new memory gets the next one.

    Raises:
        OutOfReach: the table did not answer.
    """
    others = set[str]()
    for _ in range(_MAX_OTHER_IDS):
        try:
            return _commit(attempt, others, context)
        except IdTaken as refusal:
            others.update(refusal.memory_ids)
    return CommitOutcome.CONFLICT


def _commit(attempt: Attempt, others: set[str], context: CommitContext) -> CommitOutcome:
    """Apply what is left of the plan, without the ids of *others*. Raises IdTaken for another such id."""
    window = context.windows.get_if_current(attempt)
    extracted = context.plans.extracted(attempt) if window else None
    plan = context.plans.plan(attempt) if extracted else None
    if window is None or extracted is None or plan is None:
        return CommitOutcome.LATE
    view = context.memories.view_of_ids(attempt.bank, window.stream.scope, plan.memory_ids, now=context.now)
    is_whole = plan.start + len(plan.steps) == len(extracted.candidates)
    if view.erasing or not is_whole or view.version != plan.version_at(window.cursor):
        return CommitOutcome.CONFLICT
    document = context.banks.active_document(attempt.bank)
    if document is None:
        return CommitOutcome.LATE
    events = _cited_events(window, extracted, plan, context)
    hashes = KeyedHashes.of_scope(context.id_secret, attempt.bank, window.stream.scope)
    event_hashes = hashes.of_events(attempt.sid, events)
    config = bank_config(document, window.stream.scope)
    policy = WindowPolicy(window, config, hashes, event_hashes)
    if config.content_policy:  # what is stored may be older than the policy
        screening = context.screenings.of(attempt.bank)
        events = screened_turns(events, config.content_policy, screening=screening)
        extracted, plan = _screened(extracted, plan, screening.screen(config.content_policy))
    known = {memory.id: memory for memory in view.memories}
    expires = context.retention_policy.of_results(window, now=context.now)
    try:
        new_ids = NewIds(context.id_secret, window, others)
        steps = _steps(policy, extracted, plan, known, new_ids, events, context)
        pieces = _slices(attempt, steps, plan, window, len(extracted.candidates))
        for piece in _with_requests(pieces, window, extracted, view.requests, context):
            completion = _completion(piece, policy, extracted, plan, context)
            whole, stamp = replace(piece, expires=expires), context.stamp(window, policy.config)
            scope = window.stream.scope
            context.memories.commit_slice(attempt.bank, scope, whole, completion, now=context.now, stamp=stamp)
    except IdTaken:
        raise
    except Conflict as conflict:
        return _outcome_of(conflict, window, attempt, context)
    _finish(attempt, window, plan, context)
    return CommitOutcome.COMMITTED


def _screened(extracted: Extracted, plan: Plan, screen: Screen) -> tuple[Extracted, Plan]:
    """Return candidates and plan as a content policy leaves them; a text that changes has no vector until a reindex."""
    texts = StoredTexts(screen, lambda _: b"")
    facts = [text for one in extracted.candidates for text in (one.fact, one.text)]
    texts.read_ahead([*facts, *(part.text or "" for step in plan.steps for part in step.all)])
    candidates, steps = map(texts.candidate, extracted.candidates), map(texts.step, plan.steps)
    return replace(extracted, candidates=tuple(candidates)), replace(plan, steps=tuple(steps))


def _slices(attempt: Attempt, steps: Iterable[AppliedStep], plan: Plan, window: Window, last: int) -> Iterator[Slice]:
    """Yield the slices that are left, at least one; *last* is the number of candidates."""
    if window.cursor == last:
        yield Slice(attempt, last, last, 0, ())
    for run in slices.slices(steps):
        start = run[0].verdicts[0].number
        verdicts = tuple(verdict for step in run for verdict in step.verdicts)
        changes = tuple(change for step in run for change in step.changes)
        reviews = tuple(review for step in run for review in step.reviews)
        version = plan.version_at(start)
        yield Slice(attempt, start, start + len(run), version, verdicts, changes, reviews=reviews)


def _steps(
    policy: WindowPolicy,
    extracted: Extracted,
    plan: Plan,
    known: dict[str, Memory],
    new_ids: NewIds,
    events: Sequence[StoredEvent],
    context: CommitContext,
) -> Iterator[AppliedStep]:
    """Yield a step for each candidate that is left, each made of the memories as the ones before it changed them."""
    window = policy.window
    held_steps = HeldSteps.of(policy, plan, known, context.reviews, context.retention_policy, now=context.now)
    for cursor in range(window.cursor, len(extracted.candidates)):
        candidate, verdicts, changes = extracted.candidates[cursor], list[RecordedVerdict](), list[Change]()
        planned = plan.steps[cursor - plan.start].all
        revised = [consolidation.revise_step(candidate, one, known) for one in planned]
        steps, reviews = held_steps.divided(cursor, candidate, revised, known)
        for step in steps:
            new_id = new_ids.of(cursor, known) if step.verdict is Verdict.CREATED else ""
            change = verdict_rules.applied(policy, new_id, candidate, step, known, now=context.now)
            seqs = tuple(sorted({*candidate.seqs, *step.seqs}))
            if change and change.after.deleted is None and seqs and not step.is_late:
                change = replace(change, citation=_citation(window, cursor, seqs, events, context))
            cited = () if verdicts else candidate.seqs
            verdicts.append(replace(verdict_rules.recorded(cursor, candidate, step, change), seqs=cited))
            changes += [change] if change else []
        size = sum(change_bytes(window.stream.bank, change, context.now) for change in changes)
        size += written_bytes(review_put(window.stream.bank, review) for review in reviews)
        yield AppliedStep(tuple(verdicts), tuple(changes), sum(map(verdict_bytes, verdicts)), size, reviews)


def _cited_events(window: Window, extracted: Extracted, plan: Plan, context: CommitContext) -> list[StoredEvent]:
    """Return the events of the window in their order; none where nothing that is left of the plan cites any.

    A plan does not hold the turns, because its items are kept for longer than events are.
    """
    rest = zip(extracted.candidates[plan.start :], plan.steps, strict=False)
    open_ones = islice(rest, window.cursor - plan.start, None)
    if not any(one.seqs and any(part.verdict is not Verdict.REJECTED for part in step.all) for one, step in open_ones):
        return []
    return sorted([*context.windows.overlap(window), *context.windows.events(window)], key=StoredEvent.order)


def _citation(
    window: Window, number: int, seqs: tuple[int, ...], events: Sequence[StoredEvent], context: CommitContext
) -> Citation | None:
    """Return the citation of candidate *number*, or None where its events have no text or have expired."""
    citation = citations.citation(window, number, seqs, events, retention=context.retention_policy.retention)
    return citation if citation and citation.is_live(context.now) else None


def _with_requests(
    pieces: Iterable[Slice],
    window: Window,
    extracted: Extracted,
    requests: tuple[ForgetRequest, ...],
    context: CommitContext,
) -> Iterator[Slice]:
    """Yield *pieces*, each that has a request to forget with all *requests* of the scope after it."""
    retention = context.retention_policy.retention
    for piece in pieces:
        new = forgetting.requests_of(window, extracted.candidates, piece.start, piece.end, retention=retention)
        requests = forgetting.kept([*requests, *new], now=context.now)
        yield replace(piece, requests=requests) if new else piece


def _completion(
    piece: Slice, policy: WindowPolicy, extracted: Extracted, plan: Plan, context: CommitContext
) -> Completion | None:
    """Return what the last slice records of the window, or None for any other slice."""
    if piece.end < len(extracted.candidates):
        return None
    window = policy.window
    earlier = context.plans.verdicts(window) if piece.start else []
    outcome = _outcome([*earlier, *piece.verdicts], extracted, plan, window, context.model_name(policy.config.model))
    expires = context.retention_policy.of_operation(window, now=context.now)
    due = context.now + _FINISHED_AFTER if _leaves_work(window) else None
    return Completion(outcome, context.now, expires, due)


def _outcome(
    verdicts: Sequence[RecordedVerdict], extracted: Extracted, plan: Plan, window: Window, model_name: str
) -> dict[str, object]:
    return {
        "verdicts": verdict_rules.counted(verdicts),
        "covered": extracted.coverage.covered,
        "not_covered": dict(extracted.coverage.not_covered),
        "events": window.count,
        "usage": asdict(extracted.usage + plan.usage),
        **({"model": model_name} if model_name else {}),
    }


def _outcome_of(conflict: Conflict, before: Window, attempt: Attempt, context: CommitContext) -> CommitOutcome:
    """Return the outcome of a refused slice; where the window was only marked, the attempt is still current."""
    if not conflict.failed(0):
        return CommitOutcome.CONFLICT
    window = context.windows.get_if_current(attempt)
    return (
        CommitOutcome.CONFLICT if window and _leaves_work(window) and not _leaves_work(before) else CommitOutcome.LATE
    )


def _leaves_work(window: Window) -> bool:
    """Tell whether the window's end leaves anything for `finish`."""
    return window.is_expiry_suspended or window.is_awaited


def _finish(attempt: Attempt, before: Window, plan: Plan, context: CommitContext) -> None:
    """Do what the window's end leaves to do; if that is interrupted, the window is due and the sweep does it.

    An index that is not started now is started by the next generation of the scope.
    """
    if plan.needs_index:
        context.indexes.begin(attempt.bank, before.stream.scope, now=context.now)
    if not _leaves_work(before):
        return
    done = context.windows.get(attempt.bank, attempt.sid, attempt.window)
    if done:
        finish(done, windows=context.windows, now=context.now, retention_policy=context.retention_policy)
