"""One run of an agent: what of it is stored, what is recalled for it, and what became of that."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent import futures
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from streambank_client.formats import Format
from streambank_client.koog.cursor import Cursor
from streambank_client.koog.extraction import told_apart
from streambank_client.koog.messages import Message, PromptMessage, read, read_reply
from streambank_client.koog.records import SearchRequest, SearchResult
from streambank_client.koog.settings import (
    FailurePolicy,
    IngestionError,
    IngestionSettings,
    IngestionTiming,
    RetrievalError,
    RetrievalSettings,
)
from streambank_client.koog.steps import Ask, MustBeAwaited, Steps, is_asynchronous

# asyncio's own cancellation is no Exception; these are, and are not a storage's failures.
_NO_FAILURES = (futures.CancelledError, MustBeAwaited)
_log = logging.getLogger("streambank_client")


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of a run's records, and of its searches.

    *refused* records are those that the storage answered for but did not take; *lost* those whose storing failed.
    """

    stored: int = 0
    refused: int = 0
    lost: int = 0
    failed_searches: int = 0


class Conversation:
    """What a run asks of memory, as steps; the messages it was given are never changed."""

    def __init__(
        self,
        run_id: str,
        *,
        ingestion: IngestionSettings | None,
        retrieval: RetrievalSettings | None,
        form: Format,
        clock: Callable[[], datetime],
        known: Iterable[Any] = (),
    ) -> None:
        self.run_id = run_id
        self.counts = Counts()
        self._ingestion = ingestion if ingestion and ingestion.enable_automatic_ingestion else None
        self._retrieval = retrieval if retrieval and retrieval.enable_automatic_retrieval else None
        self._form = form
        self._clock = clock
        self._cursor = Cursor(run_id, read(list(known), form))
        self._held: list[Message] = []
        self._batches = 0
        self._is_open = self._has_ended = False
        # Models may be called at once from several threads; what is awaited or may take long is never under it.
        self._lock = threading.Lock()

    @property
    def stores(self) -> bool:
        """Whether what a model answers is wanted at all."""
        return self._ingestion is not None

    def begin(self) -> None:
        """Let models be called. Raises RuntimeError where the run was begun before."""
        if self._is_open or self._has_ended:
            raise RuntimeError("a run can be entered once; ask LongTermMemory.run for another one")
        self._is_open = True

    def end(self) -> None:
        """Let no more models be called, and forget what was held back."""
        self._is_open, self._has_ended, self._held = False, True, []

    def before_call(self, messages: Any) -> Steps[Any]:
        """Store what is new in a prompt, and return it with what is remembered; itself where nothing is."""
        self._check_open()
        if not self._ingestion and not self._retrieval:
            return messages
        prompt = read(list(messages), self._form)
        # Stored first, so that nothing which was recalled for this call is ever among it.
        if self._ingestion:
            with self._lock:
                new = self._cursor.claim(prompt, now=self._clock())
            yield from self._deliver(new, self._ingestion)
        return (yield from self._augmented(prompt, messages, self._retrieval)) if self._retrieval else messages

    def after_call(self, reply: Any) -> Steps[None]:
        """Store what a model answered; a stream's frames come joined, as a text."""
        self._check_open()
        if not self._ingestion:
            return
        answered = read_reply(reply, self._form)
        with self._lock:
            new = self._cursor.claim_reply(answered, now=self._clock())
        yield from self._deliver(new, self._ingestion)

    def completed(self) -> Steps[None]:
        """End a run that went well: store what was held back until here."""
        held = self._held
        self.end()
        if self._ingestion and held:
            yield from self._store(held, self._ingestion)

    def _check_open(self) -> None:
        if not self._is_open:
            raise RuntimeError("the run is not entered, or has ended: call models, and read streams, within it")

    # ---- ingestion

    def _deliver(self, messages: list[Message], settings: IngestionSettings) -> Steps[None]:
        if settings.timing is IngestionTiming.ON_AGENT_COMPLETION:
            with self._lock:
                self._held += messages
        elif messages:
            yield from self._store(messages, settings)

    def _store(self, messages: list[Message], settings: IngestionSettings) -> Steps[None]:
        extracted = yield Ask(lambda: settings.extraction_strategy(messages))
        with self._lock:
            self._batches += 1
            batch = f"{self.run_id}-b{self._batches}"
        records = told_apart(extracted, otherwise=batch)
        if not records:
            return
        add = settings.storage.add
        try:
            taken = yield Ask(lambda: add(records, settings.namespace), may_block=not is_asynchronous(add))
        except _NO_FAILURES:
            raise
        except Exception as error:
            self._count(lost=len(records))
            if settings.failure_policy is FailurePolicy.FAIL_FAST:
                raise IngestionError("messages could not be stored") from error
            _log.warning("ingestion failed", extra={"error_type": type(error).__name__, "records": len(records)})
            return
        self._count(stored=len(taken), refused=len(records) - len(taken))

    # ---- retrieval

    def _augmented(self, prompt: Sequence[PromptMessage], messages: Any, settings: RetrievalSettings) -> Steps[Any]:
        query = yield Ask(lambda: settings.query(prompt))
        if not query or not query.strip():
            return messages
        found = yield from self._found(query, settings)
        return (yield Ask(lambda: settings.augmenter(prompt, found))) if found else messages

    def _found(self, query: str, settings: RetrievalSettings) -> Steps[Sequence[SearchResult]]:
        request = SearchRequest(query=query, top_k=settings.top_k, threshold=settings.threshold)
        search = settings.storage.search
        try:
            found: Sequence[SearchResult] = yield Ask(
                lambda: search(request, settings.namespace), may_block=not is_asynchronous(search)
            )
        except _NO_FAILURES:
            raise
        except Exception as error:
            self._count(failed_searches=1)
            if settings.failure_policy is FailurePolicy.FAIL_FAST:
                raise RetrievalError("memories could not be searched") from error
            _log.warning("retrieval failed", extra={"error_type": type(error).__name__})
            return ()
        return found

    def _count(self, **more: int) -> None:
        with self._lock:
            self.counts = replace(self.counts, **{name: getattr(self.counts, name) + by for name, by in more.items()})
