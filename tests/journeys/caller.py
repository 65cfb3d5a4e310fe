"""An application that calls the service over HTTP, in the spelling that Google's SDK sends."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import httpx

from streambank.wire.reader import camel
from streambank_local.service import LocalService

VERSION = "/v1beta1"
PARENT = "projects/demo/locations/here/reasoningEngines"
DEFAULT_BANK = f"{PARENT}/default"

Document = dict[str, Any]


def said(text: str, event_id: str | None = None, *, role: str = "user", at: str | None = None) -> Document:
    """Return an event as the SDK sends it: nested keys in snake_case."""
    event: Document = {"content": {"parts": [{"text": text}], "role": role}}
    return event | ({"event_id": event_id} if event_id else {}) | ({"event_time": at} if at else {})


def moment(text: str) -> datetime:
    """Return a time off the wire."""
    return datetime.fromisoformat(text).astimezone(UTC)


@dataclass
class Stream:
    """One stream of a bank."""

    caller: Caller
    bank: str
    scope: dict[str, str]
    name: str
    may_wait: bool = False

    def body(self, *events: Document, rule: Document | None = None, **config: Any) -> Document:
        """Return the call as the SDK writes it; *config* names are its options in snake_case."""
        self.may_wait = True
        body: Document = {"streamId": self.name, "scope": self.scope}
        if events:
            body["directContentsSource"] = {"events": list(events)}
        if rule is not None:
            body["generationTriggerConfig"] = {"generation_rule": rule}
        return body | {camel(name): value for name, value in config.items()}

    def send(self, *events: Document, **options: Any) -> Document:
        """Ingest and return the operation."""
        sent = self.caller.post(f"{self.bank}/memories:ingestEvents", self.body(*events, **options))
        self.may_wait = not sent["done"]
        return sent

    def flush(self, *events: Document, **options: Any) -> Document:
        """Ingest, force a flush, and return the operation as it is when all is done."""
        sent = self.send(*events, force_flush=True, **options)
        self.caller.settle()
        self.may_wait = False
        return self.caller.get(sent["name"])

    def items(self) -> list[Document]:
        """Return what the table holds of this stream."""
        sid = self.send()["name"].rsplit("/", 1)[-1].partition("-")[0]
        return self.caller.items(f"S#{self.bank.rsplit('/', 1)[-1]}#{sid}")


@dataclass
class Caller:
    """Calls the service; what its streams still hold when a test ends is flushed, so that tests do not meet."""

    service: LocalService
    client: httpx.Client
    streams: list[Stream] = field(default_factory=list)
    _numbers = itertools.count(1)

    def scope(self) -> dict[str, str]:
        """Return a scope that nobody used before."""
        return {"user_id": f"user-{next(self._numbers)}"}

    def stream(self, scope: dict[str, str] | None = None, name: str = "", bank: str = DEFAULT_BANK) -> Stream:
        """Return a stream, of a new scope unless one is given."""
        self.streams.append(Stream(self, bank, self.scope() if scope is None else scope, name))
        return self.streams[-1]

    def bank(self, **config: Any) -> str:
        """Create a bank and return its name; *config* is its memory_bank_config."""
        context = {"memory_bank_config": config}
        made: str = self.post(PARENT, {"context_spec": context, "displayName": "a bank"})["response"]["name"]
        return made

    # ---- HTTP

    def call(self, method: str, path: str, body: Any = None, *, status: int = 200, **options: Any) -> Document:
        """Send a request to a resource name or a path, check the status, and return the document."""
        url = path if path.startswith("/") else f"{VERSION}/{path}"
        reply = self.client.request(method, url, json=body, **options)
        assert reply.status_code == status, reply.text
        document: Document = reply.json()
        return document

    def get(self, path: str, **options: Any) -> Document:
        return self.call("GET", path, **options)

    def post(self, path: str, body: Any, **options: Any) -> Document:
        return self.call("POST", path, body, **options)

    def delete(self, path: str, body: Any = None, **options: Any) -> Document:
        return self.call("DELETE", path, body, **options)

    # ---- memories

    def retrieve(self, scope: dict[str, str], bank: str = DEFAULT_BANK, **options: Any) -> list[Document]:
        """Return retrieved memories with their distances."""
        found = self.post(f"{bank}/memories:retrieve", {"scope": scope, **options})
        rows: list[Document] = found["retrievedMemories"]
        return rows

    def find(self, scope: dict[str, str], query: str, top_k: int | None = None, bank: str = DEFAULT_BANK) -> list[str]:
        """Return the facts that are nearest to *query*."""
        params = {"search_query": query} | ({"top_k": top_k} if top_k else {})
        return [row["memory"]["fact"] for row in self.retrieve(scope, bank, similaritySearchParams=params)]

    def memories(self, scope: dict[str, str], bank: str = DEFAULT_BANK) -> list[Document]:
        """Return all memories of a scope."""
        return [row["memory"] for row in self.retrieve(scope, bank)]

    def facts(self, scope: dict[str, str], bank: str = DEFAULT_BANK) -> list[str]:
        return [memory["fact"] for memory in self.memories(scope, bank)]

    def revisions(self, memory: Document) -> list[Document]:
        """Return the revisions of a memory, newest first."""
        rows: list[Document] = self.get(f"{memory['name']}/revisions")["memoryRevisions"]
        return rows

    # ---- the service behind it

    def settle(self) -> None:
        assert self.service.wait_until_idle()

    def advance(self, **by: float) -> None:
        """Move the service's clock and let everything happen that is due on the way."""
        assert self.service.advance(timedelta(**by))

    def recover(self) -> None:
        """Let the minute sweep alone bring home what is due already."""
        # An advance overlooks a due time that the running clock passes just after its first sweep.
        self.advance(seconds=2)
        self.advance(minutes=5)

    def pass_unseen(self, **by: float) -> None:
        """Move the service's clock while nothing sweeps."""
        self.service.clock.advance(timedelta(**by))

    def generations(self) -> int:
        """Return how many generations were begun since the service started."""
        begun: int = self.service.counters()["invocations"]["Extract"]
        return begun

    def items(self, partition: str | None = None) -> list[Document]:
        """Return the items of the table, or of one partition; what the service made for itself is not told."""
        client = boto3.client("dynamodb", region_name="us-east-1")
        pages = client.get_paginator("scan").paginate(TableName=self.service.stack.table_name)
        found = (item for page in pages for item in page["Items"])
        told = (item for item in found if item["PK"]["S"] not in ("SECRETS", "IDS"))
        return [item for item in told if partition in (None, item["PK"]["S"])]

    def leave(self) -> None:
        """Flush what is still pending and let it come to rest."""
        lost_records = not self.service.poller_enabled
        self.service.poller_enabled = True
        for stream in (stream for stream in self.streams if stream.may_wait):
            self.client.post(f"{VERSION}/{stream.bank}/memories:ingestEvents", json=stream.body(force_flush=True))
        self.settle()
        if lost_records:
            self.recover()
