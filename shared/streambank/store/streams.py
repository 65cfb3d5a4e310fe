"""Streams: reading the state that a call needs, committing the call, sealing the window."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from streambank.errors import Conflict, HeadBehind
from streambank.model import ids
from streambank.model.bank import Bank
from streambank.model.consent import Consent
from streambank.model.event import CallMarker, EventMarker, KeyedEvent
from streambank.model.stream import Head, StreamId
from streambank.model.window import Window
from streambank.rules import window as window_rules
from streambank.rules.ingest_parts import split_into_batches
from streambank.store import codec, keys, policy_codec, text
from streambank.store.actions import Action, Delete, Put, above, absent, absent_or_expired, equals
from streambank.store.attributes import milliseconds, seconds
from streambank.store.banks import bank_of
from streambank.store.keys import Kind
from streambank.store.table import Table

_OPERATION_GRACE = timedelta(days=1)
# The sweep suspends the expiry of a window that has been pending for 7 days.
_RESULTS_MARGIN = timedelta(days=8)
# TransactWriteItems accepts 100 actions: the head and a registry entry are among them.
_MAX_DELETED = 98


@dataclass(frozen=True, slots=True)
class IngestSnapshot:
    """What a call reads in one round trip: its stream's head, its bank, and markers by their keys."""

    head: Head | None
    bank: Bank | None
    markers: dict[str, EventMarker]


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """How long raw events are kept, and how long their ids are deduplicated."""

    retention: timedelta
    dedup_horizon: timedelta

    def of_operation(self, window: Window, *, now: datetime) -> datetime:
        """Return until when the operation of a window that ends at *now* is kept: a day longer than its markers."""
        return max(window.last_arrival + self.dedup_horizon, now) + _OPERATION_GRACE

    def of_results(self, window: Window, *, now: datetime) -> datetime | None:
        """Return until when the results of a generation at *now* are kept; None while their expiry is suspended.

        They outlive the window's own record: the expiry of a window that takes longer than the margin is suspended.
        """
        return None if window.is_expiry_suspended else self.of_operation(window, now=now) + _RESULTS_MARGIN


@dataclass(frozen=True, slots=True)
class DirectCall:
    """A direct generation that may be repeated until *expires*: the hash of its idempotency key.

    *replaced* is the stream of an earlier call with the key, if that stream's window is gone.
    """

    key: str
    expires: datetime
    replaced: str | None = None


