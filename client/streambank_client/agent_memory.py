"""Recall and ingestion around the runs of an agent: a failure of the service is logged, and the run goes on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from streambank_client.banks import Bank
from streambank_client.errors import StreambankError
from streambank_client.formats import render_memories
from streambank_client.koog import MemoryRecord, SearchRequest, StreambankStorage
from streambank_client.limits import checked_rule, checked_scope, synchronous
from streambank_client.types import MetadataValue
from streambank_client.types.events import GenerationRule

# A scope, or what returns the scope of a run: its argument is the framework's own context.
ScopeArgument: TypeAlias = Mapping[str, str] | Callable[[Any], Mapping[str, str]]
StreamArgument: TypeAlias = str | Callable[[Any], str] | None
_log = logging.getLogger("streambank_client")


class AgentMemory:
    """Searches memories for runs, and stores their messages; it does not raise where the service fails.

    bank: a `Bank` of a `Streambank`.
    scope: the scope of the memories, or a function that returns that of a run.
    stream_id: the conversation, or a function that returns that of a run.
    top_k, threshold: the number of recalled memories, 1 to 100, and the lowest score, -1 to 1.
    generation_rule: when memories are made; the default is the bank's rule, and without that each run.
    metadata: the metadata of the memories.
    include_pending: messages of which no memories are made yet are recalled too.

    Raises:
        ValueError: an argument could never work: it is beyond the service's limits, or the bank is asynchronous.
    """

    def __init__(
        self,
        bank: Bank,
        *,
        scope: ScopeArgument,
        stream_id: StreamArgument = None,
        top_k: int = 10,
        threshold: float = 0.0,
        generation_rule: GenerationRule | Mapping[str, Any] | None = None,
        metadata: Mapping[str, MetadataValue] | None = None,
        include_pending: bool = True,
    ) -> None:
        if isinstance(top_k, bool) or not isinstance(top_k, int) or not 1 <= top_k <= 100:
            raise ValueError("top_k must be a whole number from 1 to 100")
        self.bank = synchronous(bank, "bank", "ingest_events")
        self._scope = scope if callable(scope) else checked_scope(scope)
        self._stream_id = stream_id
        self._top_k = top_k
        self._threshold = threshold
        self._rule = checked_rule(generation_rule)
        self._metadata = metadata
        self._include_pending = include_pending

    def scope(self, context: Any) -> dict[str, str]:
        """Return the scope of a run. Raises ValueError if it can never be one."""
        return checked_scope(self._scope(context) if callable(self._scope) else self._scope)

    def recall(self, context: Any, query: str, known_texts: Sequence[str] = ()) -> str:
        """Return the memories nearest to *query* as a marked block of text, or "" if there are none.

        *known_texts* are those of the prompt: a pending message with one of them is left out.
        """
        if not query.strip():
            return ""
        request = SearchRequest(
            query=query, top_k=self._top_k, threshold=self._threshold, known_texts=tuple(known_texts)
        )
        try:
            results = self._storage(self.scope(context), "").search(request)
        except (StreambankError, ValueError) as error:
            _log.warning("retrieval failed", extra={"error_type": type(error).__name__})
            return ""
        return render_memories(result.document.content for result in results)

    def ingest(self, context: Any, records: Sequence[MemoryRecord], *, conversation: str | None = None) -> bool:
        """Store messages under their ids, and return whether the service has them; a repeat stores nothing.

        *conversation* is the framework's own id of it, which counts where no stream is configured.
        """
        if not records:
            return True
        stream_id = self._stream_id(context) if callable(self._stream_id) else self._stream_id
        try:
            self._storage(self.scope(context), stream_id or conversation or "").add(records)
        except (StreambankError, ValueError) as error:
            _log.warning("ingestion failed", extra={"error_type": type(error).__name__, "records": len(records)})
            return False
        return True

    def _storage(self, scope: Mapping[str, str], stream_id: str) -> StreambankStorage:
        return StreambankStorage(
            self.bank,
            scope=scope,
            stream_id=stream_id,
            generation_rule=self._rule,
            metadata=self._metadata,
            include_pending=self._include_pending,
        )
