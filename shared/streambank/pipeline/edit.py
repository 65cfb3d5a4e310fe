"""Making, changing and rolling back one memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from streambank.errors import AlreadyExists, Conflict, FailedPrecondition, InvalidArgument, NotFound, Unavailable
from streambank.llm.ports import Embedder
from streambank.model import ids
from streambank.model.memory import Change, Memory
from streambank.rules import editing
from streambank.rules.bank_config import bank_config
from streambank.rules.editing import Edit
from streambank.store.banks import Banks
from streambank.store.memories import Memories, ScopeView
from streambank.store.table import Patience


@dataclass(frozen=True, slots=True)
class Editing:
    """What an edit needs."""

    memories: Memories
    banks: Banks
    embedder: Embedder
    patience: Patience
    now: datetime


def create_memory(
    bank: str, memory_id: str, scope: dict[str, str], edit: Edit, *, repeats: Callable[[Memory], bool], using: Editing
) -> Memory:
    """Store a memory under an id of the caller's or ours, and return it.

    A memory that is there already is the answer where it is this very call that made it (*repeats*).

    Raises:
        AlreadyExists: the id is taken, or was deleted within 48 hours.
        Unavailable: the scope is written too fast, or is being erased.
    """
    config = bank_config(using.banks.document(bank), scope)
    [vector] = using.embedder.embed([edit.fact], model=config.embedding_model)
    change = editing.creation(memory_id, scope, edit, config, vector, now=using.now)
    for _ in using.patience.attempts():
        taken = using.memories.find_or_tombstone(bank, memory_id, now=using.now)
        if taken and taken.deleted is None and repeats(taken):
            return taken
        if taken:
            raise AlreadyExists(f"there is a memory {memory_id!r} already, or was within 48 hours")
        version = using.memories.version(bank, scope)
        if _is_written(bank, scope, version, change, using):
            return change.after
    raise Unavailable("the scope is written too fast; try again")


def update_memory(bank: str, memory_id: str, scope: dict[str, str] | None, edit: Edit, *, using: Editing) -> Memory:
    """Change what *edit* names and return the memory.

    Raises:
        NotFound: there is no such memory.
        InvalidArgument: the scope that came along is another.
        Unavailable: the scope is written too fast.
    """
    model = bank_config(using.banks.document(bank)).embedding_model
    vector = using.embedder.embed([edit.fact], model=model)[0] if "fact" in edit.named else b""

    def changed(memory: Memory) -> Change:
        if scope is not None and scope != memory.scope:
            raise InvalidArgument("scope", "cannot change")
        config = bank_config(using.banks.document(bank), memory.scope)
        return editing.update(memory, edit, config, vector, now=using.now)

    return _applied(bank, memory_id, changed, using, also_deleted=False)


def roll_back(bank: str, memory_id: str, number: int, *, using: Editing) -> Memory:
    """Bring back what revision *number* said, as a new revision; a deleted memory lives again within 48 hours.

    Raises:
        NotFound: there is no such memory.
        FailedPrecondition: there is no such revision any more, or it is a deletion.
        Unavailable: the scope is written too fast.
    """

    def changed(memory: Memory) -> Change:
        target = using.memories.revision(bank, memory, number, now=using.now)
        if target is None:
            raise FailedPrecondition(f"memory {memory_id!r} has no revision {number}")
        config = bank_config(using.banks.document(bank), memory.scope)
        vector = using.embedder.embed([target.fact], model=config.embedding_model)[0] if target.fact else b""
        return editing.rollback(memory, target, config, vector, now=using.now)

    was_deleted = using.memories.find(bank, memory_id, now=using.now) is None
    memory = _applied(bank, memory_id, changed, using, also_deleted=True)
    if was_deleted:
        using.memories.lengthen_revisions(bank, ids.scope_id(memory.scope), memory_id)
    return memory


def _applied(
    bank: str, memory_id: str, changed: Callable[[Memory], Change], using: Editing, *, also_deleted: bool
) -> Memory:
    """Change a memory as of one version of its scope, again and again until nobody was faster."""
    find = using.memories.find_or_tombstone if also_deleted else using.memories.find
    for _ in using.patience.attempts():
        known = find(bank, memory_id, now=using.now)
        if known is None:
            raise NotFound(f"there is no memory {memory_id!r}")
        version = using.memories.version(bank, known.scope)
        current = find(bank, memory_id, now=using.now)  # read after the version, never before
        if current is None:
            continue
        change = changed(current)
        if _is_written(bank, current.scope, version, change, using):
            return change.after
    raise Unavailable("the scope is written too fast; try again")


def _is_written(bank: str, scope: dict[str, str], version: ScopeView, change: Change, using: Editing) -> bool:
    if version.erasing:
        raise Unavailable("the scope is being erased; try again")
    try:
        using.memories.commit_change(bank, scope, version.version, change, now=using.now)
    except Conflict:
        return False
    return True