class Streams:
    """The access patterns of `S#` partitions up to the seal."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def read_snapshot(self, stream: StreamId, marker_keys: Iterable[str], *, now: datetime) -> IngestSnapshot:
        """Return the state that a call of at most 97 ids and a marker of its own needs: one round trip."""
        head_key, bank_key = keys.head(stream.bank, stream.sid), keys.bank(stream.bank)
        marker_key_of = {keys.marker(stream.bank, stream.sid, key): key for key in marker_keys}
        items = self._table.read([head_key, bank_key, *marker_key_of])
        item = items.get(head_key)
        head = codec.head_of(item) if item else None
        # A marker ahead of the head is of a call that is being written, which fails this one, or that was never whole.
        last_seq = head.seq if head else 0
        markers = {
            marker_key_of[key]: _marker_of(item)
            for key, item in items.items()
            if key in marker_key_of and item["ttl"] >= _floor(now) and item["seq"] <= last_seq
        }
        return IngestSnapshot(head, bank_of(stream.bank, items.get(bank_key)), markers)

    def consent(self, bank: str, scope: Mapping[str, str]) -> Consent:
        """Return the consent of a scope: one read."""
        return codec.consent_of(self._table.get(keys.version(bank, ids.scope_id(scope))))

    def head(self, bank: str, sid: str) -> Head | None:
        """Return the head of a stream, or None."""
        item = self._table.get(keys.head(bank, sid))
        return codec.head_of(item) if item else None

    def moved_to(self, bank: str, sid: str, number: int) -> str | None:
        """Return the stream to which a window was moved, or None."""
        first = keys.moved(bank, sid, number)
        items = self._table.query(first.pk, between=(first.sk, Kind.MOVED.prefix + keys.LAST), page=1)
        return next((str(item["to"]) for item in items), None)

    def registered(self, bank: str, after: tuple[int, str] | None) -> Iterator[tuple[int, str, str]]:
        """Yield shard, entry and sid of a bank's streams, from *after* on (that one included)."""
        for shard in range(after[0] if after else 0, keys.REGISTRY_SHARDS):
            first = after[1] if after and after[0] == shard else Kind.STREAM.prefix
            for item in self._table.query(keys.registry(bank, shard), between=(first, Kind.STREAM.prefix + keys.LAST)):
                yield shard, item["SK"], item["sid"]

    def head_and_bank(self, bank: str, sid: str) -> tuple[Head | None, Bank | None]:
        """Return the head of a stream and its bank: one round trip."""
        head_key, bank_key = keys.head(bank, sid), keys.bank(bank)
        items = self._table.read([head_key, bank_key])
        head = items.get(head_key)
        return codec.head_of(head) if head else None, bank_of(bank, items.get(bank_key))

    def commit(
        self,
        before: Head | None,
        after: Head,
        fresh: Sequence[KeyedEvent],
        marker: CallMarker | None = None,
        *,
        now: datetime,
        retention_policy: RetentionPolicy,
    ) -> Head:
        """Write *after* with its *fresh* events and the call's *marker*, and return it as stored: one transaction.

        Raises:
            Conflict: the stream was written since *before* was read.
            OutOfReach: the tries are used up, and the outcome is unknown.
        """
        stored = replace(after, version=after.version + 1)
        actions: list[Action] = [self._head_put(before, stored)]
        if before is None:
            actions.append(_registration(stored.stream))
        actions += _batch_puts(after, fresh, now, retention_policy)
        actions += _marker_puts(after, fresh, marker, now, retention_policy)
        self._transact(after.stream, before, actions)
        return stored

    def _transact(self, stream: StreamId, before: Head | None, actions: Sequence[Action]) -> None:
        """Carry out *actions*, whose first writes the head. Raises as `commit` does.

        Where the head is as it was read and another item is there already, no other writer came first: the item is
        ahead of its head, and would be so at every try.
        """
        try:
            self._table.transact(actions)
        except Conflict as conflict:
            is_race = conflict.reasons[:1] != (Conflict.PASSED,)
            occupied = [action.key.sk for index, action in enumerate(actions) if conflict.failed(index)]
            if is_race or not any(keys.kind_of(sk) in (Kind.BATCH, Kind.WINDOW) for sk in occupied):
                raise
            self._catch_up(stream, before)
            raise HeadBehind(conflict.reasons) from conflict

    def _catch_up(self, stream: StreamId, before: Head | None) -> None:
        """Mend a stream whose items are ahead of its head, which only a restore of a part of the table can make.

        A sealed window keeps its events: the head moves past it. Other events ahead of the head are in no window, and
        are deleted: no operation counts them, and their ids are new to `read_snapshot`. Raises as `commit` does.
        """
        head = before or Head(stream)
        item = self._table.get(keys.window(stream.bank, stream.sid, head.window))
        actions: list[Action] = [] if before else [_registration(stream)]
        if item:
            head = window_rules.move_past(head, codec.window_of(item))
        else:
            ends = (keys.batch(stream.bank, stream.sid, seq) for seq in (head.seq + 1, keys.LAST_NUMBER))
            first, last = (key.sk for key in ends)
            ahead = self._table.query(keys.stream(stream.bank, stream.sid), between=(first, last), page=_MAX_DELETED)
            actions += [Delete(keys.key_of(batch)) for batch in islice(ahead, _MAX_DELETED)]
        self._table.transact([self._head_put(before, replace(head, version=head.version + 1)), *actions])

    def _head_put(self, before: Head | None, after: Head) -> Put:
        condition = absent() if before is None else equals(ver=before.version)
        return Put(keys.head(after.stream.bank, after.stream.sid), codec.head_values(after), condition)

    def seal(self, before: Head, after: Head, window: Window) -> Head:
        """Close *window* and open the next one: one transaction. Raises as `commit` does."""
        stored = replace(after, version=after.version + 1)
        key = keys.window(window.stream.bank, window.stream.sid, window.number)
        window_put = Put(key, codec.window_values(window), absent())
        self._transact(window.stream, before, [self._head_put(before, stored), window_put])
        return stored

    def store_window(
        self,
        window: Window,
        events: Sequence[KeyedEvent],
        call: DirectCall | None = None,
        *,
        now: datetime,
        retention_policy: RetentionPolicy,
    ) -> None:
        """Write a window of a stream without a head, with its events: one transaction. Raises as `commit` does.

        With a *call* it is a Conflict if that call has a stream already, other than the one that it replaces.
        """
        key = keys.window(window.stream.bank, window.stream.sid, window.number)
        as_head = Head(window.stream, seq=window.last_seq, window=window.number)
        actions: list[Action] = [Put(key, codec.window_values(window), absent()), _registration(window.stream)]
        call_puts = _call_puts(window.stream, call, now) if call else []
        # Without the window, batches under these keys belong to nobody: they are replaced.
        batches = [replace(put, condition=None) for put in _batch_puts(as_head, events, now, retention_policy)]
        self._table.transact([*call_puts, *actions, *batches])

    def sid_of_call(self, bank: str, scope: Mapping[str, str], call_key: str) -> str | None:
        """Return the stream that a direct call with this key made, or None."""
        item = self._table.get(keys.direct_call(bank, ids.scope_id(scope), call_key))
        return str(item["sid"]) if item else None

    def rearm(self, head: Head, due: datetime | None) -> None:
        """Set when *head* is due, or that it is not. Raises Conflict."""
        self._table.write(self._head_put(head, replace(head, due=due, version=head.version + 1)))


