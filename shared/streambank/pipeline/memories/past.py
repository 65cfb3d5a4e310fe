"""The memories of a scope as they were: what was true at a time, and what was known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from streambank.model.memory import Memory
from streambank.model.validity import Moment
from streambank.rules import timeline
from streambank.rules.selection import Selection
from streambank.store.memories import Memories
from streambank.store.scope_revisions import ScopeRevisions


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

    Raises OutOfReach: the table did not answer.
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
    live = memories.of_scope(bank, scope, now=now)
    known = revisions.of(bank, scope, live, now=now)
    past = (timeline.memory_at(memory, known[memory.id], moment) for memory in live)
    matching = [one for one in past if one and selection.matches(one)]
    lost = (timeline.whole_since(memory, known[memory.id]) for memory in live)
    start = max((one for one in lost if one), default=None)
    oldest = min((timeline.first_evidence(memory, known[memory.id]) for memory in live), default=None)
    return PastView(matching, start or oldest)
