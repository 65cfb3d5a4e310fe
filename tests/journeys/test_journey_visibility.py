"""What an operator sees: streams, single events, parked windows, and log lines from a request to its memories."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.journeys.caller import Caller, Document, said


def streams(caller: Caller, bank: str, **query: str) -> list[Document]:
    return caller.get(f"{bank}/streams", params=query)["streams"]


def where(caller: Caller, stream: Any, *event_ids: str) -> dict[str, Document]:
    body = {"scope": stream.scope, "streamId": stream.name, "eventIds": list(event_ids)}
    found = caller.post(f"{stream.bank}/streams:findEvents", body)["events"]
    return {one["eventId"]: one for one in found}


def test_streams_tell_what_they_wait_for(caller: Caller) -> None:
    """A stream shows what is pending, what fires next and how its newest window ended; a stated fact is no stream."""
    bank = caller.bank()
    assert streams(caller, bank) == []
    stream = caller.stream(bank=bank)
    stream.name = "a chat"
    done = stream.flush(said("I keep bees.", "e1"))
    stream.send(said("I sail.", "e2"), rule={"eventCount": 3})
    source = {"directMemoriesSource": {"direct_memories": [{"fact": "I ski"}]}}
    caller.post(f"{bank}/memories:generate", {"scope": stream.scope, **source})
    caller.settle()
    [shown] = streams(caller, bank)
    assert (shown["scope"], shown["streamId"]) == (stream.scope, stream.name)
    assert (shown["pendingEvents"], shown["nextTrigger"]["remainingEvents"]) == (1, 2)
    assert (shown["lastOperation"], shown["lastState"]) == (done["name"], "DONE")
    assert caller.get(shown["pendingOperation"])["metadata"]["state"] == "BUFFERING"


def test_streams_come_page_by_page(caller: Caller) -> None:
    """Pages of one hold each stream once; a token of another list is refused."""
    bank = caller.bank()
    for _ in range(5):
        caller.stream(bank=bank, scope=caller.scope()).send(said("I keep bees."), rule={"eventCount": 9})
    found, token = [], ""
    while True:
        page = caller.get(f"{bank}/streams", params={"pageSize": "1"} | ({"pageToken": token} if token else {}))
        found += [json.dumps(one["scope"]) for one in page["streams"]]
        token = page.get("nextPageToken", "")
        if not token:
            break
    assert len(found) == len(set(found)) == 5
    first = caller.get(f"{bank}/streams", params={"pageSize": "1"})["nextPageToken"]
    caller.get(f"{bank}/operations", params={"pageToken": first}, status=400)


def test_events_are_found_by_their_ids(caller: Caller) -> None:
    """An event is pending, then in a window's state; one that never came, or came to another stream, is unknown."""
    stream, other = caller.stream(), caller.stream()
    done = stream.flush(said("I keep bees.", "e1"))
    sent = stream.send(said("I sail.", "e2"), rule={"eventCount": 3})
    other.send(said("I ski.", "e3"), rule={"eventCount": 3})
    found = where(caller, stream, "e1", "e2", "e3")
    assert (found["e1"]["state"], found["e1"]["sequence"], found["e1"]["operation"]) == ("DONE", 1, done["name"])
    assert (found["e2"]["state"], found["e2"]["operation"]) == ("BUFFERING", sent["name"])
    assert found["e3"] == {"eventId": "e3", "state": "UNKNOWN"}


@pytest.mark.parametrize("ids", [None, [], ["x"] * 98, [""], [1]])
def test_bad_searches_for_events_are_refused(caller: Caller, ids: list[object] | None) -> None:
    """No ids, too many, empty ones and what is no text are 400."""
    caller.post(f"{caller.bank()}/streams:findEvents", {"scope": {"a": "b"}, "eventIds": ids}, status=400)


def test_only_states_filter_operations(caller: Caller) -> None:
    """Operations are listed by state; any other filter is 400, so that none widens."""
    bank = caller.bank()
    caller.stream(bank=bank).flush(said("I keep bees."))
    pending = caller.stream(bank=bank).send(said("I sail."), rule={"eventCount": 3})
    shown = caller.get(f"{bank}/operations", params={"filter": 'state="BUFFERING"'})["operations"]
    assert [one["name"] for one in shown] == [pending["name"]]
    for text in ("done=true", 'state="NOWHERE"', 'state="DONE" OR state="PARKED"'):
        caller.get(f"{bank}/operations", params={"filter": text}, status=400)


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What the service's functions log, as Lambda would get it."""
    logger, told = sys.modules["streambank.telemetry"].LOGGER, io.StringIO()
    handler = logging.StreamHandler(told)
    handler.setFormatter(logger.registered_formatter)
    level = logger.log_level
    logger.addHandler(handler)
    logger.setLevel("INFO")
    yield told
    logger.setLevel(level)
    logger._logger.removeHandler(handler)


def test_a_request_can_be_followed_to_its_memories(caller: Caller, log: io.StringIO) -> None:
    """Each line of the way names the operation, and the memory names it too; none says what was said."""
    stream = caller.stream()
    done = stream.flush(said("I keep bees.", "e1"))
    trace = done["name"].rsplit("/", 1)[-1]
    lines = [json.loads(line) for line in log.getvalue().splitlines() if trace in line]
    assert [line["message"] for line in lines] == ["ingested", "extracted", "consolidated", "committed"]
    assert lines[0]["request_id"]
    assert all(line["operation"] == trace for line in lines)
    assert "bees" not in log.getvalue()
    [memory] = caller.memories(stream.scope)
    assert memory["sources"][0]["operation"].endswith(trace)
