"""Memory of one run of an agent: stores its messages, searches memories for its prompts, and counts both."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent import futures
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from streambank_client.formats import Format
from streambank_client.http.drivers import Invoke, MustBeAwaited, Steps, is_asynchronous
from streambank_client.koog.cursor import PromptCursor
from streambank_client.koog.extraction import with_unique_ids
from streambank_client.koog.messages import ConversationMessage, PromptMessage, read_messages, read_reply
from streambank_client.koog.records import SearchRequest, SearchResult
from streambank_client.koog.settings import (
    FailurePolicy,
    IngestionError,
    IngestionSettings,
    IngestionTiming,
    RetrievalError,
    RetrievalSettings,
)
from streambank_client.limits import checked_function

# These are not failures of a storage. asyncio's own cancellation is no Exception and needs no entry.
_NOT_STORAGE_FAILURES = (futures.CancelledError, MustBeAwaited)
_log = logging.getLogger("streambank_client")


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of a run: its records, and its failed searches.

    *refused* records were not accepted by the storage; *lost* ones could not be stored because the storage failed.
    """

    stored: int = 0
    refused: int = 0
    lost: int = 0
    failed_searches: int = 0


class RunMemory:
    """What is done around the model calls of a run, as steps; it never changes the caller's messages."""

    def __init__(
        self,
        run_id: str,
        *,
        ingestion: IngestionSettings | None,
        retrieval: RetrievalSettings | None,
        message_format: Format,
        clock: Callable[[], datetime],
        known: Iterable[Any] = (),
    ) -> None:
        self.run_id = run_id
        self.counts = Counts()
        self._ingestion = ingestion if ingestion and ingestion.enable_automatic_ingestion else None
        self._retrieval = retrieval if retrieval and retrieval.enable_automatic_retrieval else None
        self._message_format = message_format
        self._clock = clock
        self._cursor = PromptCursor(run_id, read_messages(list(known), message_format))
        self._delayed: list[ConversationMessage] = []
        self._batches = 0
        self._is_open = self._has_ended = False
        # Several threads may call models at once. Nothing that is awaited or takes long is done under the lock.
        self._lock = threading.Lock()

    @property
    def stores_replies(self) -> bool:
        """Whether the replies of models are stored."""
        return self._ingestion is not None

    def begin(self) -> None:
        """Allow calls of models. Raises RuntimeError if the run was entered before."""
        if self._is_open or self._has_ended:
            raise RuntimeError("a run can be entered once; call LongTermMemory.run for another one")
        self._is_open = True

    def end(self) -> None:
        """Allow no more calls of models, and drop the messages that were to be stored at the end."""
        self._is_open, self._has_ended, self._delayed = False, True, []

    def before_call(self, messages: Any) -> Steps[Any]:
        """Store the new messages of a prompt, and return the prompt with memories, or itself if there are none."""
        self._check_open()
        if not self._ingestion and not self._retrieval:
            return messages
        prompt = read_messages(list(messages), self._message_format)
        # Stored first, so that no memory which is added to this prompt is stored as one of its messages.
        if self._ingestion:
            with self._lock:
                new = self._cursor.claim(prompt, now=self._clock())
            yield from self._deliver(new, self._ingestion)
        return (yield from self._augmented(prompt, messages, self._retrieval)) if self._retrieval else messages

    def after_call(self, reply: Any) -> Steps[None]:
        """Store a model's reply; that of a stream is the joined text of its frames."""
        self._check_open()
        if not self._ingestion:
            return
        replies = read_reply(reply, self._message_format)
        with self._lock:
            new = self._cursor.claim_reply(replies, now=self._clock())
        yield from self._deliver(new, self._ingestion)

    def complete(self) -> Steps[None]:
        """End a run that had no error: store the messages that were to be stored at its end."""
        delayed = self._delayed
        self.end()
        if self._ingestion and delayed:
            yield from self._store(delayed, self._ingestion)

    def _check_open(self) -> None:
        if not self._is_open:
            raise RuntimeError("the run is not entered, or has ended: call models and read streams within the run")

    # ---- ingestion

    def _deliver(self, messages: list[ConversationMessage], settings: IngestionSettings) -> Steps[None]:
        if settings.timing is IngestionTiming.ON_AGENT_COMPLETION:
            with self._lock:
                self._delayed += messages
        elif messages:
            yield from self._store(messages, settings)

    def _store(self, messages: list[ConversationMessage], settings: IngestionSettings) -> Steps[None]:
        extract = checked_function(settings.extraction_strategy, "extraction_strategy", "extract")
        extracted = yield Invoke(lambda: extract(messages))
        with self._lock:
            self._batches += 1
            batch_id = f"{self.run_id}-b{self._batches}"
        records = with_unique_ids(extracted, default_id=batch_id)
        if not records:
            return
        add = settings.storage.add
        try:
            stored_ids = yield Invoke(lambda: add(records, settings.namespace), may_block=not is_asynchronous(add))
        except _NOT_STORAGE_FAILURES:
            raise
        except Exception as error:
            self._count(lost=len(records))
            if settings.failure_policy is FailurePolicy.FAIL_FAST:
                raise IngestionError("messages could not be stored") from error
            _log.warning("ingestion failed", extra={"error_type": type(error).__name__, "records": len(records)})
            return
        self._count(stored=len(stored_ids), refused=len(records) - len(stored_ids))

    # ---- retrieval

    def _augmented(self, prompt: Sequence[PromptMessage], messages: Any, settings: RetrievalSettings) -> Steps[Any]:
        query = yield Invoke(lambda: settings.query(prompt))
        if not query or not query.strip():
            return messages
        results = yield from self._search(query, prompt, settings)
        return (yield Invoke(lambda: settings.augmenter(prompt, results))) if results else messages

    def _search(
        self, query: str, prompt: Sequence[PromptMessage], settings: RetrievalSettings
    ) -> Steps[Sequence[SearchResult]]:
        texts = tuple(message.text for message in prompt if message.text.strip())
        request = SearchRequest(query=query, top_k=settings.top_k, threshold=settings.threshold, known_texts=texts)
        search = settings.storage.search
        try:
            results: Sequence[SearchResult] = yield Invoke(
                lambda: search(request, settings.namespace), may_block=not is_asynchronous(search)
            )
        except _NOT_STORAGE_FAILURES:
            raise
        except Exception as error:
            self._count(failed_searches=1)
            if settings.failure_policy is FailurePolicy.FAIL_FAST:
                raise RetrievalError("memories could not be searched") from error
            _log.warning("retrieval failed", extra={"error_type": type(error).__name__})
            return ()
        return results

    def _count(self, **more: int) -> None:
        with self._lock:
            self.counts = replace(self.counts, **{name: getattr(self.counts, name) + by for name, by in more.items()})
