"""The ids of imported memories and sessions: their own, or new ones where the bank has others under these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from streambank.errors import Conflict
from streambank.model import ids
from streambank.model.memory import Memory
from streambank.model.record import MemoryRecord
from streambank.store.imports import Imports

# A record's own id, and new ones, of which nobody can have the first but an import.
_MOST_CHOICES = 5


@dataclass(frozen=True, slots=True)
class NamedRecord:
    """A record under the id that it gets, and the same memory as the bank has it, if it does."""

    record: MemoryRecord
    existing: Memory | None
    is_renamed: bool


def name_memories(
    bank: str, records: Sequence[MemoryRecord], *, imports: Imports, secret: bytes, now: datetime
) -> list[NamedRecord]:
    """Return *records*, all of one scope, under ids that no other memory has; a repeated import gives the same ids.

    Raises:
        Conflict: other memories have all the ids that one could get.
    """
    named, waiting = list[NamedRecord](), list(records)
    for choice in range(_MOST_CHOICES):
        renamed = [_renamed(bank, record, choice, secret) for record in waiting]
        owners = imports.id_owners(bank, records[0].memory.scope, [one.memory.id for one in renamed], now=now)
        rest = list[MemoryRecord]()
        for original, record, owner in zip(waiting, renamed, owners, strict=True):
            if owner.is_other_than(record.memory):
                rest.append(original)
            else:
                named.append(NamedRecord(record, owner.memory, choice > 0))
        waiting = rest
        if not waiting:
            return named
    raise Conflict


def _renamed(bank: str, record: MemoryRecord, choice: int, secret: bytes) -> MemoryRecord:
    if choice == 0:
        return record
    memory = record.memory
    origin = (bank, ids.canonical(memory.scope), memory.created.isoformat(), str(choice), memory.id)
    new_id = ids.secret_id(secret, "import", *origin)
    revisions = tuple(replace(one, memory_id=new_id) for one in record.revisions)
    return replace(record, memory=replace(memory, id=new_id), revisions=revisions)


def session_ids(bank: str, session_id: str, first: int, *, secret: bytes) -> tuple[str, str]:
    """Return the ids that an imported session may have: its own, and the one where another session has that."""
    return session_id, ids.secret_id(secret, "session", bank, str(first), session_id)
