"""Exports of a scope or of a bank, and imports of an export."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streambank_client import types
from streambank_client.calls.replies import OperationSnapshot, read_operation
from streambank_client.calls.requests import body_fields
from streambank_client.calls.resources import ResourcePath
from streambank_client.http.call import Call


def export(
    resource: ResourcePath,
    /,
    *,
    scope: Mapping[str, str] | None = None,
    user_id: str | None = None,
    conversation_ids: Sequence[str] = (),
) -> Call[OperationSnapshot[types.Transferred]]:
    """Write the whole bank, or one scope, as lines of JSON to the deployment's bucket.

    With a *scope* the sessions of *user_id* are exported too; its default is the scope's `user_id` if the scope has no
    other key. So are the chat histories of *conversation_ids*, at most 100. Wait for the operation: it takes some time.
    The `source` of its response is the argument of `import_from`.
    """
    body = body_fields(
        scope=None if scope is None else dict(scope),
        user_id=user_id,
        conversation_ids=list(conversation_ids) or None,
    )
    return Call(
        method="POST",
        path=f"{resource.path}:export",
        parse=read_operation(types.Transferred),
        repeatable=True,
        body=body,
    )


def import_from(resource: ResourcePath, /, *, source: str) -> Call[OperationSnapshot[types.Transferred]]:
    """Import an export of this or another bank of the deployment; ids are kept, and newer records are not replaced."""
    body = body_fields(source=source)
    return Call(
        method="POST",
        path=f"{resource.path}:import",
        parse=read_operation(types.Transferred),
        repeatable=True,
        body=body,
    )
