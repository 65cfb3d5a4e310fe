"""The extraction of a window's turns, in as many pieces as the token limit of one call requires."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache

from streambank.errors import EventsMissing, ModelOutputTruncated
from streambank.llm.ports import (
    Embedder,
    ExtractedFact,
    Extraction,
    ExtractionRequest,
    Extractor,
    OfferedMemory,
    Turn,
)
from streambank.model.bank import BankConfig
from streambank.model.event import StoredEvent
from streambank.model.memory import Memory
from streambank.model.plan import Candidate, Extracted
from streambank.model.turn import TurnRole
from streambank.model.usage import Usage
from streambank.model.window import Attempt, Window
from streambank.pipeline.generation.token_budget import TokenBudget
from streambank.pipeline.memories.scope_reader import NearText, Needed
from streambank.pipeline.screening.memories import screened_extraction
from streambank.pipeline.screening.screening import Screenings
from streambank.rules import grounding, moved_tombstones, nearness, profiles, proposals, ranking, tombstones
from streambank.rules.chunks import halve_turns, split_turns
from streambank.rules.coverage import coverage
from streambank.rules.keyed_hashes import KeyedHashes
from streambank.rules.prompted_parts import prompt_text, prompt_turns
from streambank.store.memories import Memories
from streambank.store.plans import Plans
from streambank.store.windows import Windows

# Of the user's turns, for the vector that the memories of a large scope are ranked by.
_MAX_EMBEDDED_CHARACTERS = 8_000
# Facts of earlier pieces of a window that a model reads before the next piece.
_MAX_RECORDED = 100


@dataclass(frozen=True, slots=True)
class ExtractTurnsContext:
    """What the extraction of a window's turns needs; *expires* is until when stored answers are kept.

    *memories_of_scope* returns those that a model may be given: of a large scope those that its argument returns as
    needed. Without *plans* no answer is stored.
    """

    windows: Windows
    plans: Plans | None
    memories: Memories
    memories_of_scope: Callable[[Callable[[], Needed]], Sequence[Memory]]
    extractor: Extractor
    embedder: Embedder
    token_budget: TokenBudget
    id_secret: bytes
    now: datetime
    expires: datetime | None
    screenings: Screenings


@dataclass(frozen=True, slots=True)
class _Conversation:
    """What a model reads of a window: the turns with a number each, from 1, and the memories likewise.

    *numbered* maps the number of each turn to its event.
    """

    turns: Sequence[Turn]
    numbered: Mapping[int, StoredEvent]
    memories: Sequence[Memory]

    @property
    def own(self) -> dict[int, TurnRole]:
        """Return the roles of the window's own turns by their numbers."""
        return {turn.number: turn.role for turn in self.turns if not turn.context}


def extract_turns(attempt: Attempt, window: Window, config: BankConfig, *, context: ExtractTurnsContext) -> Extracted:
    """Return the candidates of *window*; one model call within the limit, none where there is nothing to read.

    Raises:
        GenerationError: the model's own, EventsMissing or BudgetPaused. The answer for a piece is kept for the next
            attempt.
    """
    own = _own_events(window, context.windows)
    overlap = sorted(context.windows.overlap(window), key=StoredEvent.order)
    forgotten = _forgotten([*overlap, *own], window, context)
    is_disabled = not config.is_natural and not config.schemas
    has_tools = includes_tool_traffic(window, config)
    covered = coverage(own, forgotten, is_disabled=is_disabled, include_tool_traffic=has_tools)
    if not covered.covered:
        return Extracted((), coverage=covered)
    unforgotten = [event for event in (*overlap, *own) if event.seq not in forgotten]
    conversation = _conversation(window, unforgotten, config, context)
    request = _request(window, config, conversation)
    extraction = _read(attempt, request, config, context)
    candidates = _candidates(extraction, request, conversation)
    offered = {memory.id: memory.fingerprint for memory in conversation.memories}
    return Extracted(candidates, extraction.usage, covered, offered)


