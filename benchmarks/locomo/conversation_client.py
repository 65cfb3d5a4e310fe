"""Sends conversations and questions to a running service over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import httpx

from benchmarks.locomo.conversations import Conversation, Turn
from streambank_local.service import LocalService

_BANK = "/v1beta1/projects/bench/locations/here/reasoningEngines/default"
_TIMEOUT_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class ConversationClient:
    """The calls of one conversation, which is one stream in its own scope; each session is a window."""

    service: LocalService
    http: httpx.Client
    number: int
    conversation: Conversation

    @property
    def scope(self) -> dict[str, str]:
        return {"conversation": str(self.number)}

    def ingest(self) -> None:
        """Send every session, and wait for its memories."""
        for _, session in groupby(self.conversation.turns, key=lambda turn: turn.session):
            events = [_event(turn) for turn in session]
            self._post(
                "memories:ingestEvents",
                {"streamId": "talk", "directContentsSource": {"events": events}, "forceFlush": True},
            )
            if not self.service.wait_until_idle(_TIMEOUT_SECONDS):
                raise TimeoutError("the service is still busy")

    def memories(self) -> list[dict[str, Any]]:
        """Return every memory of the conversation."""
        memories, token = list[dict[str, Any]](), ""
        while True:
            reply = self._post("memories:retrieve", {"simpleRetrievalParams": {"pageSize": 100, "pageToken": token}})
            memories += [row["memory"] for row in reply["retrievedMemories"]]
            token = reply.get("nextPageToken", "")
            if not token:
                return memories

    def search(self, question: str, top_k: int, *, events: bool) -> list[set[str]]:
        """Return the turns of each result, the best one first."""
        params = {"searchQuery": question, "topK": top_k, "includeEvents": events}
        reply = self._post("memories:retrieve", {"similaritySearchParams": params})
        rows = [(row["distance"], set(self.cited_turns(row["memory"]))) for row in reply["retrievedMemories"]]
        rows += [(row["distance"], {row["event"]["eventId"]}) for row in reply.get("retrievedEvents", [])]
        return [turns for _, turns in sorted(rows, key=lambda row: row[0])]

    def cited_turns(self, memory: dict[str, Any]) -> Iterator[str]:
        """Yield the turns that *memory* cites; the stream numbers them in the order of sending."""
        for source in memory.get("sources", []):
            for sequence in source["sequences"]:
                yield self.conversation.turns[sequence - 1].id

    def _post(self, method: str, body: dict[str, Any]) -> dict[str, Any]:
        reply = self.http.post(f"{_BANK}/{method}", json={"scope": self.scope, **body})
        reply.raise_for_status()
        document: dict[str, Any] = reply.json()
        return document


def _event(turn: Turn) -> dict[str, Any]:
    content = {"role": "user", "parts": [{"text": turn.text}]}
    return {"eventId": turn.id, "eventTime": turn.at.isoformat(), "content": content}
