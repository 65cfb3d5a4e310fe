"""Moving a stream: where it goes, and its items, each as it is stored and with the numbers that it has.

First the heads change in one transaction: from then on the source's stream begins behind what is moved, and the
target's goes on with it. The target's accepts nothing until all is there. Windows go first, so that no generation of
the source looks for events that are gone; they become due when the stream is whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from streambank.model.move import Move, MovePhase, StreamMove
from streambank.model.stream import Head, StreamId
from streambank.model.window import WindowState
from streambank.rules import window as window_rules
from streambank.rules.batches import batches
from streambank.store import codec, keys
from streambank.store.actions import (
    Action,
    Condition,
    Delete,
    Put,
    Update,
    absent,
    absent_or_expired,
    as_read,
    equals,
    present,
)
from streambank.store.attributes import seconds
from streambank.store.keys import LAST, Key, Kind
from streambank.store.moves import MoveStep, copied, spelled, steps
from streambank.store.table import Table

# The kinds of a stream's items, in the order in which they are moved.
KINDS = (Kind.WINDOW, Kind.MARKER, Kind.BATCH, Kind.RESULT)
_TOGETHER = 40
# What a running generation, or the end of the window before, may change in a window.
_OF_WINDOW = ("st", "att", "cur", "held", "nxt")


class MovedStreams:
    """The steps of a move through `S#`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    # ---- where streams go

    def of_source(self, move: Move) -> list[tuple[str, StreamMove | None]]:
        """Return the keys of a scope's streams, each with where this move takes it, once that is decided."""
        entry = keys.registered_stream(move.bank, move.cid, "")
        items = self._table.query(entry.pk, prefix=entry.sk)
        return [(item["sid"], _stream_move(move, item)) for item in items]

    def heads(self, bank: str, sids: Sequence[str]) -> dict[str, Head]:
        """Return the heads of those of *sids* that have one. Cost: a round trip for each hundred."""
        items = self._table.read(keys.head(bank, sid) for sid in sids)
        return {keys.owner(key.pk)[1]: codec.head_of(item) for key, item in items.items()}

    def left_for(self, head: Head) -> str | None:
        """Return the stream to which all of this one was moved; None if it has something of its own."""
        newest = self._newest(head.stream.bank, head.stream.sid)
        is_left = newest and not head.count and (newest["seq"], newest["win"]) == (head.seq, head.window - 1)
        return str(newest["to"]) if newest and is_left else None

    def _newest(self, bank: str, sid: str) -> dict[str, Any] | None:
        moved = self._table.query(keys.stream(bank, sid), prefix=Kind.MOVED.prefix, backward=True, page=1)
        return next(moved, None)

    def cut(
        self, move: Move, head: Head, target: StreamId, into: Head | None, markers: Head | None
    ) -> tuple[StreamMove, MoveStep]:
        """Return the step that hands the stream of *head* over to *target*, whose head is *into* if it was left.

        *markers* is the head of the target's own stream with the name, where *target* has another one.
        """
        stream, after = head.stream, window_rules.leave(head)
        arriving = replace(head, stream=target, version=into.version if into else 0, due=None, is_moving=True)
        moved = StreamMove(
            stream.sid, target, markers.stream.sid if markers else target.sid, head.seq, after.window - 1
        )
        entry = keys.registered_stream(move.bank, move.cid, stream.sid)
        actions: list[Action] = [
            _head_put(head, after),
            _head_put(into, arriving),
            Update(entry, _entry_values(move, moved), present()),
            Put(keys.registered_stream(move.bank, move.target_cid, target.sid), {"sid": target.sid}),
            Put(
                keys.moved(move.bank, stream.sid, moved.window),
                {"to": target.sid, "seq": head.seq, "win": moved.window},
            ),
            Delete(keys.stream_import(move.bank, stream.sid)),
        ]
        newest = self._newest(move.bank, target.sid) if into else None
        if newest:
            actions.append(Delete(keys.key_of(newest)))
        if markers:
            actions.append(_head_put(markers, replace(markers, is_moving=True)))
        return moved, MoveStep(_cursor(moved, 0), actions, {"streams": 1, "windows": int(head.count > 0)})

    def passed(self, sid: str) -> MoveStep:
        """Return the step that leaves a stream as it is: nothing of it is left to be moved."""
        return MoveStep((MovePhase.STREAMS, sid, len(KINDS) + 1, ""), [], {})

    def adopt(self, move: Move, sid: str, counts: Mapping[str, int]) -> MoveStep | None:
        """Return the step that gives a direct generation, which has no head, to the target; None if it is gone.

        Its stream stays as it is but for its scope; *counts* are of what is in it.
        """
        key = keys.window(move.bank, sid, 1)
        item = self._table.get(key)
        if item is None:
            return None
        actions: list[Action] = [
            Update(key, {"sco": spelled(move.target)}, as_read(item, "st", "att")),
            Put(keys.registered_stream(move.bank, move.target_cid, sid), {"sid": sid}),
            Delete(keys.registered_stream(move.bank, move.cid, sid)),
        ]
        return replace(self.passed(sid), actions=actions, counts=counts)

    # ---- items

    def items(self, move: Move, moved: StreamMove, kind: int, after: str, *, now: datetime) -> Iterator[MoveStep]:
        """Yield the steps that move the items of a kind, a number in `KINDS`, behind the sort key *after*."""
        match KINDS[kind]:
            case Kind.WINDOW:
                return steps(_window_step(move, moved, item) for item in self._of_kind(move, moved, kind, after))
            case Kind.MARKER:
                return steps(self._markers(move, moved, after, now))
            case _:
                return steps(_item_step(move, moved, kind, item) for item in self._of_kind(move, moved, kind, after))

    def _of_kind(self, move: Move, moved: StreamMove, kind: int, after: str) -> Iterator[dict[str, Any]]:
        first, last = _ends(move.bank, moved, KINDS[kind])
        items = self._table.query(first.pk, between=(after or first.sk, last.sk))
        return (item for item in items if item["SK"] != after)

    def _markers(self, move: Move, moved: StreamMove, after: str, now: datetime) -> Iterator[MoveStep]:
        """Yield the markers' steps: the source keeps the ids, without the fingerprints of the contents."""
        kind, expired = KINDS.index(Kind.MARKER), seconds(now) or 0
        items = self._of_kind(move, moved, kind, after)
        live = (item for item in items if item["ttl"] >= expired and item["seq"] <= moved.seq)
        for batch in batches(live, _TOGETHER):
            targets = [keys.marker(move.bank, moved.markers, keys.name_in(item["SK"])) for item in batch]
            known = self._table.read(targets) if moved.is_renamed else {}
            for item, key in zip(batch, targets, strict=True):
                is_known = key in known and known[key]["ttl"] >= expired
                puts = [] if is_known else [_marker_put(moved, item, key, expired)]
                own = Update(keys.key_of(item), {"h": None}, equals(seq=item["seq"]))
                yield MoveStep(_cursor(moved, kind, item["SK"]), [own, *puts], {"eventFingerprints": int("h" in item)})

    # ---- the end

    def windows_due(self, move: Move, moved: StreamMove, *, now: datetime) -> Iterator[MoveStep]:
        """Yield the steps that make due what was pending: it was off index `due` while its stream was moved."""
        first, last = (keys.window(move.bank, moved.target.sid, number) for number in (0, moved.window))
        arrived = (item for item in self._table.query(first.pk, between=(first.sk, last.sk)) if "arr" in item)
        return steps(_due_step(moved, keys.key_of(item), now) for item in arrived)

    def open(self, move: Move, moved: StreamMove, *, now: datetime) -> MoveStep:
        """Return the step that lets the target's stream accept events; the sweep looks at its timers."""
        heads = self.heads(move.bank, list(dict.fromkeys((moved.target.sid, moved.markers))))
        opened = [(head, replace(head, is_moving=False, due=now if head.count else None)) for head in heads.values()]
        return MoveStep(_cursor(moved, len(KINDS) + 1), [_head_put(before, after) for before, after in opened], {})


