"""Reviews of a scope: every write of one is conditional on the scope's version, as those of its memories are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from streambank.model import ids
from streambank.model.change_record import ChangeStamp
from streambank.model.memory import Change
from streambank.model.review import Review, ReviewState, ReviewWithMemories
from streambank.store import keys, list_index
from streambank.store.actions import Action, Delete
from streambank.store.keys import Key, Kind
from streambank.store.list_index import ListEntry
from streambank.store.memories import Memories
from streambank.store.memory_items import memory_of
from streambank.store.review_items import review_of, review_put
from streambank.store.table import Table


class Reviews:
    """The access patterns of `Q#`."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._memories = Memories(table)

    def of_scope(self, bank: str, scope: Mapping[str, str], *, now: datetime) -> list[Review]:
        """Return the live reviews and marks of a scope, oldest first: one consistent query."""
        items = self._table.query(keys.scope(bank, ids.scope_id(scope)), prefix=Kind.REVIEW.prefix)
        live = (one for one in (review_of(item, dict(scope)) for item in items) if one.is_live(now))
        return sorted(live, key=lambda one: (one.created, one.id))

    def find(self, bank: str, review_id: str, *, now: datetime) -> Review | None:
        """Return a live review or mark by its id, or None."""
        return next((one.review for one in self._read(bank, [keys.review(bank, review_id)], now)), None)

    def listed(self, bank: str, count: int, after: tuple[int, str] | None) -> list[ListEntry]:
        """Return a bank's next *count* open reviews after the time and id *after*, newest first, from index `list`."""
        return list_index.newest(self._table, bank, Kind.REVIEW, count, after)

    def read_listed(self, bank: str, listed: Iterable[ListEntry], *, now: datetime) -> list[ReviewWithMemories]:
        """Return those of *listed* that are open and live, with their memories, read again: an index may lag."""
        read = self._read(bank, [keys.review(bank, one.name) for one in listed], now)
        return [one for one in read if one.review.state is ReviewState.OPEN]

    def with_memories(self, bank: str, reviews: Iterable[Review], *, now: datetime) -> list[ReviewWithMemories]:
        """Return *reviews* with those of their memories that are live."""
        some = list(reviews)
        items = self._table.read(key for one in some for key in _memory_keys(bank, one))
        return [_with_memories(bank, one, items, now) for one in some]

    def _read(self, bank: str, review_keys: list[Key], now: datetime) -> list[ReviewWithMemories]:
        """Return the live reviews under *review_keys*, in their order; one whose scope is not there is none."""
        versions = {key: Key(key.pk, Kind.VERSION.value) for key in review_keys}
        items = self._table.read([*review_keys, *versions.values()])
        pairs = ((items.get(key), items.get(versions[key])) for key in review_keys)
        reviews = [review_of(item, json.loads(version["sco"])) for item, version in pairs if item and version]
        return self.with_memories(bank, (one for one in reviews if one.is_live(now)), now=now)

    def decide(
        self,
        bank: str,
        version: int,
        mark: Review,
        changes: Sequence[Change] = (),
        dropped: Iterable[Review] = (),
        *,
        now: datetime,
        stamp: ChangeStamp | None = None,
    ) -> None:
        """Replace a review by its *mark*, delete older marks, and apply *changes*: one step of the scope's version.

        Raises:
            Conflict: the scope was written meanwhile, or another memory has the id of a new one.
            OutOfReach: the tries are used up, and the outcome is unknown.
        """
        marks: list[Action] = [review_put(bank, mark), *(Delete(keys.review(bank, one.id)) for one in dropped)]
        self._memories.commit_changes(bank, mark.scope, version, changes, now=now, stamp=stamp, beside=marks)


def _memory_keys(bank: str, review: Review) -> list[Key]:
    return [keys.memory(bank, ids.scope_id(review.scope), one.id) for one in review.memories]


def _with_memories(
    bank: str, review: Review, items: Mapping[Key, Mapping[str, Any]], now: datetime
) -> ReviewWithMemories:
    read = (items.get(key) for key in _memory_keys(bank, review))
    memories = (memory_of(item, review.scope) for item in read if item)
    return ReviewWithMemories(review, tuple(one for one in memories if one.is_live(now)))
