"""A storage in the memory of the process: for tests and experiments."""

from __future__ import annotations

import math
import re
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from uuid import uuid4

from streambank_client.koog.records import MemoryRecord, SearchRequest, SearchResult, TextDocument


class InMemoryStorage:
    """Keeps records by namespace and id; threads may share it. A search compares words, not meanings."""

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
            records = self._namespaces.get(namespace, {})
            existing = [record_id for record_id in documents if record_id in records]
            records.update(_record(documents[record_id], record_id) for record_id in existing)
        return existing

    def search(self, request: SearchRequest, namespace: str | None = None) -> list[SearchResult]:
        """Return the records that share words with the query, the most similar first."""
        query = _words(request.query)
        scored = [(_cosine(query, _words(record.content)), record) for record in self.records(namespace)]
        results = [SearchResult(record, score) for score, record in scored if score > 0 and score >= request.threshold]
        return sorted(results, key=lambda result: -result.score)[: request.top_k]

    def records(self, namespace: str | None = None) -> list[MemoryRecord]:
        """Return all records of a namespace in the order of their arrival."""
        with self._lock:
            return list(self._namespaces.get(namespace, {}).values())


def _record(document: TextDocument, record_id: str) -> tuple[str, MemoryRecord]:
    return record_id, MemoryRecord(document.content, record_id, dict(document.metadata))


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.lower()))


def _cosine(left: Counter[str], right: Counter[str]) -> float:
    shared = sum(count * right[word] for word, count in left.items())
    return shared / (math.hypot(*left.values()) * math.hypot(*right.values())) if shared else 0.0
