"""The memories of a scope as they were: what was true at a time, and what was known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from streambank.errors import FailedPrecondition
from streambank.model.memory import Memory
from streambank.model.validity import Moment
from streambank.rules import timeline
from streambank.rules.selection import Selection
from streambank.store.memories import Memories
from streambank.store.scope_revisions import ScopeRevisions

# How many memories of a scope as they were are compared with each other.
MAX_PAST = 20_000


@dataclass(frozen=True, slots=True)
class PastView:
    """The memories of some scopes at a moment, newest first.

    The answer misses no text from *start* on: None where the scopes have no memory.
    """

    memories: Sequence[Memory]
    start: datetime | None


def in_scopes_at(
    bank: str,
    scopes: Sequence[Mapping[str, str]],
    selection: Selection,
    moment: Moment,
    *,
    memories: Memories,
    revisions: ScopeRevisions,
    now: datetime,
) -> PastView:
    """Return the live memories of *scopes* as they were at *moment*, those that *selection* matches as they were then.

    Raises:
        FailedPrecondition: more than 20,000 of a scope match.
        OutOfReach: the table did not answer.
    """
    views = [
        _in_scope_at(bank, scope, selection, moment, memories=memories, revisions=revisions, now=now)
        for scope in scopes
    ]
    past = sorted(
        (memory for view in views for memory in view.memories),
        key=lambda memory: (memory.created, memory.id),
        reverse=True,
    )
    return PastView(past, max((view.start for view in views if view.start), default=None))


def _in_scope_at(
    bank: str,
    scope: Mapping[str, str],
    selection: Selection,
    moment: Moment,
    *,
    memories: Memories,
    revisions: ScopeRevisions,
    now: datetime,
) -> PastView:
    matching, starts, first_evidence = list[Memory](), list[datetime](), list[datetime]()
    live = memories.each_of_scope(bank, scope, now=now)
    for memory, known in revisions.each(bank, scope, live, now=now):
        past = timeline.memory_at(memory, known, moment)
        if past and selection.matches(past):
            matching.append(past)
        if len(matching) > MAX_PAST:
            raise FailedPrecondition(f"more than {MAX_PAST} memories match at that time; narrow the filter")
        start = timeline.whole_since(memory, known)
        starts += [start] if start else []
        first_evidence.append(timeline.first_evidence(memory, known))
    return PastView(matching, max(starts, default=None) or min(first_evidence, default=None))
