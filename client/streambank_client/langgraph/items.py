"""An item of a store as a memory: what can be searched is its fact, and its value is JSON in the metadata."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from langgraph.store.base import Item, PutOp, SearchItem
from langgraph.store.base.embed import get_text_at_path

from streambank_client.types.memories import Memory, RetrievedMemory

# The service's limits for a fact and for the metadata of a memory; a test compares them with the service's own.
MAX_FACT_BYTES = 8_192
MAX_METADATA_BYTES = 4_096
# LangGraph's own path for the whole value.
WHOLE_VALUE = "$"
# An item that is deleted is overwritten by this, and expires.
DELETED = {"fact": "deleted", "metadata": {"deleted": True}, "ttl": timedelta(seconds=1)}


@dataclass(frozen=True, slots=True)
class ItemMemory:
    """What is stored of an item; *ttl* is None for an item that does not expire."""

    fact: str
    metadata: dict[str, Any]
    ttl: timedelta | None


def memory_id(scope: Mapping[str, str], namespace: Sequence[str], key: str) -> str:
    """Return the id of an item's memory. Ids are unique in a bank, so the scope is a part of it."""
    parts = json.dumps([sorted(scope.items()), list(namespace), key])
    return f"lg-{hashlib.sha256(parts.encode()).hexdigest()[:60]}"


def to_memory(op: PutOp, fields: Sequence[str], now: datetime) -> ItemMemory:
    """Return the memory of an item whose value is not None.

    Raises:
        TypeError: the value has something that is not JSON.
        ValueError: the value has NaN or an infinite number, or the item is too large.
    """
    value, texts = _json(op.value), _indexed_texts(op, fields)
    metadata: dict[str, Any] = {"key": op.key, "updated_at": now, "indexed": bool(texts)}
    metadata |= {label_key(level): label for level, label in enumerate(op.namespace)}
    ttl = None if op.ttl is None else timedelta(minutes=op.ttl)
    if ttl is not None:
        metadata["ttl_minutes"] = float(op.ttl)
    text = _encodable("\n".join(texts))
    if _size(inline := {**metadata, "value": value}) <= MAX_METADATA_BYTES:
        # A memory has a fact; an item without texts is named by its key.
        fact = text if text.strip() else _encodable(op.key)
        return ItemMemory(_cut(fact) if fact.strip() else "item", inline, ttl)
    start = 0 if text == value else len(text) + 1
    fact = value if text == value else f"{text}\n{value}"
    metadata["value_start"] = float(start)
    if len(fact.encode()) > MAX_FACT_BYTES or _size(metadata) > MAX_METADATA_BYTES:
        raise ValueError(
            "the item is too large: its texts and its value together can have 8 KB of JSON; index fewer fields, "
            "or store large contents elsewhere and their address here"
        )
    return ItemMemory(fact, metadata, ttl)


def to_item(memory: Memory) -> Item | None:
    """Return the item of a memory, or None if it is deleted or no item."""
    value = _value(memory)
    return None if value is None else Item(value=value, **_coordinates(memory))


def to_search_item(result: RetrievedMemory) -> SearchItem | None:
    """Return the item of a result, or None if it is deleted or no item; one that is not indexed has no score."""
    value = _value(result.memory)
    if value is None:
        return None
    is_scored = result.distance is not None and result.memory.metadata.get("indexed") is True
    # The distance of two unit vectors is the square root of 2 - 2 cos.
    score = 1.0 - (result.distance or 0.0) ** 2 / 2 if is_scored else None
    return SearchItem(value=value, score=score, **_coordinates(result.memory))


def ttl_of(memory: Memory) -> timedelta | None:
    """Return the time for which an item lives after it was last read or written."""
    minutes = memory.metadata.get("ttl_minutes")
    return timedelta(minutes=minutes) if isinstance(minutes, float | int) else None


def label_key(level: int) -> str:
    """Return the key of the metadata that has a label of the namespace."""
    return f"label_{level}"


def _value(memory: Memory) -> dict[str, Any] | None:
    text, start = memory.metadata.get("value"), memory.metadata.get("value_start")
    if isinstance(start, float | int):
        text = memory.fact[int(start) :]
    if memory.metadata.get("deleted") is True or not isinstance(text, str):
        return None
    value: dict[str, Any] = json.loads(text)
    return value


def _coordinates(memory: Memory) -> dict[str, Any]:
    metadata, labels = memory.metadata, list[Any]()
    while (label := metadata.get(label_key(len(labels)))) is not None:
        labels.append(label)
    updated: Any = metadata.get("updated_at", memory.update_time)
    # The time of an update is this machine's clock, since a refresh of the time to live is an update for the service.
    created = min(memory.create_time, updated)
    return {"namespace": tuple(labels), "key": metadata["key"], "created_at": created, "updated_at": updated}


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text if _encodable(text) == text else json.dumps(value, separators=(",", ":"), allow_nan=False)


def _indexed_texts(op: PutOp, fields: Sequence[str]) -> list[str]:
    """Return the texts by which an item can be searched."""
    if op.index is False:
        return []
    value, paths = dict(op.value or {}), fields if op.index is None else op.index
    lists = ([_json(value)] if path == WHOLE_VALUE else get_text_at_path(value, path) for path in paths)
    return [text for texts in lists for text in texts]


def _size(metadata: Mapping[str, Any]) -> int:
    """Return the size of metadata as the service counts it."""
    return len(json.dumps([None, metadata], ensure_ascii=False, default=str).encode())


def _encodable(text: str) -> str:
    """Return *text* without halves of surrogate pairs, which UTF-8 cannot encode."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _cut(text: str) -> str:
    return text.encode()[:MAX_FACT_BYTES].decode(errors="ignore")
