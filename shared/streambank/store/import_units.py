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
from streambank.store.actions import Action, Put, together
from streambank.store.citation_items import citation_values
from streambank.store.memory_items import change_actions, revision_values


class ImportUnit(NamedTuple):
    """Actions of one transaction, and the change that they complete, if any."""

    actions: list[Action]
    change: Change | None = None


def import_units(bank: str, before: Memory | None, record: MemoryRecord, now: datetime) -> Iterator[ImportUnit]:
    """Yield the actions of each transaction at least: a revision, a citation, and last the memory with its name.

    The revision of a record that made the text of its memory is the memory itself. The own revision of the memory that
    is there stays, unless the record has one with its number.
    """
    cid, memory_id = ids.scope_id(record.memory.scope), record.memory.id
    own = _own_revision(record)
    memory = replace(record.memory, own_revision=own)
    older = Change(before, memory, None).stored_revisions(now)
    items = (*older, *(one for one in record.revisions if one != own))
    revisions = {keys.revision(bank, cid, memory_id, one.number): revision_values(one) for one in items}
    citations = {
        keys.citation(bank, cid, memory_id, one.sid, one.window, one.number): citation_values(one)
        for one in record.citations
    }
    for key, values in (revisions | citations).items():
        yield ImportUnit([Put(key, values)])
    before = replace(before, own_revision=None) if before else None
    change = Change(before, memory, None)
    yield ImportUnit(change_actions(bank, change, now), change)


def _own_revision(record: MemoryRecord) -> Revision | None:
    """Return the revision that made the text of a record's memory, or None if it has none."""
    made = [one for one in record.revisions if not one.is_late]
    newest = max(made, key=lambda one: one.number, default=None)
    return newest if newest and record.memory.is_recorded_by(newest) else None


def packed_units(units: Iterable[ImportUnit]) -> Iterator[list[ImportUnit]]:
    """Yield *units* in order, as many together as a transaction takes."""
    return together(units, lambda unit: unit.actions)
