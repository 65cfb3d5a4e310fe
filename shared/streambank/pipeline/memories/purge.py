"""Deleting what a filter matches, scope by scope, inside the call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

from streambank.errors import Conflict, FailedPrecondition, Unavailable
from streambank.model import ids
from streambank.model.bank import BankConfig
from streambank.model.change_record import ChangeStamp
from streambank.model.memory import Memory
from streambank.retry import RetryPolicy
from streambank.rules import consolidation
from streambank.rules.batches import batches
from streambank.rules.changes import record_expiry
from streambank.rules.keyed_hashes import KeyedHashes
from streambank.store.memories import Memories

# More would take longer than the gateway waits for a reply.
MAX_PURGED = 2_000
# A deletion is at most five actions of a transaction's hundred, with the memory's own revision and its tombstone;
# the scope's version, its registry entry and the record of the changes are three more.
TOGETHER = 19


@dataclass(frozen=True, slots=True)
class Purge:
    """Which memories are deleted: those that match, of scopes that may match.

    *config* says how long the change feed tells of it.
    """

    bank: str
    may_match: Callable[[dict[str, str]], bool]
    matches: Callable[[Memory], bool]
    config: BankConfig = field(default_factory=BankConfig)


def count(purge: Purge, *, memories: Memories, now: datetime) -> int:
    """Return how many memories match.

    Raises:
        FailedPrecondition: more than 2,000.
    """
    return len(_matching(purge, memories, now))


def delete(purge: Purge, *, memories: Memories, retry_policy: RetryPolicy, id_secret: bytes, now: datetime) -> int:
    """Delete the memories that match and return how many there were.

    Raises:
        FailedPrecondition: more than 2,000 match; nothing was deleted.
        Unavailable: a scope is written by others at the same time; what was deleted stays deleted.
    """
    scopes = {ids.canonical(memory.scope): memory.scope for memory in _matching(purge, memories, now)}
    return sum(_delete_in(scope, purge, memories, retry_policy, id_secret, now) for scope in scopes.values())


def _matching(purge: Purge, memories: Memories, now: datetime) -> list[Memory]:
    each = (
        memory
        for scope in memories.scopes(purge.bank)
        if purge.may_match(scope)
        for memory in memories.each_of_scope(purge.bank, scope, now=now)
        if purge.matches(memory)
    )
    matching = list(islice(each, MAX_PURGED))
    count = len(matching) + sum(1 for _ in each)
    if count > MAX_PURGED:
        raise FailedPrecondition(
            f"{count} memories match; a call deletes {MAX_PURGED} at most: narrow the filter, one scope at a time"
        )
    return matching


def _delete_in(
    scope: dict[str, str],
    purge: Purge,
    memories: Memories,
    retry_policy: RetryPolicy,
    id_secret: bytes,
    now: datetime,
) -> int:
    """Delete what matches in one scope, nineteen in a transaction; the sweep lets their revisions expire."""
    hashes = KeyedHashes.of_scope(id_secret, purge.bank, scope)
    stamp, deleted = ChangeStamp(now, record_expiry(purge.config, now=now)), 0
    for _ in retry_policy.attempts():
        version = memories.version(purge.bank, scope).version
        matching = [one for one in memories.each_of_scope(purge.bank, scope, now=now) if purge.matches(one)]
        try:
            for run, batch in enumerate(batches(matching, TOGETHER)):
                some = [consolidation.deletion(memory, hashes, now=now) for memory in batch]
                memories.commit_changes(purge.bank, scope, version + run, some, now=now, stamp=stamp)
                deleted += len(some)
        except Conflict:
            continue
        return deleted
    raise Unavailable("a scope is written by others at the same time; try again")
