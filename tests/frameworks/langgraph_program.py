"""Carries out operations on LangGraph's own store in memory and on ours, and prints the results of both.

A line is {"store": NUMBER, "batch": [OPERATION, ...], "is_async": BOOLEAN}; an operation is [KIND, its fields].
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
from typing import Any

from langgraph.store.base import BaseStore, GetOp, Item, ListNamespacesOp, MatchCondition, PutOp, SearchItem, SearchOp
from langgraph.store.memory import InMemoryStore

from streambank_client import Streambank
from streambank_client.langgraph import StreambankStore

MOST = 1_000


def embed(texts: list[str]) -> list[list[float]]:
    return [[float(byte) for byte in hashlib.sha256(text.encode("utf-8", "replace")).digest()[:4]] for text in texts]


def operation(kind: str, fields: dict[str, Any]) -> Any:
    fields = {name: tuple(value) if name.startswith("namespace") else value for name, value in fields.items()}
    if kind == "list":
        conditions = [MatchCondition(one[0], tuple(one[1])) for one in fields.pop("match_conditions")]
        return ListNamespacesOp(match_conditions=tuple(conditions), **fields)
    return {"get": GetOp, "put": PutOp, "search": SearchOp}[kind](**fields)


def plain(result: Any) -> Any:
    """Return a result as JSON; times are those of different clocks, and only whether there is a score is compared."""
    if isinstance(result, list):
        return [plain(one) for one in result]
    if isinstance(result, SearchItem):
        assert result.created_at <= result.updated_at
        return [list(result.namespace), result.key, result.value, result.score is not None]
    if isinstance(result, Item):
        assert result.created_at <= result.updated_at
        return [list(result.namespace), result.key, result.value]
    return list(result) if isinstance(result, tuple) else result


def only_namespaces_with_items(store: InMemoryStore) -> InMemoryStore:
    """Return a copy: the store in memory keeps namespaces that have no items, or were only read."""
    copy = InMemoryStore()
    for item in store.search((), limit=MOST):
        copy.put(item.namespace, item.key, item.value)
    return copy


def results(store: BaseStore, batch: list[Any], *, is_async: bool) -> Any:
    try:
        return plain(asyncio.run(store.abatch(batch)) if is_async else store.batch(batch))
    except (TypeError, ValueError) as error:
        return type(error).__name__


def main() -> None:
    stores: dict[int, tuple[InMemoryStore, StreambankStore]] = {}
    with Streambank(sys.argv[1], token="local") as client:
        for line in sys.stdin:
            request = json.loads(line)
            number = request["store"]
            if number not in stores:
                index = {"dims": 4, "embed": embed, "fields": ["$"]}
                stores[number] = (
                    InMemoryStore(index=index),
                    StreambankStore(client.bank(), scope={"user_id": f"{sys.argv[2]}-{number}"}),
                )
            theirs, ours = stores[number]
            batch = [operation(kind, fields) for kind, fields in request["batch"]]
            lists_only = all(isinstance(op, ListNamespacesOp) for op in batch)
            reference = only_namespaces_with_items(theirs) if lists_only else theirs
            is_async = request["is_async"]
            answer = [results(store, batch, is_async=is_async) for store in (reference, ours)]
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