def _forgotten(events: Sequence[StoredEvent], window: Window, context: ExtractTurnsContext) -> frozenset[int]:
    """Return the numbers of the *events* that a deleted memory cited: no prompt has them again, also in a replay."""
    stream = window.stream
    left = context.memories.tombstones(stream.bank, stream.scope, now=context.now)
    if not left:
        return frozenset()
    hashes = KeyedHashes.of_scope(context.id_secret, stream.bank, stream.scope)
    left = moved_tombstones.with_current_hashes(left, hashes, ((stream, one.event) for one in events))
    return tombstones.cited_numbers(hashes.of_events(stream.sid, events), left)


def _memories(
    window: Window, config: BankConfig, events: Sequence[StoredEvent], context: ExtractTurnsContext
) -> list[Memory]:
    """Return the memories of the scope that a model reads beside the window's turns."""
    if window.settings.disable_consolidation or not config.is_natural:
        return []
    turns = [text for event in events if event.event.role == "user" and (text := prompt_text(event))]
    text = "\n".join(turns)[:_MAX_EMBEDDED_CHARACTERS]

    @cache
    def vector() -> bytes:
        bank, now = window.stream.bank, context.now
        return context.token_budget.embed(bank, config, [text], context.embedder, now=now, for_query=True)[0]

    def near_turns() -> Needed:
        return Needed([NearText(text, vector(), nearness.MAX_MEMORIES)] if turns else [])

    memories = [one for one in context.memories_of_scope(near_turns) if not one.profile]
    natural = ranking.eligible(memories, window.settings)
    is_ranked = len(natural) > nearness.MAX_MEMORIES and bool(turns)
    return nearness.near_turns(natural, turns, vector() if is_ranked else b"")


def _own_events(window: Window, windows: Windows) -> list[StoredEvent]:
    """Return the events of *window* in their order. Raises EventsMissing unless all are stored."""
    events = sorted(windows.events(window), key=StoredEvent.order)
    if window.missing_seqs(event.seq for event in events):
        raise EventsMissing(f"fewer than {window.count} events are stored")
    return events


def _conversation(
    window: Window, events: Sequence[StoredEvent], config: BankConfig, context: ExtractTurnsContext
) -> _Conversation:
    """Return the turns of *events*, and the memories beside them; words and tool traffic have a number each."""
    has_tools = includes_tool_traffic(window, config)
    read = [(event, turns) for event in events if (turns := prompt_turns(event, include_tool_traffic=has_tools))]
    pairs = [(event, turn) for event, turns in read for turn in turns]
    return _Conversation(
        turns=[
            Turn(number, role, text, event.order()[0], event.seq < window.first_seq)
            for number, (event, (role, text)) in enumerate(pairs, 1)
        ],
        numbered={number: event for number, (event, _) in enumerate(pairs, 1)},
        memories=_memories(window, config, [event for event, _ in read], context),
    )


def _request(window: Window, config: BankConfig, conversation: _Conversation) -> ExtractionRequest:
    allowed = window.settings.allowed_topics
    return ExtractionRequest(
        turns=tuple(conversation.turns),
        topics=config.topics if allowed is None else allowed,
        third_person=config.third_person,
        time_zone=window.settings.time_zone or "UTC",
        descriptions=config.descriptions,
        examples=config.examples,
        schemas=config.schemas,
        is_natural=config.is_natural,
        model=config.model,
        memories=tuple(
            OfferedMemory(number, one.fact, one.as_of) for number, one in enumerate(conversation.memories, 1)
        ),
    )


def includes_tool_traffic(window: Window, config: BankConfig) -> bool:
    """Return whether a model reads tool calls and results: as a call set it for *window*, else as the bank does."""
    own = window.settings.include_tool_traffic
    return config.include_tool_traffic if own is None else own


