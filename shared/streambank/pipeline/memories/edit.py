"""Creating, changing and rolling back one memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from streambank.errors import AlreadyExists, Conflict, FailedPrecondition, InvalidArgument, NotFound, Unavailable
from streambank.llm.ports import Embedder
from streambank.model import ids
from streambank.model.bank import BankConfig
from streambank.model.change_record import ChangeStamp
from streambank.model.consent import LEARNING_DISABLED, Learning
from streambank.model.event import CallMarker
from streambank.model.memory import Change, Memory
from streambank.pipeline.generation.token_budget import TokenBudget
from streambank.pipeline.screening.memories import screened_revision
from streambank.pipeline.screening.screening import Screenings
from streambank.retry import RetryPolicy
from streambank.rules import edits
from streambank.rules.bank_config import bank_config
from streambank.rules.changes import record_expiry
from streambank.rules.edits import Edit
from streambank.rules.keyed_hashes import KeyedHashes
from streambank.store.banks import Banks
from streambank.store.memories import Memories
from streambank.store.scope_view import ScopeView


@dataclass(frozen=True, slots=True)
class EditContext:
    """What an edit needs."""

    memories: Memories
    banks: Banks
    embedder: Embedder
    token_budget: TokenBudget
    retry_policy: RetryPolicy
    id_secret: bytes
    now: datetime
    screenings: Screenings = field(default=Screenings())

    def vector(self, bank: str, config: BankConfig, fact: str) -> bytes:
        """Return the vector of *fact*. Raises GenerationError, also where the bank's tokens of today are used up."""
        [vector] = self.token_budget.embed(bank, config, [fact], self.embedder, now=self.now)
        return vector

    def hashes(self, bank: str, memory: Memory) -> KeyedHashes:
        """Return the keyed hashes of the scope of *memory*."""
        return KeyedHashes.of_scope(self.id_secret, bank, memory.scope)


def create_memory(
    bank: str,
    memory_id: str,
    scope: dict[str, str],
    edit: Edit,
    *,
    call: CallMarker | None = None,
    repeats: Callable[[Memory], bool],
    context: EditContext,
) -> Memory:
    """Store a memory and return it; if *repeats* is true of one that is there already, that is returned.

    Raises:
        KeyReused: the idempotency key of *call* was used with another body.
        AlreadyExists: the id is taken, or was deleted within 48 hours.
        FailedPrecondition: the scope is set to learn nothing.
        Unavailable: the scope is written by others at the same time, or is being erased.
    """
    config = bank_config(context.banks.document(bank), scope)
    vector = context.vector(bank, config, edit.fact)
    change = edits.creation(memory_id, scope, edit, config, vector, call, now=context.now)
    for _ in context.retry_policy.attempts():
        present = context.memories.find_or_deleted(bank, memory_id, now=context.now)
        if present and present.deleted is None and repeats(present):
            return present
        if present:
            raise AlreadyExists(f"there is a memory {memory_id!r} already, or was within 48 hours")
        version = context.memories.version(bank, scope)
        if version.consent.learning is Learning.DISABLED:
            raise FailedPrecondition(LEARNING_DISABLED)
        if _try_commit(bank, scope, version, change, config, context):
            return change.after
    raise Unavailable("the scope is written by others at the same time; try again")


def update_memory(
    bank: str, memory_id: str, scope: dict[str, str] | None, edit: Edit, *, context: EditContext
) -> Memory:
    """Change what *edit* names and return the memory.

    Raises:
        NotFound: there is no such memory.
        InvalidArgument: *scope* is not the memory's.
        Unavailable: the scope is written by others at the same time.
    """
    vectors = list[bytes]()

    def changed(memory: Memory, config: BankConfig) -> Change:
        if scope is not None and scope != memory.scope:
            raise InvalidArgument("scope", "cannot change")
        if "fact" in edit.fields and not vectors:  # once, and not for a memory that is not there
            vectors.append(context.vector(bank, config, edit.fact))
        vector = vectors[0] if vectors else b""
        return edits.update(memory, edit, config, vector, context.hashes(bank, memory), now=context.now)

    return _change(bank, memory_id, changed, context, also_deleted=False)


def roll_back(bank: str, memory_id: str, number: int, *, context: EditContext) -> Memory:
    """Restore the text of revision *number* as a new revision; a deleted memory can be restored for 48 hours.

    Raises:
        NotFound: there is no such memory.
        FailedPrecondition: there is no such revision any more, or it is a deletion.
        Unavailable: the scope is written by others at the same time.
    """

    def changed(memory: Memory, config: BankConfig) -> Change:
        target = context.memories.revision(bank, memory, number, now=context.now)
        if target is None:
            raise FailedPrecondition(f"memory {memory_id!r} has no revision {number}")
        if config.content_policy:
            target = screened_revision(target, context.screenings.of(bank).screen(config.content_policy))
        vector = context.vector(bank, config, target.fact) if target.fact else b""
        return edits.rollback(memory, target, config, vector, context.hashes(bank, memory), now=context.now)

    was_deleted = context.memories.find(bank, memory_id, now=context.now) is None
    memory = _change(bank, memory_id, changed, context, also_deleted=True)
    if was_deleted:
        context.memories.lengthen_revisions(bank, ids.scope_id(memory.scope), memory_id)
    return memory


def _change(
    bank: str,
    memory_id: str,
    changed: Callable[[Memory, BankConfig], Change],
    context: EditContext,
    *,
    also_deleted: bool,
) -> Memory:
    """Change a memory at one version of its scope, again if others write the scope meanwhile."""
    find = context.memories.find_or_deleted if also_deleted else context.memories.find
    for _ in context.retry_policy.attempts():
        present = find(bank, memory_id, now=context.now)
        if present is None:
            raise NotFound(f"there is no memory {memory_id!r}")
        version = context.memories.version(bank, present.scope)
        current = find(bank, memory_id, now=context.now)  # read after the version, never before
        if current is None or current.scope != present.scope:  # it was moved to another scope meanwhile
            continue
        config = bank_config(context.banks.document(bank), current.scope)
        change = changed(current, config)
        if _try_commit(bank, current.scope, version, change, config, context):
            return change.after
    raise Unavailable("the scope is written by others at the same time; try again")


def _try_commit(
    bank: str,
    scope: dict[str, str],
    version: ScopeView,
    change: Change,
    config: BankConfig,
    context: EditContext,
) -> bool:
    stamp = ChangeStamp(context.now, record_expiry(config, now=context.now))
    if version.erasing:
        raise Unavailable("the scope is being erased or moved; try again")
    try:
        context.memories.commit_change(bank, scope, version.version, change, now=context.now, stamp=stamp)
    except Conflict:
        return False
    return True
