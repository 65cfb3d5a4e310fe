"""The markers of events that were rewritten: a fingerprint of the old text would tell something of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from streambank.model.event import StoredEvent
from streambank.store import keys, policy_codec
from streambank.store.actions import Update, equals
from streambank.store.keys import Key, Kind
from streambank.store.table import Table


@dataclass(frozen=True)
class StreamMarkers:
    """The markers of one stream; they are read when the first event of it is rewritten."""

    table: Table
    partition: str

    def updates(self, before: Sequence[StoredEvent], after: Sequence[StoredEvent]) -> Iterator[Update]:
        """Yield the writes of new fingerprints and findings for the events of one batch.

        A marker that has no event's fingerprint is that of a call, whose number is its last event's: what is left of
        its body cannot be compared any more. Cost: a query for the stream, and a round trip.
        """
        changed = {old.seq: (old, new) for old, new in zip(before, after, strict=True) if old != new}
        marker_keys = [key for seq in {*changed, before[-1].seq} for key in self._keys.get(seq, ())]
        prints = {one.seq: one.event.fingerprint() for one in before}
        for key, item in self.table.read(marker_keys).items():
            seq, has_fingerprint = item["seq"], "h" in item
            if not has_fingerprint or bytes(item["h"]) == prints.get(seq):
                if seq in changed:
                    event = changed[seq][1].event
                    # An erasure has removed the fingerprint of an event that it erased: then it stays so.
                    fingerprint = event.fingerprint() if has_fingerprint else None
                    findings = policy_codec.findings_text(event.findings)
                    yield Update(key, {"h": fingerprint, "pol": findings}, equals(seq=seq))
            elif changed:
                yield Update(key, {"h": None}, equals(seq=seq))

    @cached_property
    def _keys(self) -> dict[int, list[Key]]:
        by_seq: dict[int, list[Key]] = {}
        for item in self.table.query(self.partition, prefix=Kind.MARKER.prefix):
            by_seq.setdefault(item["seq"], []).append(keys.key_of(item))
        return by_seq
