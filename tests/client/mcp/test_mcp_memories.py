"""What the tools of the MCP server ask of the service, with replies from a script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from streambank_client import errors
from streambank_client.mcp.answers import UNKNOWN_MEMORY, Answer
from streambank_client.mcp.scoped_memories import CALL_SECONDS, ScopedMemories
from tests.client.answering import Script, operation, refused, reply, script

SCOPE = {"user_id": "ada"}
INSTANT = "2026-01-02T03:04:05Z"
BUFFERING = reply(operation(metadata={"state": "GENERATING"}))
DONE = reply(operation(done=True, response={}, metadata={"state": "DONE"}))
LOST = refused(503, "UNAVAILABLE")


def memory(**more: Any) -> httpx.Response:
    name = "reasoningEngines/default/memories/m-1"
    return reply(
        {"name": name, "fact": "I like tea", "scope": SCOPE, "createTime": INSTANT, "updateTime": INSTANT, **more}
    )


def call(seam: Script, tool: str, **arguments: str) -> Answer:
    async def called() -> Answer:
        async with seam.async_client(timeout_seconds=CALL_SECONDS) as client:
            return await ScopedMemories(client.bank(), SCOPE, seam.clock.now).call(tool, arguments)

    return asyncio.run(called())


def ingested(seam: Script) -> Any:
    """Return the body of the first request."""
    return json.loads(seam.asked[0].content)


def states(*verdicts: dict[str, str]) -> Callable[[httpx.Request], httpx.Response]:
    """Return what the service says of the event that was ingested."""

    def state(request: httpx.Request) -> httpx.Response:
        [event_id] = json.loads(request.content)["eventIds"]
        return reply({"events": [{"eventId": event_id, "state": "DONE", "verdicts": list(verdicts)}]})

    return state


def test_remember_flushes_an_event_of_its_own() -> None:
    """A text is one event with an id, in the server's own stream, which is flushed; the answer has the verdicts."""
    seam = script(BUFFERING, DONE)
    created = {"fact": "I like tea", "verdict": "CREATED", "memory": "b/memories/m-1", "reason": "new"}
    seam.answers.append(states(created))
    answer = call(seam, "remember", text="I like tea.")
    body = ingested(seam)
    [event] = body["directContentsSource"]["events"]
    assert (body["scope"], body["streamId"], body["forceFlush"]) == (SCOPE, "mcp", True)
    assert event["eventId"].startswith("mcp-")
    assert "- [m-1] new: I like tea (new)" in answer.text
    assert not answer.is_error


def test_each_text_has_another_id() -> None:
    """The same text said twice is two events."""
    bodies = []
    for _ in range(2):
        seam = script(DONE)
        seam.answers.append(states())
        call(seam, "remember", text="I like tea.")
        bodies.append(ingested(seam)["directContentsSource"]["events"][0]["eventId"])
    assert bodies[0] != bodies[1]


def test_remember_says_that_nothing_was_kept() -> None:
    """A text without a fact is no success in disguise."""
    seam = script(DONE)
    seam.answers.append(states())
    assert "nothing was stored" in call(seam, "remember", text="Hello.").text


def test_remember_ends_its_wait() -> None:
    """After at most 20 seconds the answer says that the service goes on; it is no error, and not to be repeated."""
    seam = script(BUFFERING)
    begun = seam.clock.time
    answer = call(seam, "remember", text="I like tea.")
    assert seam.clock.time - begun <= 20
    assert "Do not send it again" in answer.text
    assert not answer.is_error


def test_remember_says_what_is_stored_when_the_service_goes_away() -> None:
    """Once the event is accepted, a failure does not make a model send it again."""
    seam = script(BUFFERING, LOST)
    begun = seam.clock.time
    answer = call(seam, "remember", text="I like tea.")
    assert seam.clock.time - begun <= 21
    assert answer.text.startswith("The text is stored")
    assert not answer.is_error


def test_remember_fails_where_nothing_was_stored() -> None:
    """A call that was not accepted is an error."""
    with pytest.raises(errors.Unavailable):
        call(script(LOST), "remember", text="I like tea.")


def test_a_generation_that_failed_is_an_error() -> None:
    """The reason of the service is in the answer."""
    failed = reply(operation(done=True, error={"code": 8, "message": "throttled"}))
    answer = call(script(BUFFERING, failed), "remember", text="I like tea.")
    assert answer.is_error
    assert "throttled" in answer.text


