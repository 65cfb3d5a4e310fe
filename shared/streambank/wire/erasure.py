"""Erasures as the wire asks for them and shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from streambank.errors import InvalidArgument
from streambank.model.erasure import Erasure, ErasureTarget
from streambank.wire import operation, reader
from streambank.wire.ingest import MAX_ID_BYTES
from streambank.wire.requests import WireModel
from streambank.wire.times import rfc3339, without_nulls

MAX_CONVERSATIONS = 100
_USER = "user_id"


class EraseScopeRequest(WireModel):
    scope: Any = None
    user_id: Annotated[str, Field(min_length=1, max_length=MAX_ID_BYTES)] | None = None
    conversation_ids: Annotated[list[str], Field(max_length=MAX_CONVERSATIONS)] = Field(default_factory=list)
    dry_run: bool = False


class EraseRequest(WireModel):
    force: bool = False
    dry_run: bool = False


def asked(request: EraseScopeRequest, scope: Mapping[str, str]) -> ErasureTarget:
    """Return what goes beside a scope: the sessions of its user where it names nobody else, as `generate` takes it."""
    for index, conversation_id in enumerate(request.conversation_ids):
        reader.text(conversation_id, f"conversationIds[{index}]", least_bytes=1, most_bytes=MAX_ID_BYTES)
    if request.user_id is not None:
        reader.text(request.user_id, "userId", least_bytes=1, most_bytes=MAX_ID_BYTES)
    own = scope[_USER] if scope.keys() == {_USER} else None
    return ErasureTarget(request.user_id or own, tuple(dict.fromkeys(request.conversation_ids)))


def check_forced(request: EraseRequest) -> None:
    """Raise InvalidArgument if a whole bank would be erased by a call that does not say so."""
    if not request.force and not request.dry_run:
        raise InvalidArgument("force", "must be true: all that the bank holds will be gone")


def shown(erasure: Erasure, bank_name: str) -> dict[str, Any]:
    """Return the operation of an erasure."""
    name = f"{bank_name}/operations/{erasure.id}"
    manifest: dict[str, object] = {"erased": dict(erasure.counts), "endTime": rfc3339(erasure.ended)}
    is_done = erasure.ended is not None
    document = operation.finished(name, without_nulls(manifest)) if is_done else {"name": name, "done": False}
    started = {"state": "DONE" if erasure.ended else "ERASING", "startTime": rfc3339(erasure.started)}
    return {**document, "metadata": without_nulls({**started, "erased": dict(erasure.counts)})}


def previewed(counts: Mapping[str, int], bank_name: str) -> dict[str, Any]:
    """Return the operation of a dry run, which is done already."""
    return operation.finished(f"{bank_name}/operations/erase", {"wouldErase": dict(counts)})
