"""Records, searches, and the protocols of storages."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

Metadata: TypeAlias = Mapping[str, Any]


class TextDocument(Protocol):
    """A text that may have an id; documents with one id are one document."""

    @property
    def content(self) -> str: ...

    @property
    def id(self) -> str | None: ...

    @property
    def metadata(self) -> Metadata: ...


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A text to remember; without an *id* the run gives it one before it is stored."""

    content: str
    id: str | None = None
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """A search for the *top_k* documents with a score of *threshold* (-1 to 1) or more.

    *known_texts* are those of the messages that the prompt has: a storage need not return them as messages again.
    """

    query: str
    top_k: int = 10
    threshold: float = 0.0
    known_texts: Sequence[str] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A document and its score, which is at most 1: the higher, the nearer to the query."""

    document: TextDocument
    score: float


class WriteStorage(Protocol):
    """Keeps documents by namespace; `None` is a namespace too."""

    def add(self, documents: Sequence[TextDocument], namespace: str | None = None) -> Sequence[str]:
        """Store documents and return the ids of those that were accepted; a known id is the same document."""
        ...

    def update(self, documents: Mapping[str, TextDocument], namespace: str | None = None) -> Sequence[str]:
        """Replace the documents of these ids and return the ids of those that existed."""
        ...


class AsyncWriteStorage(Protocol):
    """A `WriteStorage` whose methods are awaited."""

    def add(self, documents: Sequence[TextDocument], namespace: str | None = None) -> Awaitable[Sequence[str]]: ...

    def update(
        self, documents: Mapping[str, TextDocument], namespace: str | None = None
    ) -> Awaitable[Sequence[str]]: ...


class SearchStorage(Protocol):
    """Searches the documents of one namespace."""

    def search(self, request: SearchRequest, namespace: str | None = None) -> Sequence[SearchResult]:
        """Return the matching documents, the best first."""
        ...


class AsyncSearchStorage(Protocol):
    """A `SearchStorage` whose method is awaited."""

    def search(self, request: SearchRequest, namespace: str | None = None) -> Awaitable[Sequence[SearchResult]]: ...