def _head_put(before: Head | None, after: Head) -> Put:
    condition = equals(ver=before.version) if before else absent()
    values = codec.head_values(replace(after, version=after.version + 1))
    return Put(keys.head(after.stream.bank, after.stream.sid), values, condition)


def _cursor(moved: StreamMove, kind: int, sk: str = "") -> tuple[str | int, ...]:
    return (MovePhase.STREAMS, moved.sid, kind, sk)


def _entry_values(move: Move, moved: StreamMove) -> codec.Values:
    """Return what the registry entry of a moved stream says of the move."""
    target = moved.target
    return {
        "mov": move.id,
        "to": target.sid,
        "nam": target.name,
        "mks": moved.markers,
        "seq": moved.seq,
        "win": moved.window,
    }


def _stream_move(move: Move, entry: Mapping[str, Any]) -> StreamMove | None:
    if entry.get("mov") != move.id:
        return None
    target = StreamId(move.bank, entry["to"], move.target, entry["nam"])
    return StreamMove(entry["sid"], target, entry["mks"], entry["seq"], entry["win"])


def _ends(bank: str, moved: StreamMove, kind: Kind) -> tuple[Key, Key]:
    """Return the first and the last key that an item of a kind may have in what is moved."""
    sid = moved.sid
    match kind:
        case Kind.WINDOW:
            return keys.window(bank, sid, 0), keys.window(bank, sid, moved.window)
        case Kind.BATCH:
            return keys.batch(bank, sid, 0), keys.batch(bank, sid, moved.seq)
        case Kind.RESULT:
            return keys.results(bank, sid, 0), keys.results(bank, sid, moved.window + 1)
    return keys.marker(bank, sid, ""), keys.marker(bank, sid, LAST)


