"""Tombstones that came from another scope: their hashes are of that scope, so what is checked is hashed as there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from streambank.model import ids
from streambank.model.event import Event
from streambank.model.stream import StreamId
from streambank.model.tombstone import Tombstone
from streambank.rules.keyed_hashes import KeyedHashes
from streambank.rules.moves import earlier_names

Mention = tuple[StreamId, Event]


def with_current_hashes(
    left: Sequence[Tombstone], hashes: KeyedHashes, mentions: Iterable[Mention], texts: Iterable[str] = ()
) -> list[Tombstone]:
    """Return *left*, each with the *hashes* that its events and texts have in their scope now, beside its own.

    Only the events in *mentions* and the *texts* can be recognised: no way leads back from a hash.
    """
    origins = sorted({origin for one in left for origin in one.origins})
    if not origins:
        return list(left)
    events, facts = dict[str, set[str]](), dict[str, set[str]]()
    for stream, event in mentions:
        for earlier in _event_hashes(hashes, origins, stream, event):
            events.setdefault(earlier, set()).add(hashes.of_event(stream.sid, event))
    for text in texts:
        for origin in origins:
            facts.setdefault(_of_origin(hashes, origin).of_text(text), set()).add(hashes.of_text(text))
    return [replace(one, events=_joined(one.events, events), texts=_joined(one.texts, facts)) for one in left]


def _event_hashes(hashes: KeyedHashes, origins: Iterable[str], stream: StreamId, event: Event) -> Iterator[str]:
    """Yield the hashes that the event would have in *origins*; the stream of a direct generation keeps its key."""
    for origin in origins:
        scope = json.loads(origin)
        for sid in (stream.sid, *(ids.stream_key(scope, name) for name in earlier_names(stream.name))):
            event_hash = _of_origin(hashes, origin).of_event(sid, event)
            if event_hash:
                yield event_hash


def _of_origin(hashes: KeyedHashes, origin: str) -> KeyedHashes:
    return KeyedHashes.of_scope(hashes.secret, hashes.bank, json.loads(origin))


def _joined(own: frozenset[str], current: dict[str, set[str]]) -> frozenset[str]:
    return own.union(*(current[one] for one in own & current.keys()))
