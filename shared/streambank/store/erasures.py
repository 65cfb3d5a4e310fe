"""Erasures: their jobs, and the deletions that they consist of.

The job of a scope's erasure is stored in the scope's `V`, which every writer of memories reads. How far it has come in
a stream is stored in the stream's `CUT`, so that an erasure that is resumed deletes no event that arrived since it
started. Identifiers stay: a stream's HEAD, which is never reset, the hashes of the ids of accepted events (a client
that sends the events again must not bring them back), and the scopes in the registry. The change records of a scope go,
and one is left that says when the scope was erased.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from streambank.errors import Conflict, OutOfReach, Unavailable
from streambank.model import ids
from streambank.model.change_record import ChangedMemory, ChangeKind, ChangeRecord
from streambank.model.erasure import Erasure, ErasureTarget, RegistryCursor
from streambank.store import codec, keys, text
from streambank.store.actions import Condition, Delete, Put, Update, absent, equals
from streambank.store.attributes import milliseconds
from streambank.store.changes import default_stamp, record_put
from streambank.store.cuts import cut_of, erased_windows
from streambank.store.erasure_items import counts_text, erasure_of, job_values
from streambank.store.keys import Key, Kind
from streambank.store.table import Table

# When the sweep resumes a job that no call works on any more.
RESUMED_AFTER = timedelta(minutes=1)
_WHOLE_BANK = ""
_COUNTED: dict[str, str] = {
    Kind.MEMORY: "memories",
    Kind.REVISION: "revisions",
    Kind.CITATION: "citations",
    Kind.TOMBSTONE: "tombstones",
    Kind.REVIEW: "reviews",
}
START: RegistryCursor = (0, "")


class ErasedItem(NamedTuple):
    """An item of a scope, and what it counts as: a memory that is the revision of its text is both."""

    key: Key
    counted: tuple[str, ...]


class Erasures:
    """The access patterns of an erasure."""

    def __init__(self, table: Table) -> None:
        self._table = table

    # ---- jobs

    def begin(self, bank: str, scope: Mapping[str, str], request: ErasureTarget, *, now: datetime) -> Erasure:
        """Start an erasure of a scope and return it, or the one under way; until it ends nothing is committed there.

        Raises:
            Conflict: the scope was written meanwhile.
            Unavailable: the scope is being moved.
        """
        cid = ids.scope_id(scope)
        key, spelled = keys.version(bank, cid), text.dumps(dict(scope))
        item = self._table.get(key)
        if item and item.get("erasing"):
            return erasure_of(bank, cid, item)
        if item and item.get("moving"):
            raise Unavailable("the scope is being moved; try again")
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

        No stream is cut from now on: what is accepted after the reply is not erased. Raises:
            Conflict: the job is no longer under way.
        """
        key = _key(erasure.bank, erasure.cid)
        progress: codec.Values = {"man": counts_text(erasure, counts), "shd": cursor[0], "ent": cursor[1] or None}
        values = {"cut": 1, **progress, **codec.due_values(key, now + RESUMED_AFTER)}
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
            "cut": None,
            "man": counts_text(erasure, counts),
            **codec.due_values(key, None),
        }
        condition = equals(erasing=erasure.number)
        if not erasure.cid:
            self._table.write(Update(key, values, condition))
            return
        version = item.get("ver", 0)
        update = Update(key, {**values, "ver": version + 1, "idx": None}, condition & equals(ver=version))
        record = record_put(erasure.bank, _record(erasure, version + 1, now))
        no_index = Delete(keys.scope_index(erasure.bank, erasure.cid))
        self._table.transact_despite_contention([update, record, no_index])

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
                if "gone" not in item:  # a deleted conversation, whose idempotency keys are left
                    yield keys.registry_entry(item["SK"]).name

    # ---- memories

    def erased_items(self, bank: str, cid: str) -> Iterator[Iterator[ErasedItem]]:
        """Yield the items of a scope that are erased, kind by kind: deleted memories, tombstones and moves too."""
        pk = keys.scope(bank, cid)
        for kind in (Kind.CITATION, Kind.REVISION, Kind.MEMORY, Kind.TOMBSTONE, Kind.REVIEW, Kind.CHANGE, Kind.MOVE):
            yield map(_erased_item, self._table.query(pk, prefix=kind.prefix))
        # Entries of the index come last: one is only written beside its memory.
        entries = (Kind.ENTRY.prefix, Kind.PROFILE_ENTRY.prefix + keys.LAST)
        yield map(_erased_item, self._table.query(pk, between=entries))

    def delete_memories(self, erasure: Erasure, batch: Sequence[ErasedItem], counts: Counter[str]) -> None:
        """Delete a batch of `erased_items`, and the look-ups of its memories first.

        Raises:
            Conflict: another run has ended the erasure: the batch may be newer.
        """
        memory_ids = [keys.name_in(key.sk) for key, _ in batch if keys.kind_of(key.sk) == Kind.MEMORY]
        names = {keys.memory_name(erasure.bank, one) for one in memory_ids}
        items = self._under_way(erasure, names)
        if items:
            self._delete_names(erasure, items, names)
        self._table.delete_all(key for key, _ in batch)
        counts.update(name for item in batch for name in item.counted)

    def _under_way(self, erasure: Erasure, names: Collection[Key]) -> dict[Key, dict[str, Any]]:
        """Return the items of *names*, if the erasure is still under way: one round trip. Raises Conflict if not."""
        job = keys.version(erasure.bank, erasure.cid)
        items = self._table.read([job, *names])
        if items.pop(job, {}).get("erasing") != erasure.number:
            raise Conflict
        return items

    def _delete_names(self, erasure: Erasure, items: Mapping[Key, Mapping[str, Any]], names: Collection[Key]) -> None:
        """Delete the look-ups of a scope's memories; the id of one that has expired may be another scope's by now."""
        spelled = text.dumps(dict(erasure.scope))
        for _ in self._table.retry_policy.attempts():
            own = [Delete(key, equals(sco=spelled)) for key, item in items.items() if item["sco"] == spelled]
            try:
                if own:
                    self._table.transact(own)
            except Conflict:
                items = self._under_way(erasure, names)
                continue
            return
        raise OutOfReach(Conflict.CONTENDED)

    # ---- counting

    def count_stream(self, bank: str, sid: str, counts: Counter[str]) -> None:
        """Count what an erasure would delete of a stream."""
        erased = 0
        for item in self._table.query(keys.stream(bank, sid)):
            match keys.kind_of(item["SK"]):
                case Kind.BATCH:
                    counts["events"] += item["n"]
                case Kind.MARKER:
                    counts["eventFingerprints"] += "h" in item
                case Kind.RESULT:
                    counts["results"] += 1
                case Kind.CUT:  # it sorts before the windows
                    erased = erased_windows(cut_of(item))
                case Kind.WINDOW:
                    counts["windows"] += item["win"] > erased
                case Kind.HEAD:  # an open window is sealed to be erased
                    counts["windows"] += item["cnt"] > 0

    def count_memories(self, bank: str, cid: str, counts: Counter[str]) -> None:
        """Count what an erasure would delete of a scope's memories."""
        for item in self._table.query(keys.scope(bank, cid)):
            counts.update(_erased_item(item).counted)


def _erased_item(item: Mapping[str, Any]) -> ErasedItem:
    kind = _COUNTED.get(keys.kind_of(item["SK"]))
    first = ("revisions",) if "frev" in item else ()
    return ErasedItem(keys.key_of(item), (kind, *first) if kind else ())


def _record(erasure: Erasure, version: int, now: datetime) -> ChangeRecord:
    return ChangeRecord(erasure.cid, version, default_stamp(now), (ChangedMemory(ChangeKind.ERASED),))


def _key(bank: str, cid: str) -> Key:
    return keys.version(bank, cid) if cid else keys.bank_erasure(bank)
