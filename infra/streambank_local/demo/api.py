"""The few calls of the HTTP API that the demo makes."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import httpx

BANK = "memoryBanks/default"
# Local mode's own; nothing beyond this machine reaches the service.
TOKEN = "local"  # noqa: S105

Document = dict[str, Any]


class DemoError(Exception):
    """Something that the demo promises did not happen."""


def instant(text: str) -> datetime:
    """Return the time that the service wrote as *text*."""
    return datetime.fromisoformat(text)


class Api:
    """A bank over HTTP, and the clock of local mode. Every call raises DemoError where the service refuses it."""

    def __init__(self, base_url: str) -> None:
        # An advance answers only after all work that came due is done.
        self._http = httpx.Client(base_url=base_url, headers={"authorization": f"Bearer {TOKEN}"}, timeout=60)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def now(self) -> datetime:
        """Return the service's time."""
        return instant(self._call("GET", "/_local/counters")["now"])

    def advance(self, by: timedelta) -> None:
        """Move the service's clock, and with it everything that comes due on the way."""
        answer = self._call("POST", "/_local/clock:advance", {"seconds": by.total_seconds()})
        if not answer["settled"]:
            raise DemoError("the service did not finish the work that came due")

    def ingest(self, body: Document) -> Document:
        """Send events; return the operation of the window that they are in."""
        return self._call("POST", f"/v1/{BANK}/memories:ingestEvents", body)

    def get(self, name: str) -> Document:
        """Return an operation or a memory by its resource name."""
        return self._call("GET", f"/v1/{name}")

    def is_gone(self, name: str) -> bool:
        """Tell whether the service answers 404 for *name*."""
        return self._send("GET", f"/v1/{name}", None).status_code == httpx.codes.NOT_FOUND

    def memories(self, scope: Mapping[str, str]) -> list[Document]:
        """Return all memories of *scope*."""
        return [found["memory"] for found in self._retrieve({"scope": scope})]

    def search(self, scope: Mapping[str, str], query: str, top_k: int) -> list[Document]:
        """Return the memories nearest to *query*, with their distances."""
        return self._retrieve({"scope": scope, "similaritySearchParams": {"searchQuery": query, "topK": top_k}})

    def revisions(self, memory_name: str) -> list[Document]:
        """Return the revisions of a memory, newest first."""
        revisions: list[Document] = self._call("GET", f"/v1/{memory_name}/revisions")["memoryRevisions"]
        return revisions

    def _retrieve(self, body: Document) -> list[Document]:
        found: Sequence[Document] = self._call("POST", f"/v1/{BANK}/memories:retrieve", body)["retrievedMemories"]
        return list(found)

    def _call(self, method: str, path: str, body: Document | None = None) -> Document:
        answer = self._send(method, path, body)
        if answer.status_code != httpx.codes.OK:
            raise DemoError(f"{method} {path} answered {answer.status_code}: {' '.join(answer.text.split())}")
        document: Document = answer.json()
        return document

    def _send(self, method: str, path: str, body: Document | None) -> httpx.Response:
        try:
            return self._http.request(method, path, json=body)
        except httpx.HTTPError as error:
            raise DemoError(f"{method} {path} got no answer: {error}") from error
