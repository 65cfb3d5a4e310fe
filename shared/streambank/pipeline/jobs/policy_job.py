"""Applying a bank's content policy to what is stored already, item by item.

What a rule with REFUSE matches is redacted here: it is stored already. A call that began under an older policy may
store something behind the walk: a bank is walked twice where its policy changed less than a quarter of an hour before
the start. The second walk begins when no such call can run any more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from streambank.errors import BudgetPaused, FailedPrecondition
from streambank.llm.ports import Embedder
from streambank.model.bank import BankConfig
from streambank.model.bank_walk import WalkCursor
from streambank.model.content_policy import ContentPolicy
from streambank.model.policy_job import CHANGED, KEPT, PolicyJob
from streambank.pipeline.generation.token_budget import TokenBudget
from streambank.pipeline.jobs import job
from streambank.pipeline.jobs.job import JobContext, Step
from streambank.pipeline.screening.screening import Screenings
from streambank.pipeline.screening.stored import StoredTexts
from streambank.pipeline.sessions import chat_history
from streambank.rules.bank_config import bank_config
from streambank.store.banks import Banks
from streambank.store.chat_histories import ChatHistories
from streambank.store.policy_jobs import PolicyJobs
from streambank.store.rewrites import SHARDS, Rewrites, RewriteStep

# AWS Lambda ends every function after 15 minutes at most: what began under an older policy has ended by then.
SETTLED_AFTER = timedelta(minutes=15)
# Items that are handled before progress is recorded.
BATCH_ITEMS = 100


@dataclass(frozen=True, slots=True)
class PolicyJobContext(JobContext):
    """What an application of a policy needs."""

    jobs: PolicyJobs
    rewrites: Rewrites
    histories: ChatHistories
    banks: Banks
    embedder: Embedder
    token_budget: TokenBudget
    screenings: Screenings


def apply_policy(bank: str, *, context: PolicyJobContext) -> PolicyJob:
    """Start to apply a bank's policy and return how far that has come; one under way is resumed.

    Raises:
        FailedPrecondition: the bank has no policy.
        Unavailable: others start one at the same time, or a service is away; the sweep resumes what was started.
    """
    if bank_config(context.banks.document(bank)).content_policy is None:
        raise FailedPrecondition("the bank has no content policy")
    begun = job.begin(lambda: context.jobs.begin(bank, now=context.clock()), "content policy", context=context)
    return proceed(begun, context=context)


def resume(bank: str, *, context: PolicyJobContext) -> PolicyJob | None:
    """Resume the application under way in a bank; None if there is none. Raises as `proceed` does."""
    current = context.jobs.find(bank)
    return proceed(current, context=context) if current and not current.ended else None


def proceed(current: PolicyJob, *, context: PolicyJobContext) -> PolicyJob:
    """Go on until it is done or the time is over, and return the job as it is then.

    It waits while the bank's tokens of today are used up. It fails if the bank, or its policy, is gone.

    Raises:
        Conflict: another run of it was started.
        Unavailable, GenerationError: the service for personal data or the embedding model is away; the sweep resumes.
    """
    claimed = context.jobs.claim(current, now=context.clock())
    bank = context.banks.get(claimed.bank)
    config = bank_config(context.banks.document(claimed.bank))
    if bank is None or config.content_policy is None:
        reason = "the bank is gone" if bank is None else "the bank has no content policy any more"
        return context.jobs.finish(claimed, reason, now=context.clock())
    settled = (bank.updated or claimed.started) + SETTLED_AFTER
    is_twofold, is_settled = claimed.started < settled, context.clock() >= settled
    run = _Run(claimed, context, config, config.content_policy, is_twofold, is_settled)
    try:
        return job.proceed(run, context=context)
    except BudgetPaused:
        return run.pause()


@dataclass(slots=True)
class _Run:
    """A run that handles an item a step; *is_twofold* tells that there are two walks, *is_settled* that both may be."""

    job: PolicyJob
    context: PolicyJobContext
    config: BankConfig
    policy: ContentPolicy
    is_twofold: bool
    is_settled: bool
    cursor: WalkCursor | None = None
    counts: Counter[str] = field(default_factory=Counter)

    def steps(self) -> Iterator[Step]:
        shards = range(2 * SHARDS if self.is_twofold and self.is_settled else SHARDS)
        texts = StoredTexts(self.context.screenings.of(self.job.bank).screen(self.policy), self._vector)
        self.cursor = self.job.cursor
        for cursor, item in self.context.rewrites.items(self.job.bank, shards, self.cursor):
            yield partial(self._rewrite, cursor, item, texts)

    def pause(self) -> PolicyJob:
        return self._record()

    def finish(self) -> PolicyJob:
        if self.is_twofold and not self.is_settled:
            self.cursor = (SHARDS, "", "")
            return self._record()
        self._record()
        return self.context.jobs.finish(self.job, now=self.context.clock())

    def _rewrite(self, cursor: WalkCursor, item: RewriteStep | str, texts: StoredTexts) -> None:
        now = self.context.clock()
        is_changed = self._rewrite_chat(item, texts) if isinstance(item, str) else item(texts, now)
        self.counts[CHANGED if is_changed else KEPT] += 1
        self.cursor = cursor
        if self.counts.total() >= BATCH_ITEMS:
            self._record()

    def _rewrite_chat(self, conversation_id: str, texts: StoredTexts) -> bool:
        context = self.context
        return chat_history.rewrite(
            self.job.bank,
            conversation_id,
            texts.messages,
            histories=context.histories,
            retry_policy=context.retry_policy,
            now=context.clock(),
        )

    def _record(self) -> PolicyJob:
        counts = self.counts
        self.counts = Counter()
        self.job = self.context.jobs.record_progress(self.job, self.cursor, counts, now=self.context.clock())
        return self.job

    def _vector(self, fact: str) -> bytes:
        context = self.context
        [vector] = context.token_budget.embed(self.job.bank, self.config, [fact], context.embedder, now=context.clock())
        return vector
