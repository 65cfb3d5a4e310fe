"""The memories of an import as units that are written whole, packed into transactions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from streambank.model import ids
from streambank.model.memory import Change, Memory, Revision
from streambank.model.record import MemoryRecord
from streambank.store import keys
from streambank.store.actions import Action, Put, written_bytes
from streambank.store.memory_items import change_actions, citation_values, revision_values

# TransactWriteItems takes 100 actions, of which the scope's version, its registry entry, the bank's check and the
# record of the changes are four.
_MOST_ACTIONS = 90
_MOST_BYTES = 3_500_000


class ImportUnit(NamedTuple):
    """Actions of one transaction, and the change that they complete, if any."""

    actions: list[Action]
    change: Change | None = None


def import_units(bank: str, before: Memory | None, record: MemoryRecord, now: datetime) -> Iterator[ImportUnit]:
    """Yield the actions of each transaction at least: a revision, a citation, and last the memory with its name.

    A record's only revision that says what its memory does is the memory itself. The first revision of the memory that
    is there stays, unless the record has one with its number.
    """
    cid, memory_id = ids.scope_id(record.memory.scope), record.memory.id
    first = _first_revision(record)
    older = Change(before, record.memory, None).stored_revisions(now)
    items = () if first else (*older, *record.revisions)
    revisions = {keys.revision(bank, cid, memory_id, one.number): revision_values(one) for one in items}
    citations = {
        keys.citation(bank, cid, memory_id, one.sid, one.window, one.number): citation_values(one)
        for one in record.citations
    }
    for key, values in (revisions | citations).items():
        yield ImportUnit([Put(key, values)])
    before = replace(before, first_revision=None) if before else None
    change = Change(before, replace(record.memory, first_revision=first), None)
    yield ImportUnit(change_actions(bank, change, now), change)


def _first_revision(record: MemoryRecord) -> Revision | None:
    """Return the only revision of a record whose memory never changed its text, or None."""
    is_only = len(record.revisions) == 1 and record.memory.is_recorded_by(record.revisions[0])
    return record.revisions[0] if is_only else None


def packed_units(units: Iterable[ImportUnit]) -> Iterator[list[ImportUnit]]:
    """Yield *units* in order, as many together as a transaction takes."""
    batch, count, size = list[ImportUnit](), 0, 0
    for unit in units:
        length, weight = len(unit.actions), written_bytes(unit.actions)
        if batch and (count + length > _MOST_ACTIONS or size + weight > _MOST_BYTES):
            yield batch
            batch, count, size = [], 0, 0
        batch, count, size = [*batch, unit], count + length, size + weight
    if batch:
        yield batch
