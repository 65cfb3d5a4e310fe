"""The steps of a plan that wait for review instead of being carried out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from streambank.model.memory import Memory
from streambank.model.plan import Candidate, Plan, PlanStep
from streambank.model.review import Review, ReviewPolicy
from streambank.rules import held_steps, reviews
from streambank.rules.consolidation import WindowPolicy
from streambank.rules.held_steps import HeldStep
from streambank.store.reviews import Reviews
from streambank.store.streams import RetentionPolicy


@dataclass(slots=True)
class HeldSteps:
    """Makes reviews of the steps of one commit; *known* are those of the scope, read when the first step is held."""

    policy: WindowPolicy
    review_policy: ReviewPolicy
    merges: Collection[str]
    store: Reviews
    expires: datetime
    now: datetime
    known: dict[str, Review] | None = field(default=None)

    @classmethod
    def of(
        cls,
        policy: WindowPolicy,
        plan: Plan,
        memories: Mapping[str, Memory],
        store: Reviews,
        retention_policy: RetentionPolicy,
        *,
        now: datetime,
    ) -> HeldSteps:
        """Return what holds steps of *plan* back; what callers state (direct memories) is not reviewed for a policy."""
        window = policy.window
        review_policy = ReviewPolicy() if window.direct else policy.config.review_policy
        kept_until = max(window.last_arrival + retention_policy.retention, now + reviews.MIN_KEPT)
        # An acceptance reads the window: a review never outlives it.
        expires = min(kept_until, retention_policy.of_operation(window, now=now))
        return cls(policy, review_policy, held_steps.pinned_merges(plan, memories), store, expires, now)

    def divided(
        self, number: int, candidate: Candidate, steps: Sequence[PlanStep], memories: Mapping[str, Memory]
    ) -> tuple[list[PlanStep], tuple[Review, ...]]:
        """Return the steps of candidate *number* with refusals in place of held ones, and the reviews of those.

        Raises:
            OutOfReach: the table did not answer.
        """
        kept, made = list[PlanStep](), dict[str, Review]()
        for step in held_steps.held(candidate, steps, memories, self.review_policy, self.merges):
            if isinstance(step, PlanStep):
                kept.append(step)
                continue
            kept += held_steps.refused(step, self._admit(number, candidate, step, memories, made))
        return kept, tuple(made.values())

    def _admit(
        self,
        number: int,
        candidate: Candidate,
        step: HeldStep,
        memories: Mapping[str, Memory],
        made: dict[str, Review],
    ) -> str:
        """Return the reason of the verdict on a held step; its review is added to *made* if there is one."""
        known = self._known()
        review = reviews.review_of(number, candidate, step, self.policy, memories, expires=self.expires, now=self.now)
        admitted = reviews.admit(review, known)
        if isinstance(admitted, str):
            return admitted
        known[admitted.id] = made[admitted.id] = admitted
        return held_steps.REASONS[step.cause]

    def _known(self) -> dict[str, Review]:
        if self.known is None:
            stream = self.policy.window.stream
            self.known = {one.id: one for one in self.store.of_scope(stream.bank, stream.scope, now=self.now)}
        return self.known
