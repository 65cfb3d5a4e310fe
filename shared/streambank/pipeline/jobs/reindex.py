"""Reindexing a bank: each memory whose vector is of another embedding model gets a new one, batch by batch.

A run first embeds a short text, which shows the model and the length of the vectors that it makes. A batch may be done
twice: what has a vector of that model keeps it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial

from streambank.errors import (
    BudgetPaused,
    ModelNotConfigured,
    ModelOutputInvalid,
    ModelRefused,
    ModelRejected,
)
from streambank.llm.ports import Embedder
from streambank.model import ids
from streambank.model.bank import BankConfig
from streambank.model.memory import Memory
from streambank.model.reindex import FAILED, KEPT, REINDEXED, Reindex, ReindexCursor
from streambank.pipeline.generation.token_budget import TokenBudget
from streambank.pipeline.jobs import job
from streambank.pipeline.jobs.job import JobContext, Step
from streambank.rules import vectors
from streambank.rules.bank_config import bank_config
from streambank.store.banks import Banks
from streambank.store.reindexes import Reindexes
from streambank.store.scope_indexes import ScopeIndexes

# Texts of one call of the model, and memories and ends of scopes that are read before progress is recorded.
BATCH_TEXTS = 25
BATCH_ENTRIES = 500
_PROBE = "memory"
# Errors that the same call will have again.
_LASTING = (ModelNotConfigured, ModelRejected, ModelOutputInvalid, ModelRefused)
# Those that may be a single text's.
_OF_TEXT = (ModelRejected, ModelOutputInvalid, ModelRefused)


@dataclass(frozen=True, slots=True)
class ReindexContext(JobContext):
    """What a reindex needs."""

    reindexes: Reindexes
    indexes: ScopeIndexes
    banks: Banks
    embedder: Embedder
    token_budget: TokenBudget


def reindex_bank(bank: str, *, context: ReindexContext) -> Reindex:
    """Start a reindex of a bank and return how far it has come; one under way is resumed.

    Raises:
        Unavailable: others start one at the same time, or the embedding model is away; the sweep resumes what was
            started.
    """
    reindex = job.begin(lambda: context.reindexes.begin(bank, now=context.clock()), "reindex", context=context)
    return proceed(reindex, context=context)


def resume(bank: str, *, context: ReindexContext) -> Reindex | None:
    """Resume the reindex of a bank; None if none is under way. Raises as `proceed` does."""
    reindex = context.reindexes.find(bank)
    return proceed(reindex, context=context) if reindex and not reindex.ended else None


def proceed(reindex: Reindex, *, context: ReindexContext) -> Reindex:
    """Go on with a reindex until it is done or the time is over, and return it as it is then.

    It waits while the bank's tokens of today are used up. It fails if the bank is gone, or the model cannot be used.

    Raises:
        Conflict: another run of the reindex was started.
        ModelUnavailable: the embedding model is away; the sweep resumes the reindex.
    """
    claimed = context.reindexes.claim(reindex, now=context.clock())
    if context.banks.get(claimed.bank) is None:
        return context.reindexes.finish(claimed, "the bank is gone", now=context.clock())
    run = _Run(claimed, context)
    try:
        return job.proceed(run, context=context)
    except BudgetPaused:
        return run.pause()
    except _LASTING as error:
        return context.reindexes.finish(run.reindex, str(error), now=context.clock())


@dataclass(slots=True)
class _Batch:
    """Memories that need another vector, how many beside them need none, and the cursor behind them all."""

    memories: list[Memory] = field(default_factory=list)
    kept: int = 0
    entries: int = 0
    cursor: ReindexCursor | None = None

    @property
    def is_full(self) -> bool:
        return len(self.memories) == BATCH_TEXTS or self.entries == BATCH_ENTRIES


@dataclass
class _Run:
    """A run that gives new vectors to a batch a step."""

    reindex: Reindex
    context: ReindexContext

    def __post_init__(self) -> None:
        self.index = cache(partial(self.context.indexes.get, self.reindex.bank))

    def steps(self) -> Iterator[Step]:
        config = bank_config(self.context.banks.document(self.reindex.bank))
        [current] = self._embed(config, [_PROBE])
        if not current:
            raise ModelOutputInvalid("the embedding model makes no vectors")
        for batch in self._batches(current):
            yield partial(self._reindex, batch, config)

    def pause(self) -> Reindex:
        return self.reindex  # each batch is recorded already

    def finish(self) -> Reindex:
        return self.context.reindexes.finish(self.reindex, now=self.context.clock())

    def _batches(self, current: bytes) -> Iterator[_Batch]:
        """Yield the memories that are left; *current* is a vector of the model in use."""
        batch, context = _Batch(), self.context
        rest = context.reindexes.memories(self.reindex.bank, self.reindex.cursor, now=context.clock())
        for cursor, memory in rest:
            batch.cursor, batch.entries = cursor, batch.entries + 1
            if memory and _needs_vector(memory, current):
                batch.memories.append(memory)
            else:
                batch.kept += memory is not None
            if batch.is_full:
                yield batch
                batch = _Batch()
        if batch.entries:
            yield batch

    def _reindex(self, batch: _Batch, config: BankConfig) -> None:
        counts = Counter({KEPT: batch.kept})
        made = self._vectors([memory.fact for memory in batch.memories], config)
        for memory, vector in zip(batch.memories, made, strict=True):
            counts[self._write(memory, vector)] += 1
        self.reindex = self.context.reindexes.record_progress(
            self.reindex, batch.cursor, counts, now=self.context.clock()
        )

    def _write(self, memory: Memory, vector: bytes) -> str:
        """Write a vector and return what became of the memory; one that was changed meanwhile is left as it is."""
        if not vector:
            return FAILED
        if not self.context.reindexes.write_vector(self.reindex.bank, memory, vector):
            return KEPT
        index = self.index(ids.scope_id(memory.scope))
        if index:
            self.context.indexes.put(index, [replace(memory, vector=vector)], now=self.context.clock())
        return REINDEXED

    def _vectors(self, facts: Sequence[str], config: BankConfig) -> list[bytes]:
        """Return the vectors of *facts*, made in one call; if it fails for a text, in one call each, empty for that."""
        if not facts:
            return []
        try:
            return self._embed(config, facts)
        except _OF_TEXT:
            return [self._vector_or_none(fact, config) for fact in facts]

    def _vector_or_none(self, fact: str, config: BankConfig) -> bytes:
        try:
            return self._embed(config, [fact])[0]
        except _OF_TEXT:
            return b""

    def _embed(self, config: BankConfig, texts: Sequence[str]) -> list[bytes]:
        context = self.context
        return context.token_budget.embed(self.reindex.bank, config, texts, context.embedder, now=context.clock())


def _needs_vector(memory: Memory, current: bytes) -> bool:
    """Tell whether a memory's vector is not of the model in use; a profile has none."""
    return memory.profile is None and not vectors.is_of_same_model(memory.vector, current)
