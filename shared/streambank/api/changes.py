"""The change feed of a bank."""

from __future__ import annotations

from functools import partial
from typing import Any

from streambank.api.api_request import ApiRequest
from streambank.api.memories import check_scope
from streambank.api.route import Routes
from streambank.model import ids
from streambank.model.change_record import FeedChange, RecordPosition
from streambank.pipeline.memories import changes as feed
from streambank.pipeline.memories.changes import FeedRequest, ScopeCursor
from streambank.rules.change_feed import FeedCursor
from streambank.rules.filtering import Filter, Kind, parse
from streambank.wire import change as wire
from streambank.wire import page_room, parameters
from streambank.wire.change import MemoryChanges

routes = Routes()
_FIELDS = {"kind": Kind.TEXT, "change_time": Kind.TIMESTAMP, "scope": Kind.TEXT_MAP}
# A mark is this much of a keyed hash: enough to tell the records of two minutes apart.
_MARK_CHARACTERS = 8


@routes.get(
    "/changes",
    "listChanges",
    "Lists what happened to memories, oldest first; every page has a token.",
    parameters=(parameters.CHANGE_FILTER, *parameters.PAGE),
)
def list_changes(request: ApiRequest) -> MemoryChanges:
    """Return a page of the changes that match a filter, from the oldest one that is kept."""
    selected = parse(request.query.get("filter", ""), _FIELDS)
    scope = selected.pinned("scope")
    read = partial(_of_scope, scope=scope) if isinstance(scope, dict) else _of_bank
    check_scope(request, scope if isinstance(scope, dict) else None)
    page, token = read(request, selected, f"changes {request.bank().id} {selected}")
    return MemoryChanges(
        changes=[wire.change(one, request.path.bank_name) for one in page],
        nextPageToken=token,
    )


def _of_scope(
    request: ApiRequest, selected: Filter, name: str, *, scope: dict[str, str]
) -> tuple[list[FeedChange], str]:
    after = request.page_position(name, int, int)
    page, end = feed.of_scope(
        request.path.bank,
        scope,
        _feed_request(request, selected),
        ScopeCursor(*after) if after else ScopeCursor(),
        changes=request.stores.changes,
        now=request.wiring.now(),
    )
    return page, request.page_token(name, [end.version, end.delivered])


def _of_bank(request: ApiRequest, selected: Filter, name: str) -> tuple[list[FeedChange], str]:
    after = request.page_position(name, int, str, int, str, str, int)
    page, end = feed.of_bank(
        request.path.bank,
        _feed_request(request, selected),
        _cursor(after) if after else FeedCursor(),
        partial(_mark, request.wiring.page_secret),
        changes=request.stores.changes,
        now=request.wiring.now(),
    )
    return page, request.page_token(name, _position(end))


def _feed_request(request: ApiRequest, selected: Filter) -> FeedRequest:
    bank_name = request.path.bank_name
    return FeedRequest(selected, request.page_size, lambda change: page_room.body_bytes(wire.change(change, bank_name)))


def _mark(secret: bytes, position: RecordPosition) -> str:
    return ids.keyed_hash(secret, position.cid, str(position.version))[:_MARK_CHARACTERS]


def _cursor(position: list[Any]) -> FeedCursor:
    time_ms, cid, version, marks, cut, delivered = position
    every = (marks[start : start + _MARK_CHARACTERS] for start in range(0, len(marks), _MARK_CHARACTERS))
    return FeedCursor(RecordPosition(time_ms, cid, version), frozenset(every), cut, delivered)


def _position(end: FeedCursor) -> list[Any]:
    after = end.after
    return [after.time_ms, after.cid, after.version, "".join(sorted(end.marks)), end.cut, end.delivered]
