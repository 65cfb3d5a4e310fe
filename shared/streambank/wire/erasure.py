"""Erasures in requests and replies."""

from collections.abc import Mapping
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from streambank.errors import InvalidArgument
from streambank.model.erasure import Erasure, ErasureTarget
from streambank.wire.fields import RequiredId, Scope
from streambank.wire.model import RequestModel
from streambank.wire.reply import Counts, Time, optional_time, rfc3339, without_nulls

MAX_CONVERSATIONS = 100
_USER = "user_id"

ConversationIds = Annotated[list[RequiredId], Field(max_length=MAX_CONVERSATIONS)]


class EraseScopeRequest(RequestModel):
    """A scope, and what goes with it: the sessions of a user and conversations, which have no scope."""

    scope: Scope
    user_id: RequiredId | None = None
    conversation_ids: ConversationIds = []
    dry_run: bool = False


class EraseRequest(RequestModel):
    force: bool = False
    dry_run: bool = False

    def check_forced(self) -> None:
        """Raise InvalidArgument if a whole bank would be erased by a call that does not say so."""
        if not self.force and not self.dry_run:
            raise InvalidArgument("force", "must be true: everything that the bank holds will be deleted")


def target(scope: Mapping[str, str], user_id: str | None, conversation_ids: list[str]) -> ErasureTarget:
    """Return what is erased or exported beside a scope.

    A scope of one user has that user's sessions, unless the request names another user.
    """
    own_user = scope[_USER] if scope.keys() == {_USER} else None
    return ErasureTarget(user_id or own_user, tuple(dict.fromkeys(conversation_ids)))


class ErasureMetadata(TypedDict):
    """How far the erasure has come."""

    state: str
    startTime: Time
    erased: Counts


class ErasureManifest(TypedDict):
    """What was deleted, or what would be deleted if this were no dry run."""

    erased: NotRequired[Counts]
    wouldErase: NotRequired[Counts]
    endTime: NotRequired[Time | None]


class ErasureOperation(TypedDict):
    """Done, or continued by the sweep; GET returns how far it has come."""

    name: str
    done: bool
    metadata: NotRequired[ErasureMetadata]
    response: NotRequired[ErasureManifest]


def erasure_operation(erasure: Erasure, bank_name: str) -> ErasureOperation:
    """Return the operation of an erasure."""
    metadata = ErasureMetadata(
        state="DONE" if erasure.ended else "ERASING",
        startTime=rfc3339(erasure.started),
        erased=dict(erasure.counts),
    )
    operation = ErasureOperation(
        name=f"{bank_name}/operations/{erasure.id}", done=erasure.ended is not None, metadata=metadata
    )
    if erasure.ended:
        manifest = ErasureManifest(erased=dict(erasure.counts), endTime=optional_time(erasure.ended))
        operation["response"] = without_nulls(manifest)
    return operation


def dry_run_operation(counts: Mapping[str, int], bank_name: str) -> ErasureOperation:
    """Return the operation of a dry run, which is done already."""
    manifest = ErasureManifest(wouldErase=dict(counts))
    return ErasureOperation(name=f"{bank_name}/operations/erase", done=True, response=manifest)