@pytest.mark.parametrize("tool", ["forget", "history"])
@pytest.mark.parametrize(
    "seam",
    [
        script(refused(404, "NOT_FOUND", "memories/m-1")),
        script(memory(scope={"user_id": "eve"})),
        script(memory(scope={"user_id": "ada", "app": "notes"})),
        script(memory(scope={})),
    ],
)
def test_a_memory_of_another_scope_is_unknown(tool: str, seam: Script) -> None:
    """A memory that the key reaches and the scope does not is refused as one that does not exist, after one read."""
    seam.asked.clear()
    assert call(seam, tool, memory="m-1") == Answer(UNKNOWN_MEMORY, is_error=True)
    assert [request.method for request in seam.asked] == ["GET"]


@pytest.mark.parametrize("memory_id", ["", "..", "a/b", "m-1?x=1", "m-1:rollback", "M", "\ud800", "x" * 64, "m\n"])
@pytest.mark.parametrize("tool", ["forget", "history"])
def test_what_is_no_id_is_unknown(tool: str, memory_id: str) -> None:
    """A text that can be no id of a memory is not sent."""
    seam = script(memory())
    assert call(seam, tool, memory=memory_id) == Answer(UNKNOWN_MEMORY, is_error=True)
    assert seam.asked == []


def test_forget_deletes_a_memory_of_the_scope() -> None:
    """The memory is read, then deleted, and its text is in the answer."""
    seam = script(memory(), DONE)
    answer = call(seam, "forget", memory="m-1")
    assert [request.method for request in seam.asked] == ["GET", "DELETE"]
    assert "I like tea" in answer.text
    assert not answer.is_error


def test_a_memory_that_is_deleted_meanwhile_is_unknown() -> None:
    """Two deletions of one memory: the second finds none."""
    assert call(script(memory(), refused(404, "NOT_FOUND")), "forget", memory="m-1").is_error


def test_a_role_that_is_missing_is_no_unknown_memory() -> None:
    """A key that may not read is named as the reason."""
    with pytest.raises(errors.PermissionDenied):
        call(script(refused(403, "PERMISSION_DENIED")), "forget", memory="m-1")


def test_recall_offers_pending_events() -> None:
    """What was said and is no memory yet is a result, and has a mark."""
    event = {"event": {"content": {"role": "user", "parts": [{"text": "I moved to Linz"}]}}, "streamId": "s"}
    found = reply({"retrievedEvents": [{**event, "window": 1, "sequence": 1, "pending": True, "distance": 0.1}]})
    seam = script(found)
    assert "- [pending] user: I moved to Linz" in call(seam, "recall", query="Where do I live?").text
    [body] = seam.bodies()
    assert body["scope"] == SCOPE
    assert body["similaritySearchParams"]["includePending"] is True


def test_recall_asks_for_the_past() -> None:
    """A day begins in UTC, an RFC 3339 time is itself, and the answer says from when on it misses nothing."""
    one = {"memory": json.loads(memory().content), "distance": 0.1}
    seam = script(reply({"retrievedMemories": [one], "historyStartTime": INSTANT}))
    answer = call(seam, "recall", query="tea", asOf=" 2026-03-01 ", knownAsOf="2026-04-01T02:00:00+02:00")
    [body] = seam.bodies()
    times = [datetime.fromisoformat(body[name]) for name in ("asOf", "knownAsOf")]
    assert times == [datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)]
    assert "Nearest first (1) of that time. Before 2026-01-02 03:04 UTC some texts may be missing." in answer.text
    assert "I like tea" in answer.text


def test_recall_without_a_time_is_of_now() -> None:
    """No time is sent where none is given, or a blank one; an empty answer of the past is no answer of now."""
    for times in ({}, {"asOf": "", "knownAsOf": " "}):
        seam = script(reply({}))
        assert call(seam, "recall", query="tea", **times).text == "Nothing is remembered about this."
        assert not {"asOf", "knownAsOf"} & set(seam.bodies()[0])
    assert "Nothing of that time" in call(script(reply({})), "recall", query="tea", asOf="2026-03-01").text


@pytest.mark.parametrize("name", ["asOf", "knownAsOf"])
@pytest.mark.parametrize("text", ["yesterday", "1772323200", "2026-02-30", "\ud800", "0001-01-01T00:00:00+23:00"])
def test_what_is_no_time_is_not_sent(name: str, text: str) -> None:
    """A model that wrote no time reads how one is spelled, without its text."""
    seam = script(reply({}))
    answer = call(seam, "recall", query="tea", **{name: text})
    assert answer.is_error
    assert answer.text.startswith(f"{name} is no time. Send a day such as 2026-03-01")
    assert seam.asked == []


def test_lists_have_a_limit() -> None:
    """A long list ends after its first page, and says so."""
    one = json.loads(memory().content)
    page = reply({"retrievedMemories": [{"memory": one}] * 100, "nextPageToken": "t"})
    seam = script(page, page)
    assert "of more (100)" in call(seam, "list_memories").text
    assert len(seam.asked) <= 2
