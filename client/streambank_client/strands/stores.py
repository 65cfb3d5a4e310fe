"""Stores of the memory manager: their protocol, and the check of their configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from streambank_client.strands.triggers import IntervalTrigger
from streambank_client.strands.types import (
    DEFAULT_MEMORY_MESSAGE_FILTER,
    Extraction,
    ExtractionConfig,
    ExtractionTrigger,
    Extractor,
    MemoryMessageFilter,
    extraction_config,
)


@dataclass
class MemoryEntry:
    """A memory that a search returned."""

    content: str
    store_name: str | None = None
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class AddMessagesContext:
    """Numbers and ids of the messages of one batch; they are the same when the batch is saved again.

    *sequence_numbers* grow and may have gaps; they start at 0 for each *run_id*. *message_ids* has the messages' own
    ids, or None for a message without one.
    """

    sequence_numbers: list[int] | None = None
    run_id: str | None = None
    message_ids: list[str | None] | None = None


@dataclass(frozen=True)
class Ingested:
    """The result of a batch: *sent* events were accepted, *refused* are the ids of those that never will be.

    *dropped* has the number of parts of messages that were left out, by reason.
    """

    sent: int
    refused: tuple[str, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)


class MemoryStore(Protocol):
    """A store; it is *writable* if its type has `add_messages(messages, context)` or `add(content, metadata)`."""

    @property
    def name(self) -> str: ...

    @property
    def writable(self) -> bool: ...

    @property
    def extraction(self) -> Extraction: ...


@dataclass(frozen=True)
class StoreBinding:
    """A store with its extraction, including all defaults."""

    store: Any
    triggers: tuple[ExtractionTrigger, ...] = field(default_factory=lambda: (IntervalTrigger(),))
    extractor: Extractor | None = None
    filter: MemoryMessageFilter = DEFAULT_MEMORY_MESSAGE_FILTER

    @property
    def name(self) -> str:
        return str(self.store.name)


def bindings(stores: Iterable[MemoryStore]) -> tuple[StoreBinding, ...]:
    """Check *stores* and return those with an extraction.

    Raises:
        ValueError: there is no store, two have the same name, or one does not support its configuration.
    """
    bound = {}
    for store in stores:
        if store.name in bound:
            raise ValueError(f"StreambankMemoryManager: two stores have the name {store.name!r}")
        bound[store.name] = _binding(store)
    if not bound:
        raise ValueError("StreambankMemoryManager: at least one store is required")
    return tuple(binding for binding in bound.values() if binding)


def has_method(store: object, name: str) -> bool:
    """Return whether the type of *store* implements a method; one inherited from the protocol only raises."""
    method = getattr(type(store), name, None)
    return callable(method) and getattr(method, "__qualname__", "") != f"MemoryStore.{name}"


def _binding(store: MemoryStore) -> StoreBinding | None:
    config = extraction_config(store.extraction)
    problem = _problem(store, config)
    if problem:
        raise ValueError(f"StreambankMemoryManager: store {store.name!r} {problem}")
    if config is None:
        return None
    triggers = config.triggers or (IntervalTrigger(),)
    return StoreBinding(store, triggers, config.extractor, config.filter or DEFAULT_MEMORY_MESSAGE_FILTER)


def _problem(store: MemoryStore, config: ExtractionConfig | None) -> str | None:
    takes_messages, takes_facts = has_method(store, "add_messages"), has_method(store, "add")
    if store.writable and not takes_messages and not takes_facts:
        return "is writable but has neither add nor add_messages"
    if config is None:
        return None
    if not store.writable:
        return "has an extraction but is not writable"
    if config.extractor is not None and not takes_facts:
        return "has an extractor but no add, which its facts need"
    if config.extractor is None and not takes_messages:
        return "has an extraction without an extractor but no add_messages"
    return None
