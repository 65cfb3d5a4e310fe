"""Counts the service's requests to DynamoDB, and those that lost a race."""

from __future__ import annotations

import threading
from collections import Counter
from types import TracebackType
from typing import Any, Self

CONFLICT_CODES = ("TransactionCanceledException", "ConditionalCheckFailedException")
KINDS = ("ingest", "seal", "commit")
_CONTEXT_KEY = "streambank_load_kind"


class RequestCounter:
    """Counts the requests of DynamoDB clients while it is entered."""

    def __init__(self, *clients: Any) -> None:
        self._events = [client.meta.events for client in clients]
        self._lock = threading.Lock()
        self.requests: Counter[str] = Counter()
        self.conflicts: Counter[str] = Counter()

    def __enter__(self) -> Self:
        for events in self._events:
            events.register("provide-client-params.dynamodb", self._before)
            events.register("after-call.dynamodb", self._after)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for events in self._events:
            events.unregister("provide-client-params.dynamodb", self._before)
            events.unregister("after-call.dynamodb", self._after)

    def since(self, requests: Counter[str], conflicts: Counter[str]) -> tuple[Counter[str], Counter[str]]:
        """Return the counts beyond *requests* and *conflicts*."""
        return self.requests - requests, self.conflicts - conflicts

    def counts(self) -> tuple[Counter[str], Counter[str]]:
        """Return requests and conflicts by kind."""
        with self._lock:
            return self.requests.copy(), self.conflicts.copy()

    def _before(self, params: dict[str, Any], model: Any, context: dict[str, Any], **_: Any) -> None:
        context[_CONTEXT_KEY] = kind_of(model.name, params)

    def _after(self, parsed: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        kind, is_conflict = context[_CONTEXT_KEY], parsed.get("Error", {}).get("Code") in CONFLICT_CODES
        with self._lock:
            self.requests[kind] += 1
            self.conflicts[kind] += is_conflict


def kind_of(operation: str, params: dict[str, Any]) -> str:
    """Return the kind of a transaction, by its first items; of any other request, its operation."""
    if operation != "TransactWriteItems":
        return operation
    first, *rest = [_sort_key(action) for action in params["TransactItems"]]
    if first == "HEAD":
        return "seal" if rest and rest[0].startswith("W#") else "ingest"
    return "commit" if first.startswith("W#") else "other"


def _sort_key(action: dict[str, Any]) -> str:
    [request] = action.values()
    key: str = (request.get("Key") or request["Item"])["SK"]["S"]
    return key
