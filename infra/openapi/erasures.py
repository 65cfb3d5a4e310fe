"""What an erasure is asked and what it answers."""

from typing import Annotated

from pydantic import Field

from infra.openapi.answered import Time
from infra.openapi.leaves import Answer, NeededId, Scope
from streambank.wire import erasure

Counts = Annotated[dict[str, int], Field(examples=[{"events": 3, "memories": 1}])]
Conversations = Annotated[list[NeededId], Field(max_length=erasure.MAX_CONVERSATIONS)]


class EraseScopeRequest(erasure.EraseScopeRequest):
    """A scope, and what goes with it: the sessions of a user and conversations, which have no scope."""

    scope: Scope
    user_id: NeededId | None = None
    conversation_ids: Conversations = Field(default_factory=list)


class ErasureMetadata(Answer):
    """How far it has come."""

    state: str
    start_time: Time
    erased: Counts


class ErasureManifest(Answer):
    """What went, or what would go if this were no dry run."""

    erased: Counts | None = None
    would_erase: Counts | None = None
    end_time: Time | None = None


class ErasureOperation(Answer):
    """Done, or gone on with by the sweep; GET shows how far it has come."""

    name: str
    done: bool
    metadata: ErasureMetadata | None = None
    response: ErasureManifest | None = None
