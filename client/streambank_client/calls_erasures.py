"""Erasing what a scope, or a bank, holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streambank_client import types
from streambank_client.calls import Call, Place, Told, fields, told_of


def erase_scope(
    place: Place,
    /,
    *,
    scope: Mapping[str, str],
    user_id: str | None = None,
    conversation_ids: Sequence[str] = (),
    dry_run: bool = False,
) -> Call[Told[types.Erased]]:
    """Erase, for good, what was said and remembered in a scope, or with *dry_run* only count it.

    *user_id* names whose sessions go too, by default the scope's own where it has no other key; *conversation_ids* the
    chat histories, at most 100. A large scope takes its time: wait for the operation.
    """
    body = fields(
        scope=dict(scope),
        user_id=user_id,
        conversation_ids=list(conversation_ids) or None,
        dry_run=dry_run or None,
    )
    return Call(method="POST", path=f"{place.path}:eraseScope", parse=told_of(types.Erased), repeatable=True, body=body)


def erase(place: Place, /, *, force: bool = False, dry_run: bool = False) -> Call[Told[types.Erased]]:
    """Erase all that the bank holds but its configuration; takes *force*, or *dry_run*, which only counts."""
    body = fields(force=force or None, dry_run=dry_run or None)
    return Call(method="POST", path=f"{place.path}:erase", parse=told_of(types.Erased), repeatable=True, body=body)
