"""Moving a scope into another one."""

from __future__ import annotations

from collections.abc import Mapping

from streambank_client import types
from streambank_client.calls.replies import OperationSnapshot, read_operation
from streambank_client.calls.requests import body_fields
from streambank_client.calls.resources import ResourcePath
from streambank_client.http.call import Call


def move_scope(
    resource: ResourcePath, /, *, scope: Mapping[str, str], target_scope: Mapping[str, str], dry_run: bool = False
) -> Call[OperationSnapshot[types.Moved]]:
    """Move all events and memories of *scope* to *target_scope*, or with *dry_run* only count them.

    Memories keep their names, revisions and sources, and the ids of events stay known. The target may have memories and
    streams of its own: a stream whose name it has used gets a name of its own. Wait for the operation: a large scope
    takes some time.
    """
    body = body_fields(scope=dict(scope), target_scope=dict(target_scope), dry_run=dry_run or None)
    return Call(
        method="POST",
        path=f"{resource.path}:moveScope",
        parse=read_operation(types.Moved),
        repeatable=True,
        body=body,
    )
