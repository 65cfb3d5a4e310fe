"""A service at the other end of HTTP that keeps what it is sent, and fails when it is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from streambank_client.banks import Streambank

Document = dict[str, Any]
NOW = "2026-03-01T12:00:00Z"


@dataclass
class Stub(httpx.BaseTransport):
    """Stores events by their ids; *faults* answer the next requests, *lose* lets replies go astray after the work."""

    poison: Callable[[str], int | None] = lambda _: None
    faults: list[int] = field(default_factory=list)
    lose: int = 0
    requests: list[httpx.Request] = field(default_factory=list)
    events: dict[str, Document] = field(default_factory=dict)
    memories: dict[str, Document] = field(default_factory=dict)
    facts: list[Document] = field(default_factory=list)
    before: Callable[[], None] = lambda: None
    pending: list[Document] = field(default_factory=list)
    knows_everything: bool = False
    lose_edits: int = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        self.before()
        if self.faults:
            return refusal(self.faults.pop(0))
        answer = self._answer(request)
        if self.lose_edits and b'"m1-' in request.content:
            self.lose_edits -= 1
            raise httpx.ReadError("the line is cut", request=request)
        if self.lose:
            self.lose -= 1
            raise httpx.ReadError("the line is cut", request=request)
        return answer

    def _answer(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        body = json.loads(request.content or b"{}")
        if path.endswith(":ingestEvents"):
            return self._ingest(body)
        if path.endswith(":retrieve"):
            return httpx.Response(200, json={"retrievedMemories": self.facts, "retrievedEvents": self.pending})
        if path.endswith("/memories"):
            return self._create(body, request.headers["x-idempotency-key"])
        return httpx.Response(200, json={"name": path.removeprefix("/v1beta1/")})

    def _ingest(self, body: Document) -> httpx.Response:
        sent = body.get("directContentsSource", {}).get("events", [])
        for event in sent:
            status = self.poison(said(event))
            if status:
                return refusal(status)
        conflicting = [event["eventId"] for event in sent if self._known_otherwise(event)]
        for event in sent:
            self.events.setdefault(event["eventId"], event)
        told = {"acceptedEvents": len(sent), "conflictingEventIds": conflicting}
        return httpx.Response(200, json={"name": "reasoningEngines/b/operations/o", "done": False, "metadata": told})

    def _known_otherwise(self, event: Document) -> bool:
        if self.knows_everything:
            return True
        return event["eventId"] in self.events and self.events[event["eventId"]]["content"] != event["content"]

    def _create(self, body: Document, key: str) -> httpx.Response:
        self.memories.setdefault(key, body)
        memory = {"name": f"reasoningEngines/b/memories/{key}", "createTime": NOW, "updateTime": NOW, **body}
        return httpx.Response(
            200, json={"name": "reasoningEngines/b/operations/c", "done": True, "response": memory | {"metadata": {}}}
        )

    # ---- what came in

    def client(self, **settings: Any) -> Streambank:
        return Streambank("http://service", key="k", transport=self, sleep=lambda _: None, **settings)

    @property
    def bodies(self) -> list[Document]:
        return [json.loads(request.content) for request in self.requests if request.content]

    @property
    def texts(self) -> list[str]:
        return [said(event) for event in self.events.values()]


def said(event: Document) -> str:
    return "\n".join(part.get("text", "") for part in event["content"]["parts"])


def refusal(status: int) -> httpx.Response:
    names = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 409: "ALREADY_EXISTS"}
    body = {"error": {"code": status, "message": "no", "status": names.get(status, "UNAVAILABLE")}}
    return httpx.Response(status, json=body)


def waiting(event_id: str, text: str, distance: float, role: str = "user") -> Document:
    event = {"eventId": event_id, "content": {"role": role, "parts": [{"text": text}]}}
    place = {"streamId": "s", "window": 1, "sequence": 1, "pending": True}
    return {"event": event, **place, "distance": distance}


def remembered(fact: str, distance: float, **metadata: Any) -> Document:
    memory = {"name": f"reasoningEngines/b/memories/{fact}", "fact": fact, "createTime": NOW, "updateTime": NOW}
    wrapped = {key: {"stringValue": value} for key, value in metadata.items()}
    return {"memory": memory | {"metadata": wrapped}, "distance": distance}
