"""The ids of imported memories and sessions: their own, or new ones where the bank has others under these."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from streambank.errors import Conflict
from streambank.model import ids
from streambank.model.memory import Memory
from streambank.model.record import MemoryRecord
from streambank.store.imports import Imports

# A record's own id, and new ones, of which nobody can have the first but an import.
_MOST_CHOICES = 5


class MemoryOrigin(NamedTuple):
    """What tells the memories of exports apart: the id in the exporting bank, and the creation."""

    memory_id: str
    created: datetime


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
    new_id = _chosen_id(bank, memory.scope, MemoryOrigin(memory.id, memory.created), choice, secret)
    revisions = tuple(replace(one, memory_id=new_id) for one in record.revisions)
    return replace(record, memory=replace(memory, id=new_id), revisions=revisions)


def _chosen_id(bank: str, scope: Mapping[str, str], origin: MemoryOrigin, choice: int, secret: bytes) -> str:
    if choice == 0:
        return origin.memory_id
    known = (bank, ids.canonical(scope), origin.created.isoformat(), str(choice), origin.memory_id)
    return ids.secret_id(secret, "import", *known)


def live_memories(
    bank: str,
    scope: Mapping[str, str],
    origins: Collection[MemoryOrigin],
    *,
    imports: Imports,
    secret: bytes,
    now: datetime,
) -> dict[MemoryOrigin, Memory]:
    """Return those of the memories *origins* of a scope that are live, under whichever id an import gave them."""
    live, waiting = dict[MemoryOrigin, Memory](), list(origins)
    for choice in range(_MOST_CHOICES):
        names = [_chosen_id(bank, scope, one, choice, secret) for one in waiting]
        owners = imports.id_owners(bank, scope, names, now=now) if names else []
        rest = list[MemoryOrigin]()
        for origin, owner in zip(waiting, owners, strict=True):
            if owner.memory and owner.memory.created == origin.created:
                live |= {origin: owner.memory} if owner.memory.is_live(now) else {}
            elif owner.memory or owner.is_of_other_scope:
                rest.append(origin)
        waiting = rest
    return live


def session_ids(bank: str, session_id: str, first: int, *, secret: bytes) -> tuple[str, str]:
    """Return the ids that an imported session may have: its own, and the one where another session has that."""
    return session_id, ids.secret_id(secret, "session", bank, str(first), session_id)
