"""Judging a window again that was generated: nothing is written but usage."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from streambank.errors import EventsMissing
from streambank.llm.ports import Consolidator, Embedder, Extractor
from streambank.model.bank import BankConfig
from streambank.model.consent import Learning
from streambank.model.event import StoredEvent
from streambank.model.memory import Memory, Revision
from streambank.model.plan import Extracted
from streambank.model.replay import Comparison, JudgedWindow, MemoriesFrom, ReplayedVerdict
from streambank.model.tombstone import Tombstone
from streambank.model.usage import Usage
from streambank.model.window import Attempt, Window
from streambank.pipeline.generation.consolidate import JudgeContext, JudgedSteps, judge
from streambank.pipeline.generation.extract import propose
from streambank.pipeline.generation.extract_turns import ExtractTurnsContext
from streambank.pipeline.generation.forgotten import reject_deleted
from streambank.pipeline.generation.material import NEAR_CANDIDATE, Material
from streambank.pipeline.generation.token_budget import TokenBudget
from streambank.pipeline.memories.scope_reader import NearText, Needed, ScopeReader
from streambank.pipeline.screening.screening import Screenings
from streambank.rules import moved_tombstones, replays, slices, tombstones
from streambank.rules.consolidation import WindowPolicy
from streambank.rules.keyed_hashes import KeyedHashes
from streambank.rules.prompted_parts import prompt_text
from streambank.rules.replays import WindowHistory
from streambank.store.memories import Memories
from streambank.store.plans import Plans
from streambank.store.windows import Windows


@dataclass(frozen=True, slots=True)
class ReplayWindowContext:
    """What the replay of one window needs; *model_name* is as in `CommitContext`."""

    windows: Windows
    plans: Plans
    memories: Memories
    reader: ScopeReader
    extractor: Extractor
    consolidator: Consolidator
    embedder: Embedder
    token_budget: TokenBudget
    id_secret: bytes
    model_name: Callable[[str | None], str]
    now: datetime
    screenings: Screenings = field(default=Screenings())


@dataclass(frozen=True, slots=True)
class _Past:
    """A window with the live part of its overlap, what is recorded of it, and what was deleted in its scope since."""

    window: Window
    history: WindowHistory
    tombstones: Sequence[Tombstone]
    forgotten: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Scope:
    """The memories of a scope as they were before a window, and the revisions of those that were changed since."""

    memories: tuple[Memory, ...]
    memories_from: MemoriesFrom
    revisions: Mapping[str, Sequence[Revision]]
    missing: int


def has_record(window: Window) -> bool:
    """Tell whether it is recorded how *window* was generated: an import brings its events and no verdicts."""
    return bool(window.outcome)


def live_events(window: Window, windows: Windows, *, now: datetime) -> list[StoredEvent]:
    """Return the events of *window* and of its overlap that have not expired, in the order of their numbers.

    Raises:
        EventsMissing: not all of the window's own are stored any more.
    """
    first = max(1, window.first_seq - (window.rule.overlap if window.rule else 0))
    stream = window.stream
    events = windows.live_events(stream.bank, stream.sid, first, window.last_seq, now=now)
    if window.missing_seqs(one.seq for one in events):
        raise EventsMissing("events of the window have expired or were erased")
    return events


def replay_window(window: Window, config: BankConfig, *, context: ReplayWindowContext) -> Comparison:
    """Return the recorded verdicts on *window* beside those that *config* gives now.

    Raises:
        GenerationError: the model's own, EventsMissing or BudgetPaused.
    """
    past = _past(window, context)
    scope = _scope_before(past, config, context)
    visible = replays.visible_verdicts(past.history.verdicts, past.history.extracted, past.forgotten)
    usage = window.outcome.get("usage", {})
    recorded = JudgedWindow(
        tuple(replays.recorded_verdict(one, scope.revisions) for one in visible),
        Usage(**usage),
        window.outcome.get("model", ""),
    )
    replayed = _judged_again(past, scope, config, context)
    return replays.bounded(Comparison(scope.memories_from, recorded, replayed, scope.missing))


def _past(window: Window, context: ReplayWindowContext) -> _Past:
    stream = window.stream
    if context.memories.version(stream.bank, stream.scope).consent.learning is Learning.DISABLED:
        raise EventsMissing("the scope is set to learn nothing, so no model reads its events")
    events = live_events(window, context.windows, now=context.now)
    left = context.memories.tombstones(stream.bank, stream.scope, now=context.now)
    hashes = KeyedHashes.of_scope(context.id_secret, stream.bank, stream.scope)
    left = moved_tombstones.with_current_hashes(left, hashes, ((stream, one.event) for one in events))
    forgotten = tombstones.cited_numbers(hashes.of_events(stream.sid, events), left)
    attempt = _attempt(window)
    verdicts = context.plans.verdicts(window)
    if not has_record(window) or sum(window.outcome["verdicts"].values()) > len(verdicts):
        raise EventsMissing("the verdicts on the window are not kept any more")
    history = WindowHistory(
        context.plans.extracted(attempt), context.plans.plan(attempt), verdicts, window.ended or context.now
    )
    return _Past(_with_live_overlap(window, events), history, left, forgotten)


def _with_live_overlap(window: Window, events: Sequence[StoredEvent]) -> Window:
    """Return *window* with an overlap of no more events than are live: the oldest expire first."""
    if window.rule is None:
        return window
    count = sum(one.seq < window.first_seq for one in events)
    return replace(window, rule=replace(window.rule, overlap=min(window.rule.overlap, count)))


def _attempt(window: Window) -> Attempt:
    return Attempt(window.stream.bank, window.stream.sid, window.number, window.attempt)


def _scope_before(past: _Past, config: BankConfig, context: ReplayWindowContext) -> _Scope:
    """Return the scope's memories as they were; one whose earlier text is gone keeps its text of now."""
    stream, history = past.window.stream, past.history
    live = context.reader.needed(stream.bank, stream.scope, lambda: _needed(past, context), now=context.now)
    revisions = {
        one.id: context.memories.revisions(stream.bank, one, now=context.now)
        for one in live
        if replays.has_changed(one, history)
    }
    before = [
        (one, replays.memory_before(one, revisions.get(one.id, ()), history))
        for one in live
        if not history.is_created(one)
    ]
    is_known = all(then for _, then in before)
    names = {one.id for one in live}
    return _Scope(
        tuple(_with_vectors(stream.bank, [then or now for now, then in before], config, context)),
        MemoriesFrom.BEFORE_WINDOW if is_known else MemoriesFrom.NOW,
        revisions,
        sum(name not in names for name in history.offered),
    )


