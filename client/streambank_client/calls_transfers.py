"""Exporting what a scope, or a bank, holds, and importing what was exported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streambank_client import types
from streambank_client.calls import Call, Place, Told, fields, told_of


def export(
    place: Place,
    /,
    *,
    scope: Mapping[str, str] | None = None,
    user_id: str | None = None,
    conversation_ids: Sequence[str] = (),
) -> Call[Told[types.Transferred]]:
    """Write all that the bank holds, or one scope, as lines of JSON to the deployment's bucket.

    With a *scope* go the sessions of *user_id*, by default the scope's own where it has no other key, and the chat
    histories of *conversation_ids*, at most 100. It takes its time: wait for the operation, whose `source` is what
    `import_from` takes.
    """
    body = fields(
        scope=None if scope is None else dict(scope),
        user_id=user_id,
        conversation_ids=list(conversation_ids) or None,
    )
    return Call(
        method="POST", path=f"{place.path}:export", parse=told_of(types.Transferred), repeatable=True, body=body
    )


def import_from(place: Place, /, *, source: str) -> Call[Told[types.Transferred]]:
    """Take in what this or another bank of the deployment exported; ids are kept, and what is newer stays."""
    body = fields(source=source)
    return Call(
        method="POST", path=f"{place.path}:import", parse=told_of(types.Transferred), repeatable=True, body=body
    )
