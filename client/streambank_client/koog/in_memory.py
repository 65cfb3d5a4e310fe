"""A storage that lasts as long as its process: for tests, and to try things out."""

from __future__ import annotations

import math
import re
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from uuid import uuid4

from streambank_client.koog.records import MemoryRecord, SearchRequest, SearchResult, TextDocument


class InMemoryStorage:
    """Keeps records by namespace and id, safe under threads; a search compares words, and knows no meanings."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._namespaces: dict[str | None, dict[str, MemoryRecord]] = {}

    def add(self, documents: Sequence[TextDocument], namespace: str | None = None) -> list[str]:
        """Store documents and return their ids; one without an id gets a random one."""
        records = [_record(document, document.id or str(uuid4())) for document in documents]
        ids = [record_id for record_id, _ in records]
        with self._lock:
            self._namespaces.setdefault(namespace, {}).update(records)
        return ids

    def update(self, documents: Mapping[str, TextDocument], namespace: str | None = None) -> list[str]:
        """Replace the documents of these ids and return the ids of those that existed."""
        with self._lock:
            there = self._namespaces.get(namespace, {})
            known = [record_id for record_id in documents if record_id in there]
            there.update(_record(documents[record_id], record_id) for record_id in known)
        return known

    def search(self, request: SearchRequest, namespace: str | None = None) -> list[SearchResult]:
        """Return the records that share words with the query, those that share most first."""
        wanted = _words(request.query)
        scored = [(_cosine(wanted, _words(record.content)), record) for record in self.records(namespace)]
        found = [SearchResult(record, score) for score, record in scored if score > 0 and score >= request.threshold]
        return sorted(found, key=lambda result: -result.score)[: request.top_k]

    def records(self, namespace: str | None = None) -> list[MemoryRecord]:
        """Return what is stored, in the order in which it came."""
        with self._lock:
            return list(self._namespaces.get(namespace, {}).values())


def _record(document: TextDocument, record_id: str) -> tuple[str, MemoryRecord]:
    return record_id, MemoryRecord(document.content, record_id, dict(document.metadata))


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.lower()))


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    shared = sum(count * other[word] for word, count in one.items())
    return shared / (math.hypot(*one.values()) * math.hypot(*other.values())) if shared else 0.0
