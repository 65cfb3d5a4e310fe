"""Rewriting the texts that a bank holds, item by item: each write has the condition that the item is as it was read.

What an item of each kind holds is told in `Changes`; an item that they leave as it is costs no write.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol

from streambank.errors import Conflict, OutOfReach, Unavailable
from streambank.model.bank_walk import WalkCursor
from streambank.model.event import Event
from streambank.model.memory import Change, Citation, Memory, Revision
from streambank.model.plan import ForgetRequest
from streambank.model.review import Review
from streambank.model.rule import WindowSettings
from streambank.model.session import Session, SessionEvent
from streambank.model.window import Window
from streambank.store import codec, keys, plan_items
from streambank.store.actions import Action, Put, Update, as_read, equals, present
from streambank.store.changes import default_stamp, record_puts
from streambank.store.citation_items import citation_of, citation_values
from streambank.store.keys import LAST, REGISTRY_SHARDS, Key, Kind
from streambank.store.marker_rewrites import StreamMarkers
from streambank.store.memory_items import (
    memory_of,
    memory_values,
    requests_of,
    requests_values,
    revision_of,
    revision_values,
)
from streambank.store.plan_items import TextChanges
from streambank.store.review_items import review_of, review_values
from streambank.store.scope_versions import version_bump
from streambank.store.sessions import event_of, event_values, head_values, session_of
from streambank.store.table import Table

# The shards of the registry, which a walk goes through one after the other.
SHARDS = REGISTRY_SHARDS
_PAGE = 25
_PARTITIONS: Mapping[str, Callable[[str, str], str]] = {
    Kind.SCOPE: keys.scope,
    Kind.STREAM: keys.stream,
    Kind.SESSION: keys.session,
}


class Changes(TextChanges, Protocol):
    """What a rewriting does to each kind of text; what is returned unchanged is not written."""

    def event(self, event: Event, /) -> Event: ...

    def window(self, window: Window, /) -> Window: ...

    def settings(self, settings: WindowSettings, /) -> WindowSettings: ...

    def request(self, request: ForgetRequest, /) -> ForgetRequest: ...

    def memory(self, memory: Memory, /) -> Memory: ...

    def revision(self, revision: Revision, /) -> Revision: ...

    def citation(self, citation: Citation, /) -> Citation: ...

    def review(self, review: Review, /) -> Review: ...

    def session(self, session: Session, /) -> Session: ...

    def session_event(self, event: SessionEvent, /) -> SessionEvent: ...


# Rewrites an item at a time, and tells whether it was changed.
RewriteStep = Callable[[Changes, datetime], bool]


class Rewrites:
    """The access patterns of a rewriting."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def items(
        self, bank: str, shards: range, after: WalkCursor | None
    ) -> Iterator[tuple[WalkCursor, RewriteStep | str]]:
        """Yield a step for each item of a bank's scopes, streams and sessions, and the id of each conversation.

        They are those behind *after*, each with the cursor behind it. *shards* are those of the registry, which are
        counted on over a second walk.
        """
        for shard, entry, start in self._entries(bank, shards, after):
            kind, name, cid = keys.registry_entry(entry)
            if cid and "moving" in (self._table.get(keys.version(bank, cid)) or {}):
                raise Unavailable("a scope is being moved; the content policy is applied afterwards")
            if kind == Kind.CHAT:
                pointer = None if start else self._table.get(keys.chat_pointer(bank, name))
                if pointer and pointer["id"]:
                    yield (shard, entry, LAST), pointer["id"]
                continue
            for item, step in self._of_partition(bank, kind, name, start):
                yield (shard, entry, item), step

    def _of_partition(self, bank: str, kind: str, name: str, start: str) -> Iterator[tuple[str, RewriteStep]]:
        """Yield the sort key of each item behind *start*, and the step that rewrites it."""
        version = self._table.get(keys.version(bank, name)) if kind == Kind.SCOPE else None
        scope = json.loads(version["sco"]) if version else {}
        markers = StreamMarkers(self._table, _PARTITIONS[kind](bank, name))
        for item in self._table.query(_PARTITIONS[kind](bank, name), between=(start + "\0", LAST), page=_PAGE):
            if keys.kind_of(item["SK"]) in _REWRITERS:
                yield item["SK"], self._step(bank, item, scope, markers)

    def _entries(self, bank: str, shards: range, after: WalkCursor | None) -> Iterator[tuple[int, str, str]]:
        """Yield shard and sort key of each entry of the registry from *after* on, and where its partition goes on."""
        for shard in shards:
            if after and shard < after[0]:
                continue
            first = after[1] if after and shard == after[0] else ""
            for item in self._table.query(keys.registry(bank, shard % REGISTRY_SHARDS), between=(first or " ", LAST)):
                yield shard, item["SK"], after[2] if after and first == item["SK"] else ""

    def _step(self, bank: str, item: Mapping[str, Any], scope: dict[str, str], markers: StreamMarkers) -> RewriteStep:
        def rewrite(changes: Changes, now: datetime) -> bool:
            current: Mapping[str, Any] | None = item
            for _ in self._table.retry_policy.attempts():
                if current is None:
                    return False  # it was deleted meanwhile
                stored = _Stored(self._table, bank, current, scope, markers, now)
                actions = list(_REWRITERS[keys.kind_of(item["SK"])](stored, changes))
                try:
                    if actions:
                        self._table.transact(actions)
                except Conflict:
                    current = self._table.get(keys.key_of(item))
                    continue
                return bool(actions)
            raise OutOfReach(Conflict.CONTENDED)

        return rewrite


