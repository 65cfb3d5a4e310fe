"""Waiting for operations, and going through lists."""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import Any

import pytest

from streambank_client import AsyncOperation, Operation, errors
from tests.client.answering import operation, refused, reply, script
from tests.client.samples import SCOPE

INSTANT = "2026-01-02T03:04:05Z"
RESPONSE = {"generateMemoriesOperation": "g"}
DONE = reply(operation(done=True, response=RESPONSE, metadata={"state": "DONE"}))
FAILED = reply(operation(done=True, error={"code": 8, "message": "throttled"}))


def memory(number: int) -> dict[str, Any]:
    return {"name": f"b/memories/{number}", "fact": str(number), "createTime": INSTANT, "updateTime": INSTANT}


def page(*numbers: int, token: str = "") -> Any:
    return reply({"memories": [memory(number) for number in numbers]} | ({"nextPageToken": token} if token else {}))


# ---- waiting


def test_wait_asks_with_growing_pauses() -> None:
    """An operation is asked about after a quarter of a second, then ever less often, at least every five."""
    seam = script(*[reply(operation())] * 12, DONE)
    done = seam.client().bank().ingest_events(scope=SCOPE).wait(timeout_seconds=600)
    assert (done.done, done.response and done.response.generate_memories_operation) == (True, "g")
    assert done.metadata.state == "DONE"
    pauses = seam.clock.slept
    assert pauses[0] == 0.25
    assert pauses == sorted(pauses)
    assert pauses[-1] == 5.0
    assert {(request.method, request.url.path.rsplit("/", 1)[1]) for request in seam.asked[1:]} == {("GET", "o-1")}


def test_wait_ends_at_its_time() -> None:
    """An operation that is not done in time is told as that, within the time, and can be waited for again."""
    seam = script(reply(operation()))
    running = seam.client().bank().ingest_events(scope=SCOPE)
    begun = seam.clock.time
    with pytest.raises(errors.DeadlineExceeded, match="o-1"):
        running.wait(timeout_seconds=7)
    assert seam.clock.time == begun + 7
    seam.answers[:] = [DONE]
    assert running.result().generate_memories_operation == "g"


def test_wait_operation_polls_after_the_services_answer() -> None:
    """The service answers soon; the client asks again with growing pauses until the operation is done."""
    seam = script(*[reply(operation())] * 4, DONE)
    assert seam.client().bank().wait_operation(operation="o-1", timeout_seconds=60).done
    assert [request.method for request in seam.asked] == ["POST", "GET", "GET", "GET", "GET"]
    pauses = seam.clock.slept
    assert (len(pauses), pauses) == (4, sorted(set(pauses)))


def test_wait_operation_returns_at_its_time() -> None:
    """What is not done, or has failed, is returned as it is: nothing is raised, and the time is kept."""
    seam = script(reply(operation()))
    begun = seam.clock.time
    assert not seam.client().bank().wait_operation(operation="o-1", timeout_seconds=7).done
    assert seam.clock.time == begun + 7
    assert script(FAILED).client().bank().wait_operation(operation="o-1").error is not None


def test_wait_operation_awaits() -> None:
    """An asynchronous client polls in the same way."""

    async def main() -> list[str]:
        seam = script(reply(operation()), reply(operation()), DONE)
        done = await seam.async_client().bank().wait_operation(operation="o-1", timeout_seconds=60)
        assert isinstance(done, AsyncOperation)
        assert done.done
        return [request.method for request in seam.asked]

    assert asyncio.run(main()) == ["POST", "GET", "GET"]


def test_failed_operation_is_raised() -> None:
    """An operation's error is raised with its code, and with the operation, which can still be looked at."""
    running = script(reply(operation()), FAILED).client().bank().ingest_events(scope=SCOPE)
    with pytest.raises(errors.OperationFailed, match="throttled") as failed:
        running.wait()
    assert (failed.value.code, failed.value.operation.name) == (8, "reasoningEngines/default/operations/o-1")
    at_once = script(FAILED).client().bank().get_operation(operation="o-1")
    assert at_once.error is not None
    assert (at_once.error.code, at_once.response) == (8, None)
    with pytest.raises(errors.OperationFailed):
        at_once.result()


def test_operation_that_is_done_is_not_asked_about() -> None:
    """What was done in the call that asked for it takes no other call."""
    seam = script(reply(operation("b/memories/m/operations/create-1", done=True, response=memory(1))))
    assert seam.client().bank().create_memory(scope=SCOPE, fact="1").result().fact == "1"
    assert len(seam.asked) == 1


