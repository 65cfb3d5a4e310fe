"""Erasures: jobs that are written where every writer looks, and the deletions that they consist of.

A scope's job is in its `V`: who commits there sees it. What one has come to is in a stream's `CUT`, so that a job that
is taken up again erases no event that arrived since it began. Identifiers stay: a stream's HEAD, which is never reset,
the ids of events that were accepted (as hashes, or a client that sends them again would bring all of it back), and
scopes by their names.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from streambank.errors import Conflict
from streambank.model import ids
from streambank.model.erasure import Cut, Erasure, ErasureTarget, RegistryCursor
from streambank.model.stream import Head
from streambank.model.window import Window, WindowState
from streambank.store import codec, keys, text
from streambank.store.actions import Action, Condition, Delete, Put, Update, absent, equals, present
from streambank.store.attributes import milliseconds
from streambank.store.erasure_items import erased, erasure_of, job_values, summed
from streambank.store.keys import Key
from streambank.store.table import Table

# When the sweep takes up a job whose caller has gone.
RESUMED_AFTER = timedelta(minutes=1)
_LAST_SEQ = 10**12 - 1
_WHOLE_BANK = ""
START: RegistryCursor = (0, "")


class Erasures:
    """The access patterns of an erasure."""

    def __init__(self, table: Table) -> None:
        self._table = table

    # ---- jobs

    def begin(self, bank: str, scope: Mapping[str, str], asked: ErasureTarget, *, now: datetime) -> Erasure:
        """Enter an erasure of a scope, from which on nothing is committed there, and return it; or the one under way.

        Raises:
            Conflict: somebody else wrote the scope meanwhile.
        """
        cid = ids.scope_id(scope)
        key, spelled = keys.version(bank, cid), text.dumps(dict(scope))
        item = self._table.get(key)
        if item and item.get("erasing"):
            return erasure_of(bank, cid, item)
        values = {**job_values(item, asked, now), "ver": item["ver"] + 1 if item else 1}
        due = codec.due_values(key, now + RESUMED_AFTER)
        if item:
            self._table.write(Update(key, {**values, **due}, equals(ver=item["ver"])))
        else:
            entry = Put(keys.registered_scope(bank, cid), {"sco": spelled})
            self._table.transact([Put(key, {**values, **due, "sco": spelled}, absent()), entry])
        return erasure_of(bank, cid, {"sco": spelled, **values})

    def begin_bank(self, bank: str, *, now: datetime) -> Erasure:
        """Enter an erasure of a whole bank and return it; or the one under way. Raises Conflict."""
        key = keys.bank_erasure(bank)
        item = self._table.get(key)
        if item and item.get("erasing"):
            return erasure_of(bank, _WHOLE_BANK, item)
        values = {**job_values(item, ErasureTarget(), now), **codec.due_values(key, now + RESUMED_AFTER)}
        condition: Condition = equals(era=item["era"]) if item else absent()
        self._table.write(Put(key, values, condition))
        return erasure_of(bank, _WHOLE_BANK, values)

    def find(self, bank: str, cid: str) -> Erasure | None:
        """Return the newest erasure of a scope, or of the bank where *cid* is empty; None if there never was one."""
        item = self._table.get(_key(bank, cid))
        return erasure_of(bank, cid, item) if item and "era" in item else None

    def pause(self, erasure: Erasure, counts: Counter[str], place: RegistryCursor, *, now: datetime) -> None:
        """Book what went so far, and of a bank how far one has come; the sweep goes on.

        Raises:
            Conflict: the job is no longer under way.
        """
        key = _key(erasure.bank, erasure.cid)
        booked: codec.Values = {"man": summed(erasure, counts), "shd": place[0], "ent": place[1] or None}
        values = {**booked, **codec.due_values(key, now + RESUMED_AFTER)}
        self._table.write(Update(key, values, equals(erasing=erasure.number)))

    def finish(self, erasure: Erasure, counts: Counter[str], *, now: datetime) -> None:
        """End a job: generations of the scope go on. Raises Conflict if somebody else ended it."""
        key = _key(erasure.bank, erasure.cid)
        item = self._table.get(key) or {}
        values: codec.Values = {
            "erasing": None,
            "ask": None,
            "eend": milliseconds(now),
            "shd": None,
            "ent": None,
            "man": summed(erasure, counts),
            **codec.due_values(key, None),
        }
        condition = equals(erasing=erasure.number)
        if erasure.cid:
            values, condition = {**values, "ver": item.get("ver", 0) + 1}, condition & equals(ver=item.get("ver", 0))
        self._table.write(Update(key, values, condition))

    # ---- what a bank or a scope has

    def scopes(self, bank: str, after: RegistryCursor = START) -> Iterator[tuple[RegistryCursor, dict[str, str]]]:
        """Yield each scope of a bank in which anything was ever said or remembered, and its place, after *after*."""
        for shard in range(after[0], keys.REGISTRY_SHARDS):
            seen: set[str] = set()
            first = after[1] if shard == after[0] else ""
            for entry in self._table.query(keys.registry(bank, shard), between=(first or "C#", "S#~")):
                kind, *names = entry["SK"].split("#")
                if kind in ("C", "S") and names[0] not in seen and entry["SK"] != first:
                    scope = json.loads(entry["sco"]) if kind == "C" else self._scope_of(bank, names[1])
                    if scope is not None:
                        seen.add(names[0])
                        yield (shard, entry["SK"]), scope

    def _scope_of(self, bank: str, sid: str) -> dict[str, str] | None:
        """Return the scope of a stream: its head's, or that of the one window that no head stands behind."""
        for key in (keys.head(bank, sid), keys.window(bank, sid, 1)):
            item = self._table.get(key)
            if item:
                return dict(json.loads(item["sco"]))
        return None

    def streams(self, bank: str, cid: str) -> list[str]:
        """Return the sids of a scope's streams."""
        entry = keys.registered_stream(bank, cid, "")
        return [item["sid"] for item in self._table.query(entry.pk, prefix=entry.sk)]

    def registered(self, bank: str, kind: str) -> Iterator[str]:
        """Yield what a bank has of kind X (sessions, by their ids) or H (conversations, by the hashes of theirs)."""
        for shard in range(keys.REGISTRY_SHARDS):
            for item in self._table.query(keys.registry(bank, shard), prefix=f"{kind}#"):
                yield item["SK"][2:]

    # ---- streams

    def cut(self, erasure: Erasure, sid: str) -> Cut | None:
        """Return where this erasure has cut a stream, or None if it has not yet."""
        item = self._table.get(keys.cut(erasure.bank, sid))
        return Cut(item["seq"], item["win"]) if item and item["era"] == erasure.number else None

    def cut_stream(
        self, erasure: Erasure, before: Head, after: Head, closed: Window | None, expires: datetime | None
    ) -> Cut:
        """Put *after* in the place of *before*, and its open window among the erased ones: one transaction.

        Raises:
            Conflict: the stream changed meanwhile.
        """
        bank, sid = erasure.bank, before.stream.sid
        cut = Cut(before.seq, after.window - 1)
        head = Put(keys.head(bank, sid), codec.head_values(after), equals(ver=before.version))
        actions: list[Action] = [head]
        if closed:
            values = codec.window_values(closed) | {"new": None, **erased(closed, erasure.started, expires)}
            actions.append(Put(keys.window(bank, sid, closed.number), values, absent()))
        actions.append(Put(keys.cut(bank, sid), {"era": erasure.number, "seq": cut.seq, "win": cut.window}))
        self._table.transact(actions)
        return cut

    def lone_cut(self, erasure: Erasure, sid: str) -> Cut | None:
        """Return the cut of a stream that is one window and no head; None if that is newer than the erasure."""
        item = self._table.get(keys.window(erasure.bank, sid, 1))
        is_older = item is not None and codec.window_of(item).sealed <= erasure.started
        return Cut(_LAST_SEQ, 1) if is_older else None

    def is_settled(self, erasure: Erasure, sid: str) -> bool:
        """Tell whether this erasure has done with a stream."""
        item = self._table.get(keys.cut(erasure.bank, sid))
        return item is not None and item["era"] == erasure.number and "done" in item

    def settle(self, erasure: Erasure, sid: str, cut: Cut) -> None:
        """Note that this erasure has done with a stream."""
        values: codec.Values = {"era": erasure.number, "seq": cut.seq, "win": cut.window, "done": 1}
        self._table.write(Put(keys.cut(erasure.bank, sid), values))

    def windows(self, bank: str, sid: str, cut: Cut) -> Iterator[Window]:
        """Yield the windows of a stream up to *cut*."""
        ends = keys.window(bank, sid, 0), keys.window(bank, sid, cut.window)
        return map(codec.window_of, self._table.query(ends[0].pk, between=(ends[0].sk, ends[1].sk)))

    def window(self, bank: str, sid: str, number: int) -> Window | None:
        """Return a window as it is now, or None."""
        item = self._table.get(keys.window(bank, sid, number))
        return codec.window_of(item) if item else None

    def erase_window(self, window: Window, expires: datetime | None, *, now: datetime) -> bool:
        """Take from a window what callers said; one that has not ended is ERASED. False if it changed meanwhile."""
        key = keys.window(window.stream.bank, window.stream.sid, window.number)
        is_pending = window.state in (WindowState.SEALED, WindowState.PARKED)
        told: codec.Values = {"dir": None, "cfg": None, "fail": None, "held": None}
        values = told | (erased(window, now, expires) | {"att": window.attempt + 1} if is_pending else {})
        try:
            self._table.write(Update(key, values, equals(st=window.state, att=window.attempt)))
        except Conflict:
            return False
        return True

    def delete_said(self, bank: str, sid: str, cut: Cut, counts: Counter[str]) -> None:
        """Delete the events of a stream up to *cut*, and what generations worked out of them."""
        batches = keys.batch(bank, sid, 0).sk, keys.batch(bank, sid, cut.seq).sk
        found = list(self._table.query(keys.stream(bank, sid), between=batches))
        counts["events"] += sum(item["n"] for item in found)
        self._table.delete_all(_keys(found))
        results = keys.results(bank, sid, 0).sk, keys.results(bank, sid, cut.window + 1).sk
        counts["results"] += self._table.delete_all(_keys(self._table.query(keys.stream(bank, sid), between=results)))

    def blank_markers(self, bank: str, sid: str, cut: Cut, counts: Counter[str]) -> None:
        """Take the fingerprints of contents from the markers of a stream's events up to *cut*."""
        for item in self._table.query(keys.stream(bank, sid), prefix="D#"):
            if item["seq"] <= cut.seq and "h" in item:
                counts["eventFingerprints"] += self._write(Update(Key(item["PK"], item["SK"]), {"h": None}, present()))

    def _write(self, action: Update | Delete) -> bool:
        try:
            self._table.write(action)
        except Conflict:
            return False  # it expired meanwhile
        return True

    # ---- what is remembered

    def remembers(self, bank: str, cid: str) -> bool:
        """Tell whether there is anything in a scope that `delete_remembered` would delete."""
        partition = keys.scope(bank, cid)
        found = (self._table.query(partition, prefix=prefix, page=1) for prefix in ("M#", "R#", "T#"))
        return any(next(items, None) for items in found)

    def delete_remembered(self, bank: str, scope: Mapping[str, str], counts: Counter[str]) -> None:
        """Delete the memories of a scope, live and deleted ones, their revisions and what they cite."""
        partition, spelled = keys.scope(bank, ids.scope_id(scope)), text.dumps(dict(scope))
        for prefix, kind in (("T#", "citations"), ("R#", "revisions")):
            counts[kind] += self._table.delete_all(_keys(self._table.query(partition, prefix=prefix)))
        found = list(self._table.query(partition, prefix="M#"))
        for item in found:
            # The id of a memory that has expired may be another scope's by now.
            self._write(Delete(keys.memory_name(bank, item["SK"][2:]), equals(sco=spelled)))
        counts["memories"] += self._table.delete_all(_keys(found))

    # ---- counting

    def count_stream(self, bank: str, sid: str, counts: Counter[str]) -> None:
        """Count what an erasure would take from a stream."""
        for item in self._table.query(keys.stream(bank, sid)):
            match item["SK"][0]:
                case "B":
                    counts["events"] += item["n"]
                case "D":
                    counts["eventFingerprints"] += "h" in item
                case "P":
                    counts["results"] += 1
                case "W":
                    counts["windows"] += 1
                case "H":  # an open window is closed to be erased
                    counts["windows"] += item["cnt"] > 0

    def count_remembered(self, bank: str, cid: str, counts: Counter[str]) -> None:
        """Count what an erasure would take from a scope's memories."""
        for item in self._table.query(keys.scope(bank, cid)):
            kind = {"M": "memories", "R": "revisions", "T": "citations"}.get(item["SK"][0])
            if kind:
                counts[kind] += 1


def _key(bank: str, cid: str) -> Key:
    return keys.version(bank, cid) if cid else keys.bank_erasure(bank)


def _keys(items: Iterable[Mapping[str, Any]]) -> list[Key]:
    return [Key(item["PK"], item["SK"]) for item in items]
