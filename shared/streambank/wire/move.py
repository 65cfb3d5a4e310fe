"""Moves of scopes in requests and replies."""

from collections.abc import Mapping
from typing import NotRequired

from typing_extensions import TypedDict

from streambank.errors import InvalidArgument
from streambank.model.move import Move
from streambank.wire.fields import Scope
from streambank.wire.model import RequestModel
from streambank.wire.reply import Counts, Time, rfc3339


class MoveScopeRequest(RequestModel):
    """A scope, and the scope that gets all that it has."""

    scope: Scope
    target_scope: Scope
    dry_run: bool = False

    def check_distinct(self) -> None:
        """Raise InvalidArgument if the scope would be moved into itself."""
        if self.scope == self.target_scope:
            raise InvalidArgument("targetScope", "must be another scope than scope")


class MoveMetadata(TypedDict):
    """How far the move has come."""

    state: str
    startTime: Time
    scope: dict[str, str]
    targetScope: dict[str, str]
    moved: Counts


class MoveManifest(TypedDict):
    """What was moved, or what would be moved if this were no dry run."""

    moved: NotRequired[Counts]
    wouldMove: NotRequired[Counts]
    endTime: NotRequired[Time]


class MoveOperation(TypedDict):
    """Done, or continued by the sweep; GET returns how far it has come."""

    name: str
    done: bool
    metadata: NotRequired[MoveMetadata]
    response: NotRequired[MoveManifest]


def move_operation(move: Move, bank_name: str) -> MoveOperation:
    """Return the operation of a move."""
    operation = MoveOperation(
        name=f"{bank_name}/operations/{move.id}",
        done=move.ended is not None,
        metadata=MoveMetadata(
            state="DONE" if move.ended else "MOVING",
            startTime=rfc3339(move.started),
            scope=move.scope,
            targetScope=move.target,
            moved=dict(move.counts),
        ),
    )
    if move.ended:
        operation["response"] = MoveManifest(moved=dict(move.counts), endTime=rfc3339(move.ended))
    return operation


def dry_run_operation(counts: Mapping[str, int], bank_name: str) -> MoveOperation:
    """Return the operation of a dry run, which is done already."""
    manifest = MoveManifest(wouldMove=dict(counts))
    return MoveOperation(name=f"{bank_name}/operations/move", done=True, response=manifest)
