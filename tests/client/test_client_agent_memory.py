"""Recall and ingestion around runs: what is sent, and that no failure of the service is raised."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from streambank_client.agent_memory import AgentMemory
from streambank_client.koog import MemoryRecord
from tests.client.answering import Script, operation, refused, reply, script

SCOPE = {"user_id": "ada"}
MEMORY = {
    "name": "reasoningEngines/default/memories/m-1",
    "fact": "Lives in Graz.",
    "createTime": "2026-01-01T00:00:00Z",
    "updateTime": "2026-01-01T00:00:00Z",
}
FOUND = {"retrievedMemories": [{"memory": MEMORY, "distance": 0.5}]}
INGESTED = operation(metadata={"conflictingEventIds": []})
RECORDS = [MemoryRecord("I live in Graz.", "m-1", {"messageRole": "User"})]


def memory(seam: Script, **settings: Any) -> AgentMemory:
    return AgentMemory(seam.client(retries=0).bank(), **{"scope": SCOPE, **settings})


def bodies(seam: Script) -> list[Any]:
    return [json.loads(request.content) for request in seam.asked]


def test_memories_are_a_marked_block() -> None:
    """What is recalled is in the block that the service never learns from."""
    seam = script(reply(FOUND))
    assert memory(seam, top_k=5).recall(None, "Where?") == (
        "<streambank-memory>\n- Lives in Graz.\n</streambank-memory>"
    )
    assert bodies(seam)[0]["scope"] == SCOPE
    assert bodies(seam)[0]["similaritySearchParams"]["searchQuery"] == "Where?"


def test_a_blank_query_is_no_search() -> None:
    """Without a text of the user nothing is searched."""
    seam = script(reply(FOUND))
    assert memory(seam).recall(None, " \n") == ""
    assert seam.asked == []


def test_scope_and_stream_may_depend_on_the_run() -> None:
    """Functions get the framework's context, and the framework's own conversation counts without a stream."""
    seam = script(reply(INGESTED))
    of_run = memory(seam, scope=lambda run: {"user_id": run["user"]}, stream_id=lambda run: run["chat"])
    assert of_run.ingest({"user": "bob", "chat": "c-1"}, RECORDS, conversation="c-2")
    assert memory(seam).ingest(None, RECORDS, conversation="c-2")
    assert [(body["scope"]["user_id"], body["streamId"]) for body in bodies(seam)] == [("bob", "c-1"), ("ada", "c-2")]
    assert [body["directContentsSource"]["events"][0]["eventId"] for body in bodies(seam)] == ["m-1", "m-1"]


def test_nothing_is_sent_for_no_records() -> None:
    """A run without messages needs no call, and misses nothing."""
    seam = script(reply(INGESTED))
    assert memory(seam).ingest(None, [])
    assert seam.asked == []


@pytest.mark.parametrize(
    "answer", [refused(503, "UNAVAILABLE"), refused(401, "UNAUTHENTICATED"), httpx.ConnectError("away")]
)
def test_a_failure_is_logged_and_not_raised(answer: Any, caplog: pytest.LogCaptureFixture) -> None:
    """The run has no memory, the caller learns that messages are not stored, and the log has no text of theirs."""
    failing = memory(script(answer))
    assert failing.recall(None, "Where do I live?") == ""
    assert failing.ingest(None, RECORDS) is False
    assert [record.message for record in caplog.records] == ["retrieval failed", "ingestion failed"]
    assert "Graz" not in caplog.text


def test_a_scope_of_a_run_that_can_never_be_one_is_a_failure() -> None:
    """It breaks no run either."""
    wrong = memory(script(reply(FOUND)), scope=lambda _: {"user_id": "*"})
    assert wrong.recall(None, "Where?") == ""
    assert wrong.ingest(None, RECORDS) is False


@pytest.mark.parametrize(
    "settings", [{"scope": {}}, {"top_k": 0}, {"top_k": 101}, {"top_k": True}, {"generation_rule": {"event_count": 0}}]
)
def test_settings_that_can_never_work_are_refused(settings: dict[str, Any]) -> None:
    """The constructor raises, not the first run."""
    with pytest.raises(ValueError):
        memory(script(reply(FOUND)), **settings)


def test_an_asynchronous_bank_is_refused() -> None:
    """Runs that are awaited use a synchronous bank in other threads."""
    with pytest.raises(ValueError, match="synchronous"):
        AgentMemory(script(reply(FOUND)).async_client().bank(), scope=SCOPE)  # type: ignore[arg-type]
