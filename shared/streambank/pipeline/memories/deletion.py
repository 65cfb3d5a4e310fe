"""Deleting one memory."""

from __future__ import annotations

from datetime import datetime

from streambank.errors import Conflict, NotFound, Unavailable
from streambank.model.bank import BankConfig
from streambank.model.change_record import ChangeStamp
from streambank.model.memory import Memory
from streambank.retry import RetryPolicy
from streambank.rules import consolidation
from streambank.rules.changes import record_expiry
from streambank.rules.keyed_hashes import KeyedHashes
from streambank.store.memories import Memories


def delete_memory(
    bank: str,
    memory_id: str,
    *,
    memories: Memories,
    retry_policy: RetryPolicy,
    id_secret: bytes,
    now: datetime,
    config: BankConfig | None = None,
) -> Memory:
    """Delete a memory for every reader and return what is left of it; the sweep lets its revisions expire with it.

    A tombstone keeps what was said before from bringing it back. *config* says how long the change feed tells of it.

    Raises:
        NotFound: there is no such memory.
        Unavailable: the scope is written by others at the same time.
    """
    stamp = ChangeStamp(now, record_expiry(config or BankConfig(), now=now))
    for _ in retry_policy.attempts():
        memory = memories.find(bank, memory_id, now=now)
        if memory is None:
            raise NotFound(f"there is no memory {memory_id!r}")
        view = memories.version(bank, memory.scope)
        current = memories.find(bank, memory_id, now=now)  # read after the version, never before
        if current is None or current.scope != memory.scope:  # it was moved to another scope meanwhile
            continue
        change = consolidation.deletion(current, KeyedHashes.of_scope(id_secret, bank, current.scope), now=now)
        try:
            memories.commit_change(bank, memory.scope, view.version, change, now=now, stamp=stamp)
        except Conflict:
            continue
        return change.after
    raise Unavailable("the scope is written by others at the same time; try again")