def _read(attempt: Attempt, request: ExtractionRequest, config: BankConfig, context: ExtractTurnsContext) -> Extraction:
    """Return the model's answers to all pieces as one; where there are several, each answer is stored at once."""
    runs = split_turns(request.turns, context.token_budget.call_tokens)
    if len(runs) == 1:
        return _joined(_answers(attempt, replace(request, turns=runs[0]), config, context))
    answers: list[Extraction] = []
    for number, run in enumerate(runs):
        recorded = tuple(fact.fact for one in answers for fact in one.facts if fact.fact)[-_MAX_RECORDED:]
        piece = replace(request, turns=run, recorded=recorded)
        answers.append(_stored_answer(attempt, number, piece, config, context))
    return _joined(answers)


def _stored_answer(
    attempt: Attempt, number: int, piece: ExtractionRequest, config: BankConfig, context: ExtractTurnsContext
) -> Extraction:
    if context.plans is None:
        return _joined(_answers(attempt, piece, config, context))
    digest = hashlib.sha256(repr(piece).encode(errors="replace")).hexdigest()[:16]
    stored = context.plans.piece(attempt, number, digest)
    if stored is not None:
        return stored
    answer = _joined(_answers(attempt, piece, config, context))
    context.plans.save_piece(attempt, number, digest, answer, expires=context.expires)
    return answer


def _answers(
    attempt: Attempt, piece: ExtractionRequest, config: BankConfig, context: ExtractTurnsContext
) -> Iterator[Extraction]:
    """Yield the model's answers to *piece*, or to its halves, and theirs, where an answer would be too long."""
    try:
        answer = context.token_budget.call(attempt.bank, config, piece, context.extractor.extract, now=context.now)
    except ModelOutputTruncated as error:
        parts = halve_turns(piece.turns)
        if not parts:
            raise
        yield Extraction((), error.spent or Usage())
        for turns in parts:
            yield from _answers(attempt, replace(piece, turns=turns), config, context)
    else:
        policy, screening = config.content_policy, context.screenings.of(attempt.bank)
        yield screened_extraction(answer, policy, screening=screening) if policy else answer


def _joined(answers: Iterable[Extraction]) -> Extraction:
    whole = Extraction(())
    for one in answers:
        whole = Extraction(whole.facts + one.facts, whole.usage + one.usage, whole.profiles + one.profiles)
    return whole


def _candidates(
    extraction: Extraction, request: ExtractionRequest, conversation: _Conversation
) -> tuple[Candidate, ...]:
    numbered, own = conversation.numbered, conversation.own
    texts = [turn.text for turn in request.turns]
    facts = [_candidate(fact, request, conversation, texts) for fact in extraction.facts]
    schemas = {schema.id: schema for schema in request.schemas}
    of_profiles = [
        candidate
        for one in extraction.profiles
        for candidate in profiles.profile_candidates(
            one.data, grounding.ground("{}", one.events, None, numbered, own), schemas[one.schema]
        )
    ]
    return (*grounding.reject_repeats(facts), *profiles.merge_candidates(of_profiles))


def _candidate(
    fact: ExtractedFact, request: ExtractionRequest, conversation: _Conversation, texts: Sequence[str]
) -> Candidate:
    """Return a proposed fact as a candidate; memories that the model was not given are not named by it."""
    grounded = grounding.ground(fact.fact, fact.events, fact.topic, conversation.numbered, conversation.own)
    memories = conversation.memories
    named = [memories[number - 1] for number in fact.memories if 0 < number <= len(memories)]
    candidate = replace(
        grounded,
        rejected=fact.problem or grounded.rejected,
        change=fact.change,
        memory_ids=tuple(dict.fromkeys(memory.id for memory in named)),
        text=fact.text.strip(),
        validity=fact.validity,
        is_correction=fact.is_correction,
    )
    if not candidate.rejected:
        candidate = replace(
            candidate, doubts=proposals.doubts_of_words(candidate, [*texts, *(memory.fact for memory in named)])
        )
    return grounding.restrict_to_topics(candidate, request.topics)