def _item_step(move: Move, moved: StreamMove, kind: int, item: Mapping[str, Any]) -> MoveStep:
    """Return the step of an item that says nothing of its stream: events that were accepted together, or a result."""
    key = Key(keys.stream(move.bank, moved.target.sid), item["SK"])
    if KINDS[kind] is Kind.RESULT and keys.is_of_replay(item["SK"]):  # it names the window as it was called before
        return MoveStep(_cursor(moved, kind, item["SK"]), [Delete(keys.key_of(item))], {})
    counts = {"events": item["n"]} if KINDS[kind] is Kind.BATCH else {"results": 1}
    actions: list[Action] = [Delete(keys.key_of(item)), Put(key, copied(item))]
    return MoveStep(_cursor(moved, kind, item["SK"]), actions, counts)


def _window_step(move: Move, moved: StreamMove, item: Mapping[str, Any]) -> MoveStep:
    """Return the step of a window: a pending one gets another attempt, so that none of the source has an effect."""
    values = {**copied(item), "sco": spelled(move.target), "str": moved.target.name, "new": None}
    is_pending = item["st"] == WindowState.SEALED
    if is_pending:
        values |= {"att": item["att"] + 1, "beg": None}
    if is_pending or "G1SK" in item:
        values["arr"] = 1
    key = keys.window(move.bank, moved.target.sid, item["win"])
    actions: list[Action] = [Delete(keys.key_of(item), as_read(item, *_OF_WINDOW)), Put(key, values)]
    return MoveStep(_cursor(moved, KINDS.index(Kind.WINDOW), item["SK"]), actions, {"windows": 1})


def _marker_put(moved: StreamMove, item: Mapping[str, Any], key: Key, expired: int) -> Put:
    """Return the marker in the target: in a stream that has events of its own its number is 0, before them all."""
    if not moved.is_renamed:
        return Put(key, copied(item))
    return Put(key, {**copied(item), "seq": 0, "win": 0}, absent_or_expired(expired))


def _due_step(moved: StreamMove, key: Key, now: datetime) -> MoveStep:
    arrived: Condition = equals(arr=1)
    update = Update(key, {"arr": None, **codec.due_values(key, now)}, arrived)
    return MoveStep(_cursor(moved, len(KINDS)), [update], {})
