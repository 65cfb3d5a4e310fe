"""Reading the memories of a scope for a search or a generation: all of a small scope, the nearest of a large one.

A large scope has a vector index, which may lag for minutes. So the memories that were changed since are read beside
its results, and all are read consistently: what is deleted is gone at once, however old a result is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice

from streambank import telemetry
from streambank.errors import NotIndexed
from streambank.model import ids
from streambank.model.memory import Citation, Memory
from streambank.model.scope_index import LARGE_SCOPE, ScopeIndex
from streambank.rules import word_vectors
from streambank.store.changes import Changes
from streambank.store.memories import Memories
from streambank.store.scope_indexes import ScopeIndexes
from streambank.store.scope_view import ScopeView

# The most results of one search of the index, and the most memories that are read for one search of a scope.
MAX_NEAREST = 100
# How many of the memories that a search of the index may not see yet are read: the newest.
MAX_RECENT = 40
# How many memories of a large scope are compared with a filter that rejects most of the nearest.
MAX_COMPARED = 5_000
# So many memories that were not read count beside each that was, as memories without a word of the query: those near a
# query nearly all have its frequent words, which would not count among them (docs/decisions/0036).
UNREAD_BESIDE_EACH = 2
_RECENT_RECORDS = 50


@dataclass(frozen=True, slots=True)
class NearText:
    """A text whose nearest memories are wanted, at most *count*; *vector* is its packed embedding."""

    text: str
    vector: bytes
    count: int = MAX_NEAREST


@dataclass(frozen=True, slots=True)
class Needed:
    """The memories that a generation needs of a large scope: those near some texts, those named, and all profiles."""

    texts: Sequence[NearText] = ()
    memory_ids: Iterable[str] = ()
    profiles: bool = False


@dataclass(frozen=True, slots=True)
class Pool:
    """The memories among which a search looks for the best: all of a small scope, the nearest of a large one.

    *cited* has the turns that they cite by their ids, *cited_words* the hashed words of such turns. *searched* counts
    the memories of a large scope that were compared with a filter one by one, if the scope has more, else it is 0.
    *unread* memories of a large scope count as memories without a word of the query.
    """

    memories: Sequence[Memory]
    cited: Mapping[str, Sequence[Citation]] = field(default_factory=dict)
    cited_words: Mapping[str, bytes] = field(default_factory=dict)
    searched: int = 0
    unread: int = 0


def joined(pools: Sequence[Pool]) -> Pool:
    """Return the memories of several scopes as one pool."""
    if len(pools) == 1:
        return pools[0]
    return Pool(
        [memory for pool in pools for memory in pool.memories],
        {name: cited for pool in pools for name, cited in pool.cited.items()},
        {name: words for pool in pools for name, words in pool.cited_words.items()},
        sum(pool.searched for pool in pools),
        sum(pool.unread for pool in pools),
    )


@dataclass(frozen=True, slots=True)
class ScopeReader:
    """Reads scopes; those with more than *large* live memories need an index, which a search starts."""

    memories: Memories
    indexes: ScopeIndexes
    changes: Changes
    large: int = LARGE_SCOPE

    def index(self, bank: str, scope: Mapping[str, str]) -> ScopeIndex | None:
        """Return the index of a scope, or None; a scope is read whole unless its index is ready."""
        return self.indexes.get(bank, ids.scope_id(scope))

    def view(self, bank: str, scope: Mapping[str, str], needed: Needed, *, now: datetime) -> ScopeView:
        """Return a scope with its memories: all of a small one, those *needed* of a large one.

        The version is read before the memories, never after or beside.
        """
        read, index = self.memories.version_and_index(bank, scope)
        memories = self._read(bank, scope, index, lambda: needed, now)
        return replace(read, memories=tuple(memories), needs_index=index is None and len(memories) > self.large)

    def needed(
        self, bank: str, scope: Mapping[str, str], needed: Callable[[], Needed], *, now: datetime
    ) -> list[Memory]:
        """Return all live memories of a small scope, those *needed* of a large one."""
        return self._read(bank, scope, self.index(bank, scope), needed, now)

    def _read(
        self,
        bank: str,
        scope: Mapping[str, str],
        index: ScopeIndex | None,
        needed: Callable[[], Needed],
        now: datetime,
    ) -> list[Memory]:
        if index is None or not index.is_ready:
            return self.memories.of_scope(bank, scope, now=now)
        try:
            return self._needed(index, needed(), now)
        except NotIndexed:
            telemetry.index_unavailable(bank)
            return self.memories.of_scope(bank, scope, now=now)

    def pool(
        self,
        bank: str,
        scope: Mapping[str, str],
        near: Callable[[], NearText],
        matches: Callable[[Memory], bool],
        count: int,
        *,
        now: datetime,
        is_quoted: bool = False,
    ) -> Pool:
        """Return the memories that match among which a search for the best *count* looks; *near* returns its text.

        The turns that they cite may lag unless a caller reads them: where the search *is_quoted*.
        """
        index = self.index(bank, scope)
        if index and index.is_ready:
            try:
                return self._nearest(index, near(), matches, count, now)
            except NotIndexed:
                telemetry.index_unavailable(bank)
        memories = self.memories.of_scope(bank, scope, now=now)
        if index is None and len(memories) > self.large:
            self.indexes.begin(bank, scope, now=now)
        matching = [one for one in memories if matches(one)]
        if not matching:
            return Pool(matching)
        return Pool(matching, self.memories.citations(bank, scope, matching, now=now, may_lag=not is_quoted))

    def _nearest(
        self, index: ScopeIndex, near: NearText, matches: Callable[[Memory], bool], count: int, now: datetime
    ) -> Pool:
        """Return the nearest memories that match, and more of the scope where the filter rejects most of them."""
        hits = self.indexes.search(index, word_vectors.query_vector(near.text, near.vector), near.count)
        words = {hit.memory_id: hit.words for hit in hits}
        recent = islice(self._recent(index, now), MAX_RECENT)
        names = islice(dict.fromkeys([*recent, *words]), MAX_NEAREST)
        nearest = self.memories.of_ids(index.bank, index.scope, names, now=now)
        matching = {one.id: one for one in nearest if matches(one)}
        if len(matching) == len(nearest) or len(matching) >= count:
            return _sample(list(matching.values()), words)
        memories = self.memories.each_of_scope(index.bank, index.scope, now=now)
        matching |= {one.id: one for one in islice(memories, MAX_COMPARED) if matches(one)}
        searched = MAX_COMPARED if next(memories, None) else 0
        return replace(_sample(list(matching.values()), words), searched=searched)

    def _needed(self, index: ScopeIndex, needed: Needed, now: datetime) -> list[Memory]:
        names = list(needed.memory_ids)
        for near in needed.texts:
            vector = word_vectors.query_vector(near.text, near.vector)
            names += [hit.memory_id for hit in self.indexes.search(index, vector, near.count)]
        if needed.texts:
            names += islice(self._recent(index, now), MAX_RECENT)
        if needed.profiles:
            names += [*self.indexes.profile_ids(index), *self._recent(index, now)]
        return self.memories.of_ids(index.bank, index.scope, dict.fromkeys(names), now=now)

    def _recent(self, index: ScopeIndex, now: datetime) -> Iterator[str]:
        """Yield the ids of the memories that a search may not see as they are, newest changes first."""
        records = self.changes.newest_of_scope(
            index.bank, index.scope, index.visible(now), now=now, page=_RECENT_RECORDS
        )
        seen = set[str]()
        for record in records:
            for one in record.memories:
                if one.memory_id and one.memory_id not in seen:
                    seen.add(one.memory_id)
                    yield one.memory_id


def _sample(memories: Sequence[Memory], cited_words: Mapping[str, bytes]) -> Pool:
    return Pool(memories, cited_words=cited_words, unread=UNREAD_BESIDE_EACH * len(memories))
