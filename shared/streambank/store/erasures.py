"""Erasures: their jobs, and the deletions that they consist of.

The job of a scope's erasure is stored in the scope's `V`, which every writer of memories reads. How far it has come in
a stream is stored in the stream's `CUT`, so that an erasure that is resumed deletes no event that arrived since it
started. Identifiers stay: a stream's HEAD, which is never reset, the hashes of the ids of accepted events (a client
that sends the events again must not bring them back), and the scopes in the registry.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from streambank.errors import Conflict
from streambank.model import ids
from streambank.model.erasure import Cut, Erasure, ErasureTarget, RegistryCursor
from streambank.model.stream import Head
from streambank.model.window import Window, WindowState
from streambank.store import codec, keys, text
from streambank.store.actions import Action, Condition, Delete, Put, Update, absent, equals, present
from streambank.store.attributes import milliseconds
from streambank.store.erasure_items import counts_text, erased_values, erasure_of, job_values
from streambank.store.keys import Key, Kind
from streambank.store.table import Table

# When the sweep resumes a job that no call works on any more.
RESUMED_AFTER = timedelta(minutes=1)
_WHOLE_BANK = ""
_COUNTED: dict[str, str] = {Kind.MEMORY: "memories", Kind.REVISION: "revisions", Kind.CITATION: "citations"}
START: RegistryCursor = (0, "")


class Erasures:
    """The access patterns of an erasure."""

    def __init__(self, table: Table) -> None:
        self._table = table

    # ---- jobs

    def begin(self, bank: str, scope: Mapping[str, str], request: ErasureTarget, *, now: datetime) -> Erasure:
        """Start an erasure of a scope and return it, or the one under way; until it ends nothing is committed there.

        Raises:
            Conflict: the scope was written meanwhile.
        """
        cid = ids.scope_id(scope)
        key, spelled = keys.version(bank, cid), text.dumps(dict(scope))
        item = self._table.get(key)
        if item and item.get("erasing"):
            return erasure_of(bank, cid, item)
        values = {**job_values(item, request, now), "ver": item["ver"] + 1 if item else 1}
        due = codec.due_values(key, now + RESUMED_AFTER)
        if item:
            self._table.write(Update(key, {**values, **due}, equals(ver=item["ver"])))
        else:
            entry = Put(keys.registered_scope(bank, cid), {"sco": spelled})
            self._table.transact([Put(key, {**values, **due, "sco": spelled}, absent()), entry])
        return erasure_of(bank, cid, {"sco": spelled, **values})

    def begin_bank(self, bank: str, *, now: datetime) -> Erasure:
        """Start an erasure of a whole bank and return it, or the one under way. Raises Conflict."""
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

    def pause(self, erasure: Erasure, counts: Counter[str], cursor: RegistryCursor, *, now: datetime) -> None:
        """Record what was deleted so far, and how far the erasure of a bank has come; the sweep resumes it.

        Raises:
            Conflict: the job is no longer under way.
        """
        key = _key(erasure.bank, erasure.cid)
        progress: codec.Values = {"man": counts_text(erasure, counts), "shd": cursor[0], "ent": cursor[1] or None}
        values = {**progress, **codec.due_values(key, now + RESUMED_AFTER)}
        self._table.write(Update(key, values, equals(erasing=erasure.number)))

    def finish(self, erasure: Erasure, counts: Counter[str], *, now: datetime) -> None:
        """End a job, and let the scope be written again. Raises Conflict if it has ended or the scope was written."""
        key = _key(erasure.bank, erasure.cid)
        item = self._table.get(key) or {}
        values: codec.Values = {
            "erasing": None,
            "ask": None,
            "eend": milliseconds(now),
            "shd": None,
            "ent": None,
            "fgt": None,
            "man": counts_text(erasure, counts),
            **codec.due_values(key, None),
        }
        condition = equals(erasing=erasure.number)
        if erasure.cid:
            values, condition = {**values, "ver": item.get("ver", 0) + 1}, condition & equals(ver=item.get("ver", 0))
        self._table.write(Update(key, values, condition))

    # ---- what a bank or a scope has

    def scopes(self, bank: str, after: RegistryCursor = START) -> Iterator[tuple[RegistryCursor, dict[str, str]]]:
        """Yield each scope of a bank that has streams or memories, and where it is in the registry, after *after*."""
        last = Kind.STREAM.prefix + keys.LAST
        for shard in range(after[0], keys.REGISTRY_SHARDS):
            seen: set[str] = set()
            first = after[1] if shard == after[0] else ""
            for entry in self._table.query(keys.registry(bank, shard), between=(first or Kind.SCOPE.prefix, last)):
                kind, name, cid = keys.registry_entry(entry["SK"])
                if cid and cid not in seen and entry["SK"] != first:
                    scope = json.loads(entry["sco"]) if kind == Kind.SCOPE else self._scope_of(bank, name)
                    if scope is not None:
                        seen.add(cid)
                        yield (shard, entry["SK"]), scope

    def _scope_of(self, bank: str, sid: str) -> dict[str, str] | None:
        """Return the scope of a stream: its head's, or that of its only window where it has no head."""
        for key in (keys.head(bank, sid), keys.window(bank, sid, 1)):
            item = self._table.get(key)
            if item:
                return dict(json.loads(item["sco"]))
        return None

    def streams(self, bank: str, cid: str) -> list[str]:
        """Return the sids of a scope's streams."""
        entry = keys.registered_stream(bank, cid, "")
        return [item["sid"] for item in self._table.query(entry.pk, prefix=entry.sk)]

    def session_ids(self, bank: str) -> Iterator[str]:
        """Yield the ids of a bank's sessions."""
        return self._registered(bank, Kind.SESSION)

    def conversation_names(self, bank: str) -> Iterator[str]:
        """Yield the hashes of the ids of a bank's conversations."""
        return self._registered(bank, Kind.CHAT)

    def _registered(self, bank: str, kind: Kind) -> Iterator[str]:
        for shard in range(keys.REGISTRY_SHARDS):
            for item in self._table.query(keys.registry(bank, shard), prefix=kind.prefix):
                yield keys.registry_entry(item["SK"]).name

    # ---- streams

    def cut(self, erasure: Erasure, sid: str) -> Cut | None:
        """Return where this erasure has cut a stream, or None if it has not yet."""
        item = self._table.get(keys.cut(erasure.bank, sid))
        return Cut(item["seq"], item["win"]) if item and item["era"] == erasure.number else None

    def cut_stream(
        self, erasure: Erasure, before: Head, after: Head, closed: Window | None, expires: datetime | None
    ) -> Cut:
        """Replace the head *before* by *after*, and store its open window as erased: one transaction.

        Raises:
            Conflict: the stream was written meanwhile.
        """
        bank, sid = erasure.bank, before.stream.sid
        cut = Cut(before.seq, after.window - 1)
        head = Put(keys.head(bank, sid), codec.head_values(after), equals(ver=before.version))
        actions: list[Action] = [head]
        if closed:
            values = codec.window_values(closed) | {"new": None, **erased_values(closed, erasure.started, expires)}
            actions.append(Put(keys.window(bank, sid, closed.number), values, absent()))
        actions.append(Put(keys.cut(bank, sid), {"era": erasure.number, "seq": cut.seq, "win": cut.window}))
        self._table.transact(actions)
        return cut

    def cut_without_head(self, erasure: Erasure, sid: str) -> Cut | None:
        """Return the cut of a stream of one window without a head; None if the window is newer than the erasure."""
        item = self._table.get(keys.window(erasure.bank, sid, 1))
        is_older = item is not None and codec.window_of(item).sealed <= erasure.started
        return Cut(keys.LAST_NUMBER, 1) if is_older else None

    def is_stream_erased(self, erasure: Erasure, sid: str) -> bool:
        """Tell whether this erasure has finished a stream."""
        item = self._table.get(keys.cut(erasure.bank, sid))
        return item is not None and item["era"] == erasure.number and "done" in item

    def mark_stream_erased(self, erasure: Erasure, sid: str, cut: Cut) -> None:
        """Record that this erasure has finished a stream."""
        values: codec.Values = {"era": erasure.number, "seq": cut.seq, "win": cut.window, "done": 1}
        self._table.write(Put(keys.cut(erasure.bank, sid), values))

    def make_next_due(self, bank: str, sid: str, cut: Cut, *, now: datetime) -> None:
        """Make the window after *cut* due if it is pending: it may wait off index `due` for an erased one."""
        key = keys.window(bank, sid, cut.window + 1)
        self._write(Update(key, codec.due_values(key, now), equals(st=WindowState.SEALED)))

    def windows(self, bank: str, sid: str, cut: Cut) -> Iterator[Window]:
        """Yield the windows of a stream up to *cut*."""
        ends = keys.window(bank, sid, 0), keys.window(bank, sid, cut.window)
        return map(codec.window_of, self._table.query(ends[0].pk, between=(ends[0].sk, ends[1].sk)))

    def window(self, bank: str, sid: str, number: int) -> Window | None:
        """Return a window as it is now, or None."""
        item = self._table.get(keys.window(bank, sid, number))
        return codec.window_of(item) if item else None

    def erase_window(self, window: Window, expires: datetime | None, *, now: datetime) -> bool:
        """Delete what callers wrote in a window; one that is pending becomes ERASED. False if it changed meanwhile."""
        key = keys.window(window.stream.bank, window.stream.sid, window.number)
        is_pending = window.state in (WindowState.SEALED, WindowState.PARKED)
        removed: codec.Values = {"dir": None, "cfg": None, "fail": None, "held": None}
        values = removed | (erased_values(window, now, expires) | {"att": window.attempt + 1} if is_pending else {})
        try:
            self._table.write(Update(key, values, equals(st=window.state, att=window.attempt)))
        except Conflict:
            return False
        return True

    def delete_events(self, bank: str, sid: str, cut: Cut, counts: Counter[str]) -> None:
        """Delete the events of a stream up to *cut*, and the results of their generations."""
        batches = keys.batch(bank, sid, 0).sk, keys.batch(bank, sid, cut.seq).sk
        items = list(self._table.query(keys.stream(bank, sid), between=batches))
        counts["events"] += sum(item["n"] for item in items)
        self._table.delete_all(map(keys.key_of, items))
        results = keys.results(bank, sid, 0).sk, keys.results(bank, sid, cut.window + 1).sk
        derived = self._table.query(keys.stream(bank, sid), between=results)
        counts["results"] += self._table.delete_all(map(keys.key_of, derived))

    def remove_fingerprints(self, bank: str, sid: str, cut: Cut, counts: Counter[str]) -> None:
        """Remove the fingerprints of contents from the markers of a stream's events up to *cut*."""
        for item in self._table.query(keys.stream(bank, sid), prefix=Kind.MARKER.prefix):
            if item["seq"] <= cut.seq and "h" in item:
                counts["eventFingerprints"] += self._write(Update(keys.key_of(item), {"h": None}, present()))

    def _write(self, action: Update | Delete) -> bool:
        try:
            self._table.write(action)
        except Conflict:
            return False  # it expired meanwhile
        return True

    # ---- memories

    def has_memories(self, bank: str, cid: str) -> bool:
        """Tell whether there is anything in a scope that `delete_memories` would delete."""
        partition = keys.scope(bank, cid)
        kinds = (Kind.MEMORY, Kind.REVISION, Kind.CITATION)
        return any(next(self._table.query(partition, prefix=kind.prefix, page=1), None) for kind in kinds)

    def delete_memories(self, bank: str, scope: Mapping[str, str], counts: Counter[str]) -> None:
        """Delete the memories of a scope, live and deleted ones, with their revisions and citations."""
        partition, spelled = keys.scope(bank, ids.scope_id(scope)), text.dumps(dict(scope))
        for kind, name in ((Kind.CITATION, "citations"), (Kind.REVISION, "revisions")):
            items = self._table.query(partition, prefix=kind.prefix)
            counts[name] += self._table.delete_all(map(keys.key_of, items))
        memories = list(self._table.query(partition, prefix=Kind.MEMORY.prefix))
        for item in memories:
            # The id of a memory that has expired may be another scope's by now.
            self._write(Delete(keys.memory_name(bank, keys.name_in(item["SK"])), equals(sco=spelled)))
        counts["memories"] += self._table.delete_all(map(keys.key_of, memories))

    # ---- counting

    def count_stream(self, bank: str, sid: str, counts: Counter[str]) -> None:
        """Count what an erasure would delete of a stream."""
        for item in self._table.query(keys.stream(bank, sid)):
            match keys.kind_of(item["SK"]):
                case Kind.BATCH:
                    counts["events"] += item["n"]
                case Kind.MARKER:
                    counts["eventFingerprints"] += "h" in item
                case Kind.RESULT:
                    counts["results"] += 1
                case Kind.WINDOW:
                    counts["windows"] += 1
                case Kind.HEAD:  # an open window is sealed to be erased
                    counts["windows"] += item["cnt"] > 0

    def count_memories(self, bank: str, cid: str, counts: Counter[str]) -> None:
        """Count what an erasure would delete of a scope's memories."""
        for item in self._table.query(keys.scope(bank, cid)):
            name = _COUNTED.get(keys.kind_of(item["SK"]))
            if name:
                counts[name] += 1


def _key(bank: str, cid: str) -> Key:
    return keys.version(bank, cid) if cid else keys.bank_erasure(bank)