@dataclass(frozen=True, slots=True)
class _Stored:
    """An item as it was read, and the scope that it is of, if any."""

    table: Table
    bank: str
    item: Mapping[str, Any]
    scope: dict[str, str]
    markers: StreamMarkers
    now: datetime

    @property
    def key(self) -> Key:
        return keys.key_of(self.item)

    def update(self, values: codec.Values, **as_read: Any) -> Update:
        """Return the write of *values*, if the attributes *as_read* are so still."""
        return Update(self.key, values, equals(**as_read) if as_read else present())


Rewriter = Callable[[_Stored, Changes], Iterator[Action]]


# ---- streams


def _batch(stored: _Stored, changes: Changes) -> Iterator[Action]:
    """Rewrite events, and the fingerprints and the findings in their markers: one transaction."""
    item = stored.item
    before = codec.batch_events(item)
    after = [replace(one, event=changes.event(one.event)) for one in before]
    if after != before:
        yield stored.update(codec.event_values([one.event for one in after]), d=bytes(item["d"]))
        yield from stored.markers.updates(before, after)


def _head(stored: _Stored, changes: Changes) -> Iterator[Action]:
    before = codec.settings_value(stored.item.get("cfg"))
    after = changes.settings(before)
    if after != before:
        version = stored.item["ver"]
        yield stored.update({"cfg": codec.settings_text(after), "ver": version + 1}, ver=version)


def _window(stored: _Stored, changes: Changes) -> Iterator[Action]:
    before = codec.window_of(stored.item)
    after = changes.window(before)
    if after != before:
        values = codec.window_values(after)
        yield stored.update({name: values[name] for name in ("dir", "cfg", "call")}, st=before.state)


def _result(stored: _Stored, changes: Changes) -> Iterator[Action]:
    """Rewrite an item of candidates, of a plan, of a model's answer, or of verdicts."""
    item = stored.item
    data = bytes(item["d"])
    values = plan_items.rewritten(keys.result_kind(item["SK"]), item, changes)
    if values:
        yield stored.update(values, d=data)


# ---- scopes


def _version(stored: _Stored, changes: Changes) -> Iterator[Action]:
    before = requests_of(stored.item)
    after = tuple(map(changes.request, before))
    if after != before:
        version = stored.item["ver"]
        yield stored.update({**requests_values(after), "ver": version + 1}, ver=version)


def _memory(stored: _Stored, changes: Changes) -> Iterator[Action]:
    """Rewrite a memory in a step of its scope's version: no plan that was made of its old text is carried out."""
    before = memory_of(stored.item, stored.scope)
    after = changes.memory(before)
    if after != before:
        version = stored.table.get(keys.version(stored.bank, keys.owner(stored.key.pk)[1])) or {"ver": 0}
        yield from version_bump(stored.bank, stored.scope, version["ver"], 1)
        yield Put(stored.key, memory_values(stored.bank, after), as_read(stored.item, "fact", "rev", "upd"))
        change = Change(before, after, None)
        yield from record_puts(stored.bank, stored.scope, version["ver"] + 1, [change], default_stamp(stored.now))


def _revision(stored: _Stored, changes: Changes) -> Iterator[Action]:
    before = revision_of(stored.item)
    after = changes.revision(before)
    if after != before:
        values = revision_values(after)
        yield stored.update({name: values[name] for name in ("fact", "ext", "lab")}, fact=stored.item["fact"])


def _citation(stored: _Stored, changes: Changes) -> Iterator[Action]:
    before = citation_of(stored.item)
    after = changes.citation(before)
    if after != before:
        yield stored.update({"d": citation_values(after)["d"]}, d=bytes(stored.item["d"]))


def _review(stored: _Stored, changes: Changes) -> Iterator[Action]:
    before = review_of(stored.item, stored.scope)
    after = changes.review(before)
    if after != before and "d" in stored.item:
        yield stored.update({"d": review_values(stored.bank, after)["d"]}, d=bytes(stored.item["d"]))


# ---- sessions


def _session(stored: _Stored, changes: Changes) -> Iterator[Action]:
    before = session_of(stored.item)
    after = changes.session(before)
    if after != before:
        values = head_values(stored.bank, replace(after, version=before.version + 1))
        yield Put(stored.key, values, equals(ver=before.version, fst=before.first))


def _session_event(stored: _Stored, changes: Changes) -> Iterator[Action]:
    before = event_of(stored.item)
    after = changes.session_event(before)
    if after != before:
        yield stored.update({"d": event_values(after)["d"]}, d=bytes(stored.item["d"]))


_REWRITERS: Mapping[str, Rewriter] = {
    Kind.BATCH: _batch,
    Kind.HEAD: _head,
    Kind.WINDOW: _window,
    Kind.RESULT: _result,
    Kind.VERSION: _version,
    Kind.MEMORY: _memory,
    Kind.REVISION: _revision,
    Kind.CITATION: _citation,
    Kind.REVIEW: _review,
    "S": _session,  # the head of a session
    Kind.SESSION_EVENT: _session_event,
}
