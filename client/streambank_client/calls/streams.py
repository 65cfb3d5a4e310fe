"""Streams, the state of their events, and parked windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streambank_client import types
from streambank_client.calls.replies import list_call, read_object, read_page
from streambank_client.calls.requests import body_fields
from streambank_client.calls.resources import ResourcePath
from streambank_client.http.call import Call, JsonReply, PagedCall


def list_streams(resource: ResourcePath, /, *, page_size: int | None = None) -> PagedCall[types.StreamStatus]:
    """List the bank's streams with their next trigger; *page_size* is 1 to 1,000 (100)."""
    return list_call(f"{resource.path}/streams", read_page(types.StreamStatus, "streams"), page_size=page_size)


def find_events(
    resource: ResourcePath, /, *, scope: Mapping[str, str], event_ids: Sequence[str], stream_id: str | None = None
) -> Call[list[types.EventStatus]]:
    """Return the state of up to 97 events of a stream, and the memories and verdicts that came of each.

    The state is UNKNOWN for an event that was never accepted.
    """
    body = body_fields(scope=dict(scope), stream_id=stream_id, event_ids=list(event_ids))
    return Call(
        method="POST", path=f"{resource.path}/streams:findEvents", parse=_read_events, repeatable=True, body=body
    )


def redrive_operations(resource: ResourcePath, /) -> Call[types.RedrivenOperations]:
    """Retry at most a hundred parked windows of the bank; repeat the call while `is_complete` is False."""
    path = f"{resource.path}/operations:redrive"
    return Call(method="POST", path=path, parse=read_object(types.RedrivenOperations), repeatable=True)


def _read_events(reply: JsonReply) -> list[types.EventStatus]:
    return [types.EventStatus.from_reply(item) for item in reply.document.get("events") or ()]
