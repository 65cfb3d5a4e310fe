"""The few calls of the HTTP API that the demo makes."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import httpx

BANK = "memoryBanks/default"
# Local mode's fixed token; only this machine reaches the service.
TOKEN = "local"  # noqa: S105

Document = dict[str, Any]


class DemoError(Exception):
    """The demo could not be played."""


def parse_time(text: str) -> datetime:
    """Return the time that the service writes as *text*."""
    return datetime.fromisoformat(text)


class Api:
    """A bank over HTTP, and the clock of local mode; every call raises DemoError if the service refuses it."""

    def __init__(self, base_url: str) -> None:
        # An advance of the clock replies after all due work is done.
        self._http = httpx.Client(base_url=base_url, headers={"authorization": f"Bearer {TOKEN}"}, timeout=60)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def now(self) -> datetime:
        """Return the service's time."""
        return parse_time(self._call("GET", "/_local/counters")["now"])

    def advance(self, by: timedelta) -> None:
        """Move the service's clock, which runs everything that is due on the way."""
        reply = self._call("POST", "/_local/clock:advance", {"seconds": by.total_seconds()})
        if not reply["settled"]:
            raise DemoError("the service did not finish the due work")

    def ingest(self, body: Document) -> Document:
        """Send events; return the operation of the window that they are in."""
        return self._call("POST", f"/v1/{BANK}/memories:ingestEvents", body)

    def get(self, name: str) -> Document:
        """Return an operation or a memory by its resource name."""
        return self._call("GET", f"/v1/{name}")

    def candidates(self, operation_name: str) -> list[Document]:
        """Return the facts that a window yielded, with the events that each cites and the verdicts on it."""
        candidates: list[Document] = self._call("GET", f"/v1/{operation_name}?view=FULL")["detail"]["candidates"]
        return candidates

    def is_gone(self, name: str) -> bool:
        """Return whether the service replies 404 for *name*."""
        return self._send("GET", f"/v1/{name}", None).status_code == httpx.codes.NOT_FOUND

    def memories(self, scope: Mapping[str, str]) -> list[Document]:
        """Return all memories of *scope*."""
        return [row["memory"] for row in self._retrieve({"scope": scope})]

    def search(self, scope: Mapping[str, str], query: str, top_k: int) -> list[Document]:
        """Return the memories nearest to *query*, with their distances."""
        return self._retrieve({"scope": scope, "similaritySearchParams": {"searchQuery": query, "topK": top_k}})

    def revisions(self, memory_name: str) -> list[Document]:
        """Return the revisions of a memory, newest first."""
        revisions: list[Document] = self._call("GET", f"/v1/{memory_name}/revisions")["memoryRevisions"]
        return revisions

    def _retrieve(self, body: Document) -> list[Document]:
        rows: Sequence[Document] = self._call("POST", f"/v1/{BANK}/memories:retrieve", body)["retrievedMemories"]
        return list(rows)

    def _call(self, method: str, path: str, body: Document | None = None) -> Document:
        reply = self._send(method, path, body)
        if reply.status_code != httpx.codes.OK:
            raise DemoError(f"{method} {path} returned {reply.status_code}: {' '.join(reply.text.split())}")
        document: Document = reply.json()
        return document

    def _send(self, method: str, path: str, body: Document | None) -> httpx.Response:
        try:
            return self._http.request(method, path, json=body)
        except httpx.HTTPError as error:
            raise DemoError(f"{method} {path} got no reply: {error}") from error
