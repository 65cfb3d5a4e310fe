"""The vector index of a large scope: built when the scope has grown, kept up, compared now and then, and removed.

Each change of a scope has a record with the version that it made. The index follows these records in their order, so
it does not matter which records of the table's stream were lost. A walk compares every entry with its memory, and
mends it: it builds an index, and repeats once a week.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from itertools import islice

from streambank.model.scope_index import INDEX_LAG, LARGE_SCOPE, IndexState, ScopeIndex
from streambank.pipeline.jobs.job import JobContext
from streambank.store import keys
from streambank.store.changes import Changes
from streambank.store.keys import Kind
from streambank.store.memories import Memories
from streambank.store.scope_indexes import ScopeIndexes, memory_key

# How often the sweep looks after an index that is complete, and how often it compares all entries.
CHECKED_EVERY = timedelta(hours=6)
COMPARED_EVERY = timedelta(days=7)
# When the sweep resumes a walk that has recorded no progress since.
RESUMED_AFTER = timedelta(minutes=1)
# After so long without a sweep, records of changes may have expired: everything is compared.
MISSED_AFTER = timedelta(hours=12)
_BATCH = 100
_RECORDS = 25


@dataclass(frozen=True, slots=True)
class IndexContext(JobContext):
    """What the work on an index needs; scopes with half of *large* memories, or fewer, have none."""

    indexes: ScopeIndexes
    memories: Memories
    changes: Changes
    large: int = LARGE_SCOPE


def follow(bank: str, cid: str, *, context: IndexContext) -> None:
    """Write the entries of what has changed in a scope since its index was advanced; a scope may have no index.

    Raises:
        Conflict: another run follows the changes at the same time.
    """
    index = context.indexes.get(bank, cid)
    while index and index.state is not IndexState.DROPPING:
        index = _followed(index, context)
        if not context.has_time():
            return


def resume(bank: str, cid: str, *, context: IndexContext) -> None:
    """Go on with the work on the index of a scope until it is done or the time is over. Raises as `follow` does."""
    index = context.indexes.get(bank, cid)
    if index and index.state is not IndexState.DROPPING:
        follow(bank, cid, context=context)
        index = context.indexes.get(bank, cid)
    while index:
        index = _step(index, context)
        if not context.has_time():
            return


def _followed(index: ScopeIndex, context: IndexContext) -> ScopeIndex | None:
    """Handle the next records of changes and return the index; None if there are none."""
    now = context.clock()
    records = context.changes.of_scope(index.bank, index.scope, index.version, now=now, page=_RECORDS)
    batch = list(islice(records, _RECORDS))
    if not batch:
        return None
    changed = dict.fromkeys(one.memory_id for record in batch for one in record.memories if one.memory_id)
    live = context.memories.of_ids(index.bank, index.scope, changed, now=now)
    context.indexes.put(index, live, now=now)
    context.indexes.remove_entries(index, changed.keys() - {one.id for one in live})
    return context.indexes.advance(index, batch[-1].version, now=now)


def _step(index: ScopeIndex, context: IndexContext) -> ScopeIndex | None:
    """Take one step of the work on an index and return the index; None if there is nothing left to do."""
    if index.state is IndexState.DROPPING:
        return _drop(index, context)
    now = context.clock()
    if index.cursor == keys.LAST:
        is_visible = now >= index.due
        return context.indexes.record_walk(index, state=IndexState.READY, cursor="") if is_visible else None
    if index.state is IndexState.BUILDING or index.cursor:
        return _walk(index, context)
    if _is_small(index, context):
        return context.indexes.record_walk(index, state=IndexState.DROPPING, due=now)
    if now - index.walked >= COMPARED_EVERY or now - index.due >= MISSED_AFTER:
        return context.indexes.record_walk(index, cursor=Kind.MEMORY.prefix, walked=now, due=now)
    context.indexes.record_walk(index, due=now + CHECKED_EVERY)
    return None


def _walk(index: ScopeIndex, context: IndexContext) -> ScopeIndex | None:
    """Compare the next memories with their entries, behind the last memory the next entries with their memories."""
    now = context.clock()
    if not index.cursor.startswith((Kind.ENTRY.prefix, Kind.PROFILE_ENTRY.prefix)):
        memories = context.indexes.memories_after(index, index.cursor, _BATCH)
        context.indexes.put(index, [one for one in memories if one.is_live(now)], now=now)
        cursor = memory_key(memories[-1]) if memories else Kind.ENTRY.prefix
        return context.indexes.record_walk(index, cursor=cursor, due=now + RESUMED_AFTER)
    entries = context.indexes.entries_after(index, index.cursor, _BATCH)
    if not entries:  # a search sees the last of them some time later
        return context.indexes.record_walk(index, cursor=keys.LAST, due=now + INDEX_LAG)
    names = {keys.name_in(entry.sk) for entry in entries}
    live = {one.id for one in context.memories.of_ids(index.bank, index.scope, names, now=now)}
    context.indexes.remove_entries(index, sorted(names - live))
    return context.indexes.record_walk(index, cursor=entries[-1].sk, due=now + RESUMED_AFTER)


def _drop(index: ScopeIndex, context: IndexContext) -> ScopeIndex | None:
    entries = context.indexes.entries_after(index, "", _BATCH)
    if not entries:
        context.indexes.remove(index)
        return None
    context.indexes.drop_entries(entries)
    return index


def _is_small(index: ScopeIndex, context: IndexContext) -> bool:
    """Tell whether a scope has shrunk so far that it is read whole again."""
    most = context.large // 2
    memories = context.indexes.memories_after(index, "", most + 1)
    return sum(one.is_live(context.clock()) for one in memories) <= most and len(memories) <= most
