"""Streams, where events are, and parked windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streambank_client import types
from streambank_client.calls import Call, PagedCall, Place, Reply, fields, listing, one, page


def list_streams(place: Place, /, *, page_size: int | None = None) -> PagedCall[types.StreamStatus]:
    """List the bank's streams with what they wait for, in pages of 1 to 1,000 (100)."""
    return listing(f"{place.path}/streams", page(types.StreamStatus, "streams"), page_size=page_size)


def find_events(
    place: Place, /, *, scope: Mapping[str, str], event_ids: Sequence[str], stream_id: str | None = None
) -> Call[list[types.EventStatus]]:
    """Return where up to 97 events of a stream are; `state` is UNKNOWN for one that was never accepted."""
    body = fields(scope=dict(scope), stream_id=stream_id, event_ids=list(event_ids))
    return Call(method="POST", path=f"{place.path}/streams:findEvents", parse=_events, repeatable=True, body=body)


def redrive_operations(place: Place, /) -> Call[types.RedrivenOperations]:
    """Try the bank's parked windows again, a hundred at most; where `is_complete` is False, the same call goes on."""
    path = f"{place.path}/operations:redrive"
    return Call(method="POST", path=path, parse=one(types.RedrivenOperations), repeatable=True)


def _events(reply: Reply) -> list[types.EventStatus]:
    return [types.EventStatus.model_validate(item) for item in reply.document.get("events") or ()]