def _needed(past: _Past, context: ReplayWindowContext) -> Needed:
    """Return the memories that a window is judged by in a large scope: those near its turns and its candidates."""
    window, extracted = past.window, past.history.extracted
    turns = [text for event in context.windows.events(window) if (text := prompt_text(event))]
    near = [NearText("\n".join(turns), b"")] if turns else []
    candidates = extracted.candidates if extracted else ()
    near += [NearText(one.fact, one.vector, NEAR_CANDIDATE) for one in candidates if one.is_searched]
    named = [*past.history.offered, *(one.memory_id for one in past.history.verdicts if one.memory_id)]
    return Needed(near, named, profiles=True)


def _with_vectors(
    bank: str, memories: Sequence[Memory], config: BankConfig, context: ReplayWindowContext
) -> list[Memory]:
    """Return *memories*, those in natural language that have no vector with one: one call for them all."""
    needed = [one.fact for one in memories if not one.vector and not one.profile]
    if not needed:
        return list(memories)
    vectors = iter(context.token_budget.embed(bank, config, needed, context.embedder, now=context.now))
    return [replace(one, vector=next(vectors)) if not one.vector and not one.profile else one for one in memories]


def _judged_again(past: _Past, scope: _Scope, config: BankConfig, context: ReplayWindowContext) -> JudgedWindow:
    window = past.window
    extracted = propose(_attempt(window), window, config, context=_turns_context(scope, context))
    judging = _judge_context(context)
    rest = reject_deleted(extracted.candidates, past.tombstones, window, judging)
    requests = context.memories.version(window.stream.bank, window.stream.scope).requests
    material = Material.of(window, config, scope.memories, requests, extracted.offered)
    judged = judge(rest, material, context=judging)
    verdicts = _verdicts(window, replace(extracted, candidates=tuple(rest)), judged, scope, config, context)
    return JudgedWindow(verdicts, extracted.usage + judged.usage, context.model_name(config.model))


def _verdicts(
    window: Window,
    extracted: Extracted,
    judged: JudgedSteps,
    scope: _Scope,
    config: BankConfig,
    context: ReplayWindowContext,
) -> tuple[ReplayedVerdict, ...]:
    """Return the verdicts as a commit of the plan would record them."""
    hashes = KeyedHashes.of_scope(context.id_secret, window.stream.bank, window.stream.scope)
    steps, more = slices.divided(extracted.candidates, judged.steps)
    return replays.replayed_verdicts(
        WindowPolicy(window, config, hashes),
        [*extracted.candidates, *(one for one, _ in more)],
        [*steps, *(step for _, step in more)],
        scope.memories,
        now=context.now,
    )


def _turns_context(scope: _Scope, context: ReplayWindowContext) -> ExtractTurnsContext:
    return ExtractTurnsContext(
        windows=context.windows,
        plans=None,
        memories=context.memories,
        memories_of_scope=lambda _needed: scope.memories,
        extractor=context.extractor,
        embedder=context.embedder,
        token_budget=context.token_budget,
        id_secret=context.id_secret,
        now=context.now,
        expires=None,
        screenings=context.screenings,
    )


def _judge_context(context: ReplayWindowContext) -> JudgeContext:
    return JudgeContext(
        windows=context.windows,
        memories=context.memories,
        consolidator=context.consolidator,
        embedder=context.embedder,
        token_budget=context.token_budget,
        id_secret=context.id_secret,
        now=context.now,
        screenings=context.screenings,
    )
