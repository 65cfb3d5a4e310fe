"""Deleting what a filter matches, scope by scope, inside the call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from streambank.errors import Conflict, FailedPrecondition, Unavailable
from streambank.model import ids
from streambank.model.memory import Memory
from streambank.retry import RetryPolicy
from streambank.rules import consolidation
from streambank.store.memories import Memories

# More would not be done before the gateway gives up on the call.
MOST = 2_000
# A deletion is three actions of a transaction's hundred.
TOGETHER = 30


@dataclass(frozen=True, slots=True)
class Purge:
    """Which memories go: those of scopes that may match, that match."""

    bank: str
    may_match: Callable[[dict[str, str]], bool]
    matches: Callable[[Memory], bool]


def count(purge: Purge, *, memories: Memories, now: datetime) -> int:
    """Return how many memories would go.

    Raises:
        FailedPrecondition: more than 2,000.
    """
    return len(_found(purge, memories, now))


def delete(purge: Purge, *, memories: Memories, retry_policy: RetryPolicy, now: datetime) -> int:
    """Delete what matches and return how many went.

    Raises:
        FailedPrecondition: more than 2,000 match; nothing was deleted.
        Unavailable: a scope is written too fast; what was deleted stays deleted.
    """
    scopes = {ids.canonical(memory.scope): memory.scope for memory in _found(purge, memories, now)}
    return sum(_delete_in(scope, purge, memories, retry_policy, now) for scope in scopes.values())


def _found(purge: Purge, memories: Memories, now: datetime) -> list[Memory]:
    found = [
        memory
        for scope in memories.scopes(purge.bank)
        if purge.may_match(scope)
        for memory in memories.of_scope(purge.bank, scope, now=now)
        if purge.matches(memory)
    ]
    if len(found) > MOST:
        raise FailedPrecondition(
            f"{len(found)} memories match; a call deletes {MOST} at most: narrow the filter, one scope at a time"
        )
    return found


def _delete_in(
    scope: dict[str, str], purge: Purge, memories: Memories, retry_policy: RetryPolicy, now: datetime
) -> int:
    """Delete what matches in one scope, a transaction for each thirty; their revisions go by the sweep."""
    gone = 0
    for _ in retry_policy.attempts():
        view = memories.view(purge.bank, scope, now=now)
        doomed = [memory for memory in view.memories if purge.matches(memory)]
        try:
            for run, start in enumerate(range(0, len(doomed), TOGETHER)):
                some = [consolidation.deletion(memory, now=now) for memory in doomed[start : start + TOGETHER]]
                memories.commit_changes(purge.bank, scope, view.version + run, some, now=now)
                gone += len(some)
        except Conflict:
            continue
        return gone
    raise Unavailable("a scope is written too fast; try again")
