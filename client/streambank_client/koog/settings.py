"""Settings of ingestion and retrieval, and the errors of both."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from streambank_client.errors import StreambankError
from streambank_client.koog.augmentation import Augmenter, SystemPromptAugmenter, last_user_message
from streambank_client.koog.extraction import ExtractionStrategy, FilteringExtractionStrategy
from streambank_client.koog.messages import PromptMessage
from streambank_client.koog.records import AsyncSearchStorage, AsyncWriteStorage, SearchStorage, WriteStorage
from streambank_client.limits import checked_function, checked_scope, with_method

QueryProvider: TypeAlias = Callable[[Sequence[PromptMessage]], str | Awaitable[str | None] | None]

# A missing storage raises ValueError, like every other error in settings.
_UNSET: Any = None


class IngestionTiming(StrEnum):
    """When messages are stored: each of them once in a run."""

    ON_LLM_CALL = "ON_LLM_CALL"
    """New messages of a prompt before the model is called, and its reply afterwards."""
    ON_AGENT_COMPLETION = "ON_AGENT_COMPLETION"
    """All messages of a run when it has ended without an error; none of a run that failed."""


class FailurePolicy(StrEnum):
    """How a run handles a failure of the storage. A cancellation always ends the run."""

    LOG_AND_CONTINUE = "LOG_AND_CONTINUE"
    """The failure is logged and counted in `Run.counts`, and the model is called anyway."""
    FAIL_FAST = "FAIL_FAST"
    """`IngestionError` or `RetrievalError` is raised, with the failure as its cause."""


class IngestionError(StreambankError):
    """Messages could not be stored; its cause is the storage's error."""


class RetrievalError(StreambankError):
    """Memories could not be searched; its cause is the storage's error."""


@dataclass(frozen=True, kw_only=True)
class IngestionSettings:
    """How messages become records, when, and where they are stored.

    storage: required; an asynchronous one needs an asynchronous model function.
    extraction_strategy: makes records of messages, a callable or an object with `extract(messages)`; its errors are
        raised to the caller.
    enable_automatic_ingestion: if False, only direct calls of `LongTermMemory.ingestion_storage` store messages.
    namespace: an argument of every call of the storage.

    Raises:
        ValueError: there is no storage with `add`, the strategy cannot be called, the timing or the policy is unknown,
            the namespace is empty or too long.
    """

    storage: WriteStorage | AsyncWriteStorage = _UNSET
    extraction_strategy: ExtractionStrategy = field(default_factory=FilteringExtractionStrategy)
    timing: IngestionTiming = IngestionTiming.ON_LLM_CALL
    enable_automatic_ingestion: bool = True
    namespace: str | None = None
    failure_policy: FailurePolicy = FailurePolicy.LOG_AND_CONTINUE

    def __post_init__(self) -> None:
        _check_storage(self.storage, "add", self.namespace)
        checked_function(self.extraction_strategy, "extraction_strategy", "extract")
        object.__setattr__(self, "timing", IngestionTiming(self.timing))
        object.__setattr__(self, "failure_policy", FailurePolicy(self.failure_policy))


@dataclass(frozen=True, kw_only=True)
class RetrievalSettings:
    """How memories are searched before each call of a model, and how they are added to its prompt.

    storage: required; an asynchronous one needs an asynchronous model function.
    top_k: how many memories at most, 1 to 100.
    threshold: the least score, -1 to 1.
    query: returns the text to search for, or None to search for nothing.
    augmenter: returns the messages to send instead of the prompt, which it must not change.
    enable_automatic_retrieval: if False, only direct calls of `LongTermMemory.retrieval_storage` search.

    Raises:
        ValueError: there is no storage with `search`, query or augmenter cannot be called, a number is out of range,
            the policy is unknown, the namespace is empty or too long.
    """

    storage: SearchStorage | AsyncSearchStorage = _UNSET
    top_k: int = 10
    threshold: float = 0.0
    query: QueryProvider = last_user_message
    augmenter: Augmenter = field(default_factory=SystemPromptAugmenter)
    enable_automatic_retrieval: bool = True
    namespace: str | None = None
    failure_policy: FailurePolicy = FailurePolicy.LOG_AND_CONTINUE

    def __post_init__(self) -> None:
        _check_storage(self.storage, "search", self.namespace)
        checked_function(self.query, "query", "__call__")
        checked_function(self.augmenter, "augmenter", "__call__")
        if isinstance(self.top_k, bool) or not isinstance(self.top_k, int) or not 1 <= self.top_k <= 100:
            raise ValueError("top_k must be a whole number from 1 to 100")
        if not -1 <= self.threshold <= 1:
            raise ValueError("threshold must be from -1 to 1")
        object.__setattr__(self, "failure_policy", FailurePolicy(self.failure_policy))


def _check_storage(storage: Any, method: str, namespace: str | None) -> None:
    if storage is None:
        raise ValueError("storage must be set")
    with_method(storage, "storage", method)
    if namespace == "":
        raise ValueError("namespace must not be empty; leave it out for none")
    if namespace is not None:
        checked_scope({"namespace": namespace})
