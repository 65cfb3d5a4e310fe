"""A store of LangGraph whose items are memories of one scope."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from langgraph.store.base import BaseStore, GetOp, Item, ListNamespacesOp, Op, PutOp, SearchItem, SearchOp, TTLConfig

from streambank_client import errors
from streambank_client.banks import Bank
from streambank_client.langgraph import items, matching
from streambank_client.limits import checked_namespace, checked_scope, synchronous
from streambank_client.types.memories import Memory, RetrievedMemory

STORE_KEY = "store"
STORE = "langgraph"
# What the service returns of one search at most, and takes as a query and as filters of a group.
_MOST_RESULTS = 100
_MOST_QUERY_BYTES = 8_192
_MOST_FILTERS = 10
# Each attempt that fails means that an item was created or has expired at that moment.
_ATTEMPTS = 10
_FIELDS = ["fact", "metadata", "ttl"]


class StreambankStore(BaseStore):
    """Keeps items as memories of one scope: *scope* with one more pair, `store: langgraph`.

    No conversation has that scope, so no generation changes an item. Namespaces are metadata of the items.

    bank: a `Bank` of a `Streambank`; asynchronous methods use it in other threads.
    fields: the paths of the texts by which an item can be searched; the default is the whole value.
    ttl: LangGraph's configuration of the time to live; `default_ttl` and `refresh_on_read` have an effect.

    Methods raise StreambankError where the service fails, and ValueError for an item that is too large.

    Raises:
        ValueError: the scope is beyond the service's limits, or the bank is asynchronous.
    """

    __slots__ = ("_bank", "_fields", "_scope", "ttl_config")

    supports_ttl = True

    def __init__(
        self,
        bank: Bank,
        *,
        scope: Mapping[str, str],
        fields: Sequence[str] = (items.WHOLE_VALUE,),
        ttl: TTLConfig | None = None,
    ) -> None:
        self._bank = synchronous(bank, "bank", "update_memory")
        self._scope = checked_namespace(checked_scope(scope), STORE, key=STORE_KEY)
        self._fields = tuple(fields)
        self.ttl_config = ttl

    @property
    def scope(self) -> dict[str, str]:
        """The scope of the items' memories, for an export or an erasure."""
        return dict(self._scope)

    def batch(self, ops: Iterable[Op]) -> list[Any]:
        """Carry out operations and return their results: first all that read, then the last put of each key."""
        operations = list(ops)
        results = [None if isinstance(op, PutOp) else self._read(op) for op in operations]
        puts = {(op.namespace, op.key): op for op in operations if isinstance(op, PutOp)}
        for op in puts.values():
            self._put(op)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Any]:
        """Carry out operations as `batch` does, in another thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: Op) -> Any:
        if isinstance(op, GetOp):
            return self._get(op)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            namespaces = {item.namespace for item in map(items.to_item, self._memories(())) if item}
            return matching.selected_namespaces(namespaces, op)
        raise ValueError(f"an operation is of an unknown type: {type(op).__name__}")

    # ---- one item

    def _get(self, op: GetOp) -> Item | None:
        try:
            memory = self._bank.get_memory(memory=items.memory_id(self._scope, op.namespace, op.key))
        except errors.NotFound:
            return None
        item = items.to_item(memory)
        if item and op.refresh_ttl:
            self._refresh(memory)
        return item

    def _refresh(self, memory: Memory) -> None:
        ttl = items.ttl_of(memory)
        if ttl is None:
            return
        try:
            self._bank.update_memory(memory=memory.id, ttl=ttl)
        except errors.NotFound:  # it has expired meanwhile
            return

    def _put(self, op: PutOp) -> None:
        memory_id = items.memory_id(self._scope, op.namespace, op.key)
        if op.value is None:
            self._update(memory_id, items.DELETED)
            return
        stored = items.to_memory(op, self._fields, datetime.now(UTC))
        values: dict[str, Any] = {"fact": stored.fact, "metadata": stored.metadata, "ttl": stored.ttl}
        for _ in range(_ATTEMPTS):
            if self._update(memory_id, values) or self._create(memory_id, values):
                return
        raise errors.Unavailable("the item is created and expires again and again")

    def _update(self, memory_id: str, values: Mapping[str, Any]) -> bool:
        """Overwrite an item, without a trace of what it was before; return whether it was there."""
        try:
            self._bank.update_memory(memory=memory_id, update_mask=_FIELDS, disable_memory_revisions=True, **values)
        except errors.NotFound:
            return False
        return True

    def _create(self, memory_id: str, values: Mapping[str, Any]) -> bool:
        """Create an item, unless it is there."""
        try:
            self._bank.create_memory(scope=self._scope, memory_id=memory_id, disable_memory_revisions=True, **values)
        except errors.AlreadyExists:
            return False
        return True

    # ---- searches

    def _search(self, op: SearchOp) -> list[SearchItem]:
        selected = list[SearchItem]()
        if op.limit > 0:
            matches = self._matches(op)
            chosen = list(islice(matches, op.offset, op.offset + op.limit))
            selected = [item for _, item in chosen]
            for memory, _ in chosen if op.refresh_ttl else ():
                self._refresh(memory)
        return selected

    def _matches(self, op: SearchOp) -> Iterator[tuple[Memory, SearchItem]]:
        """Yield the matching items: those with a score, the best first, and then the others, the newest first."""
        unscored = list[tuple[Memory, SearchItem]]()
        for result in self._results(op):
            item = items.to_search_item(result)
            if item is None or not matching.is_selected(item, op):
                continue
            if op.query and item.score is None:
                unscored.append((result.memory, item))
            else:
                yield result.memory, item
        yield from unscored

    def _results(self, op: SearchOp) -> Iterator[RetrievedMemory]:
        """Yield the nearest memories to a query, and then all others; without a query all."""
        ranked = set[str]()
        if op.query and op.query.strip():
            nearest = self._bank.retrieve_memories(
                scope=self._scope,
                query=_cut(op.query),
                top_k=_MOST_RESULTS,
                filter_groups=_namespace_filter(op.namespace_prefix),
            )
            yield from nearest
            ranked = {result.memory.id for result in nearest}
            if len(ranked) < _MOST_RESULTS and nearest.effective_top_k is None:
                return
        for memory in self._memories(op.namespace_prefix):
            if memory.id not in ranked:
                yield RetrievedMemory(memory=memory)

    def _memories(self, prefix: tuple[str, ...]) -> Iterator[Memory]:
        results = self._bank.retrieve_all_memories(scope=self._scope, filter_groups=_namespace_filter(prefix))
        return (result.memory for result in results)


def _namespace_filter(prefix: tuple[str, ...]) -> list[dict[str, Any]] | None:
    """Return the filter groups of a namespace and all below it; what is deeper than they can tell is left in."""
    filters = [
        {"key": items.label_key(level), "value": {"stringValue": label}}
        for level, label in enumerate(prefix[:_MOST_FILTERS])
    ]
    return [{"filters": filters}] if filters else None


def _cut(query: str) -> str:
    text = query.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.encode()[:_MOST_QUERY_BYTES].decode(errors="ignore")