def test_wait_bears_what_passes() -> None:
    """A refusal that passes does not end a wait; one that stays does."""
    seam = script(reply(operation()), refused(503, "UNAVAILABLE"), reply(operation()), DONE)
    assert seam.client().bank().ingest_events(scope=SCOPE).wait().done
    seam = script(reply(operation()), refused(404, "NOT_FOUND"))
    with pytest.raises(errors.NotFound):
        seam.client().bank().ingest_events(scope=SCOPE).wait()


def test_wait_awaits() -> None:
    """An asynchronous client's operations are awaited in the same way, by the same requests."""

    async def main() -> list[str]:
        seam = script(reply(operation()), reply(operation()), DONE)
        running = await seam.async_client().bank().ingest_events(scope=SCOPE)
        assert isinstance(running, AsyncOperation)
        done = await running.wait()
        assert isinstance(done, AsyncOperation)
        assert (await done.result()).generate_memories_operation == "g"
        failing = await script(FAILED).async_client().bank().get_operation(operation="o-1")
        with pytest.raises(errors.OperationFailed):
            await failing.wait()
        return [request.method for request in seam.asked]

    assert asyncio.run(main()) == ["POST", "GET", "GET"]


def test_operation_shows_none_of_its_text() -> None:
    """The representation of an operation names it, and quotes nothing of what it responds."""
    answer = reply(operation("o", done=True, response=memory(1) | {"fact": "s3cret"}))
    made = script(answer).client().bank().create_memory(scope=SCOPE, fact="s3cret")
    assert repr(made) == "<Operation 'o', done>"


# ---- lists


def test_pages_are_asked_for_as_they_are_needed() -> None:
    """Nothing is sent before the first item is wanted, nor a page more than is gone through."""
    seam = script(page(1, 2, token="a"), page(3, token="b"), page(4))
    listed = seam.client().bank().list_memories(filter="f", page_size=2)
    assert seam.asked == []
    assert [one.fact for one in islice(listed, 2)] == ["1", "2"]
    assert len(seam.asked) == 1
    assert [one.fact for one in listed] == ["3", "4"]
    queries = [dict(request.url.params) for request in seam.asked]
    same = {"filter": "f", "pageSize": "2"}
    assert queries == [same, same | {"pageToken": "a"}, same | {"pageToken": "b"}]


def test_empty_page_is_not_the_end() -> None:
    """A page without items but with a token has others after it."""
    seam = script(page(token="a"), page(1))
    assert [one.fact for one in seam.client().bank().list_memories()] == ["1"]


def test_retrieval_is_paged_in_its_body() -> None:
    """All memories of a scope come by tokens in the body, the query otherwise unchanged."""
    first = reply({"retrievedMemories": [{"memory": memory(1)}], "nextPageToken": "a"})
    seam = script(first, reply({"retrievedMemories": [{"memory": memory(2)}]}))
    found = seam.client().bank().retrieve_all_memories(scope=SCOPE, page_size=1)
    assert [one.memory.fact for one in found] == ["1", "2"]
    assert [body["simpleRetrievalParams"] for body in seam.bodies()] == [
        {"pageSize": 1},
        {"pageSize": 1, "pageToken": "a"},
    ]


def test_listed_operations_can_be_waited_for() -> None:
    """The operations of a list are as good as those of the calls that began them."""
    seam = script(reply({"operations": [operation()]}), DONE)
    [running] = seam.client().bank().list_operations()
    assert isinstance(running, Operation)
    assert running.result().generate_memories_operation == "g"


def test_banks_of_either_spelling_are_listed() -> None:
    """The list of banks is under the name of their collection."""
    seam = script(reply({"reasoningEngines": [{"name": "reasoningEngines/1"}]}))
    assert [bank.id for bank in seam.client().list_banks()] == ["1"]


def test_lists_are_gone_through_awaiting() -> None:
    """An asynchronous client's lists are asynchronous iterators of the same pages."""

    async def main() -> list[str]:
        seam = script(page(1, token="a"), page(2))
        listed = seam.async_client().bank().list_memories()
        assert seam.asked == []
        operations = script(reply({"operations": [operation()]}), DONE).async_client().bank().list_operations()
        assert [(await one.result()).generate_memories_operation async for one in operations] == ["g"]
        return [one.fact async for one in listed]

    assert asyncio.run(main()) == ["1", "2"]


def test_failure_in_the_middle_of_a_list_is_raised() -> None:
    """What came before a failure has been given; the failure is not taken for the end."""
    seam = script(page(1, token="a"), refused(400, "INVALID_ARGUMENT", "pageToken"))
    listed = seam.client().bank().list_memories()
    assert next(listed).fact == "1"
    with pytest.raises(errors.InvalidArgument):
        next(listed)