def _marker_of(item: Mapping[str, Any]) -> EventMarker:
    findings = policy_codec.findings_of(json.loads(item.get("pol", "[]")))
    return EventMarker(item["seq"], item["win"], bytes(item.get("h", b"")), findings)


def _floor(now: datetime) -> int:
    return (milliseconds(now) or 0) // 1000


def _registration(stream: StreamId) -> Put:
    """A stream is registered once, with its first head: erasures and lists read the registry, nothing scans."""
    key = keys.registered_stream(stream.bank, ids.scope_id(stream.scope), stream.sid)
    return Put(key, {"sid": stream.sid})


def _call_puts(stream: StreamId, call: DirectCall, now: datetime) -> list[Action]:
    """A call's item is in its scope's partition, which is registered with it, so that it goes with the bank."""
    cid = ids.scope_id(stream.scope)
    condition = equals(sid=call.replaced) if call.replaced else absent_or_expired(_floor(now))
    values: codec.Values = {"sid": stream.sid, "ttl": seconds(call.expires)}
    registered = Put(keys.registered_scope(stream.bank, cid), {"sco": text.dumps(dict(stream.scope))})
    return [Put(keys.direct_call(stream.bank, cid, call.key), values, condition), registered]


def _batch_puts(head: Head, fresh: Sequence[KeyedEvent], now: datetime, retention_policy: RetentionPolicy) -> list[Put]:
    puts: list[Put] = []
    first = head.seq - len(fresh) + 1
    for run in split_into_batches(fresh):
        values = codec.batch_values(run, first, head.window, now)
        key = keys.batch(head.stream.bank, head.stream.sid, first)
        puts.append(Put(key, {**values, "ttl": seconds(now + retention_policy.retention)}, absent()))
        first += len(run)
    return puts


def _marker_puts(
    head: Head,
    fresh: Sequence[KeyedEvent],
    marker: CallMarker | None,
    now: datetime,
    retention_policy: RetentionPolicy,
) -> list[Action]:
    """Return the markers of events, and of their call, which has the number of its newest event."""
    first = head.seq - len(fresh) + 1
    expires = seconds(now + retention_policy.dedup_horizon)
    markers = [
        (keyed.key, first + offset, keyed.event.fingerprint(), keyed.event.findings)
        for offset, keyed in enumerate(fresh)
        if keyed.key
    ]
    if marker:
        markers.append((marker.key, head.seq, marker.fingerprint, ()))
    return [
        Put(
            keys.marker(head.stream.bank, head.stream.sid, key),
            {
                "seq": seq,
                "win": head.window,
                "h": fingerprint,
                "pol": policy_codec.findings_text(findings),
                "ttl": expires,
            },
            absent_or_expired(_floor(now)) | above(seq=head.seq - len(fresh)),
        )
        for key, seq, fingerprint, findings in markers
    ]
