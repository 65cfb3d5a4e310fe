"""Events whose id the stream has for another content: an edited message is sent under an id of its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from streambank_client.http.drivers import Invoke, Steps
from streambank_client.limits import MAX_ID_BYTES
from streambank_client.types.events import Event


def ingest_with_edits(ingest: Callable[[Sequence[Event]], Any], events: Sequence[Event]) -> Steps[list[str]]:
    """Send events by *ingest*, which returns an operation, and send edited events again under ids of their own.

    An event is edited if the stream has its id for another content. Its new id is made of id and content, so the same
    edit is stored once, and one back to the first content is a repeat of the first event. It is sent again only once.
    Returns the ids of events that are stored under neither id.
    """
    lost: list[str] = []
    for group in _without_versions(events):
        conflicting = yield from _conflicts(ingest, group)
        edited = {edit_id(event): event for event in group if event.event_id in conflicting}
        if edited:
            renamed = [event.model_copy(update={"event_id": new_id}) for new_id, event in edited.items()]
            still = yield from _conflicts(ingest, renamed)
            lost += [edited[new_id].event_id or "" for new_id in edited if new_id in still]
    return lost


def edit_id(event: Event) -> str:
    """Return the id under which the content of *event* is stored if the stream has its id for another content."""
    content = json.dumps(event.content.document(), ensure_ascii=False, sort_keys=True)
    new_id = f"{event.event_id}-{_digest(content)[:16]}"
    return new_id if len(new_id.encode(errors="replace")) <= MAX_ID_BYTES else _digest(new_id)


def _conflicts(ingest: Callable[[Sequence[Event]], Any], events: Sequence[Event]) -> Steps[frozenset[str]]:
    operation = yield Invoke(partial(ingest, events))
    return frozenset(operation.metadata.conflicting_event_ids)


def _without_versions(events: Iterable[Event]) -> Iterator[list[Event]]:
    """Yield *events* in groups in which an id has one content: the service names a conflict by the id only."""
    group: list[Event] = []
    contents: dict[str | None, Any] = {}
    for event in events:
        if event.event_id and contents.get(event.event_id, event.content) != event.content:
            yield group
            group, contents = [], {}
        group.append(event)
        contents[event.event_id] = event.content
    if group or not contents:
        yield group


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()
