"""Erasure of a scope or of a bank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streambank_client import types
from streambank_client.calls.replies import OperationSnapshot, read_operation
from streambank_client.calls.requests import body_fields
from streambank_client.calls.resources import ResourcePath
from streambank_client.http.call import Call


def erase_scope(
    resource: ResourcePath,
    /,
    *,
    scope: Mapping[str, str],
    user_id: str | None = None,
    conversation_ids: Sequence[str] = (),
    dry_run: bool = False,
) -> Call[OperationSnapshot[types.Erased]]:
    """Erase all events and memories of a scope for good, or with *dry_run* only count them.

    The sessions of *user_id* are erased too; its default is the scope's `user_id` if the scope has no other key. So are
    the chat histories of *conversation_ids*, at most 100. Wait for the operation: a large scope takes some time.
    """
    body = body_fields(
        scope=dict(scope),
        user_id=user_id,
        conversation_ids=list(conversation_ids) or None,
        dry_run=dry_run or None,
    )
    return Call(
        method="POST",
        path=f"{resource.path}:eraseScope",
        parse=read_operation(types.Erased),
        repeatable=True,
        body=body,
    )


def erase(
    resource: ResourcePath, /, *, force: bool = False, dry_run: bool = False
) -> Call[OperationSnapshot[types.Erased]]:
    """Erase all contents of the bank except its configuration; needs *force*, or *dry_run*, which only counts."""
    body = body_fields(force=force or None, dry_run=dry_run or None)
    return Call(
        method="POST", path=f"{resource.path}:erase", parse=read_operation(types.Erased), repeatable=True, body=body
    )
