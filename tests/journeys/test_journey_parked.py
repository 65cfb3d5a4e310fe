"""A deployment without a model, in a region that has no default: each generation fails, and is parked at last."""

from datetime import timedelta

import httpx
import pytest

from streambank_local.service import LocalService
from tests.journeys.caller import Caller, Document, Stream, moment, said

pytestmark = pytest.mark.parametrize(
    "service", [{"Model": "bedrock", "Region": "sa-east-1"}], indirect=True, scope="package"
)

# At most a fifth is added to each pause by jitter.
PAUSES = [timedelta(minutes=minutes) for minutes in (1, 4, 15, 60)]
MARGIN = timedelta(seconds=20)


@pytest.fixture(scope="module")
def parked(client: httpx.Client, service: LocalService) -> tuple[Stream, Document]:
    """A stream of one event, and the operation of its parked window."""
    caller = Caller(service, client)
    stream = caller.stream()
    return stream, park(caller, stream)


def park(caller: Caller, stream: Stream) -> Document:
    """Ingest, let all tries fail, and return the parked operation."""
    sent = stream.send(said("I keep bees.", "e1"), force_flush=True)
    caller.settle()
    caller.advance(minutes=100)
    shown = caller.get(sent["name"])
    assert shown["metadata"]["state"] == "PARKED"
    return shown


def test_failure_is_retried_with_growing_pauses_and_parked(caller: Caller) -> None:
    """Five tries with 1, 4, 15 and 60 minutes between them, never early, and then an error that says what failed."""
    sent = caller.stream().send(said("I keep bees."), force_flush=True)
    caller.settle()
    for failures, pause in enumerate(PAUSES, 1):
        waiting = caller.get(sent["name"])
        metadata = waiting["metadata"]
        assert (waiting["done"], metadata["state"], metadata["failures"]) == (False, "RETRYING", failures)
        assert (metadata["failure"], metadata["nextTrigger"]["kind"]) == ("MODEL_NOT_CONFIGURED", "RETRY")
        assert metadata["pendingEvents"] == 1
        left = moment(metadata["nextTrigger"]["time"]) - caller.service.now()
        assert pause - MARGIN < left <= pause * 1.2 + timedelta(seconds=1)
        caller.advance(seconds=(left - MARGIN).total_seconds())
        assert caller.get(sent["name"])["metadata"]["failures"] == failures
        caller.advance(seconds=2 * MARGIN.total_seconds())
    parked = caller.get(sent["name"])
    assert (parked["done"], parked["metadata"]["state"], parked["metadata"]["failures"]) == (True, "PARKED", 5)
    assert (parked["error"]["code"], "MODEL_NOT_CONFIGURED" in parked["error"]["message"]) == (9, True)
    assert "response" not in parked


def test_parked_window_is_not_tried_again(caller: Caller, parked: tuple[Stream, Document]) -> None:
    """What is parked costs nothing more: no generation begins in the days after."""
    before = caller.generations()
    caller.advance(days=3)
    assert caller.generations() == before
    assert caller.get(parked[1]["name"]) == parked[1]


def test_events_of_a_parked_window_do_not_expire(parked: tuple[Stream, Document]) -> None:
    """Nothing unprocessed expires: a parked window's events lose their expiry and still count as pending (C71)."""
    stream, operation = parked
    assert operation["metadata"]["pendingEvents"] == 1
    [events] = [item for item in stream.items() if item["SK"]["S"].startswith("B#")]
    assert "ttl" not in events


def test_parked_events_are_still_recognised(parked: tuple[Stream, Document]) -> None:
    """A replay of a parked window's call adds nothing and returns the parked operation."""
    stream, operation = parked
    replayed = stream.send(said("I keep bees.", "e1"))
    assert (replayed["name"], replayed["done"]) == (operation["name"], True)
    assert replayed["metadata"]["duplicateEvents"] == 1
    assert replayed["error"] == operation["error"]


def test_redrive_makes_a_parked_operation_pending_again(caller: Caller) -> None:
    """A redrive starts the window anew with all its tries, and parks it again if nothing has changed."""
    parked = park(caller, caller.stream())
    before = caller.generations()
    redriven = caller.post(f"{parked['name']}:redrive", {})
    assert (redriven["name"], redriven["done"]) == (parked["name"], False)
    assert "error" not in redriven
    caller.settle()
    assert caller.generations() == before + 1
    metadata = caller.get(parked["name"])["metadata"]
    assert (metadata["state"], metadata["failures"]) == ("RETRYING", 1)
    caller.advance(minutes=100)
    again = caller.get(parked["name"])
    assert (again["metadata"]["state"], again["metadata"]["failures"]) == ("PARKED", 5)
    assert caller.generations() == before + 5


def test_redrive_of_a_window_that_is_retried_already_is_refused(caller: Caller) -> None:
    """Only what is parked can be redriven; a window between its tries is 400 FAILED_PRECONDITION."""
    sent = caller.stream().send(said("I keep bees."), force_flush=True)
    caller.settle()
    refusal = caller.post(f"{sent['name']}:redrive", {}, status=400)["error"]
    assert refusal["status"] == "FAILED_PRECONDITION"
    assert caller.get(sent["name"])["metadata"]["failures"] == 1


def test_parked_window_does_not_hold_up_its_stream(caller: Caller) -> None:
    """A window that waits behind a failing one is tried once that one is parked, and others at once (C14)."""
    stream = caller.stream()
    first = stream.send(said("I keep bees."), force_flush=True)
    caller.settle()
    caller.advance(minutes=75)
    second = stream.send(said(" "), force_flush=True)
    other = caller.stream().flush(said(" "))
    assert (other["done"], other["metadata"]["state"]) == (True, "DONE")
    assert caller.get(first["name"])["metadata"]["state"] == "RETRYING"
    assert caller.get(second["name"])["metadata"]["state"] == "SEALED"
    caller.advance(minutes=25)
    assert caller.get(first["name"])["metadata"]["state"] == "PARKED"
    assert caller.get(second["name"])["metadata"]["state"] == "DONE"


def test_failure_is_visible_on_the_generation_too(caller: Caller, parked: tuple[Stream, Document]) -> None:
    """The downstream operation of a parked window is done with the same error (C13)."""
    downstream = caller.get(parked[1]["metadata"]["generateMemoriesOperation"])
    assert (downstream["done"], downstream["error"]) == (True, parked[1]["error"])


def test_bare_retrieve_needs_no_model(caller: Caller, parked: tuple[Stream, Document]) -> None:
    """Reading without a query works where no model does, and a failed window left nothing to read."""
    assert caller.facts(parked[0].scope) == []


def test_parked_windows_are_listed_and_tried_again_together(caller: Caller) -> None:
    """An operator finds what is parked, with its reason, and one call tries all of it again."""
    bank = caller.bank()
    names = {park(caller, caller.stream(bank=bank, scope=caller.scope()))["name"] for _ in range(2)}
    parked = caller.get(f"{bank}/operations", params={"filter": 'state="PARKED"'})["operations"]
    assert {one["name"] for one in parked} == names
    assert {one["metadata"]["failure"] for one in parked} == {"MODEL_NOT_CONFIGURED"}
    assert {one["lastFailure"] for one in caller.get(f"{bank}/streams")["streams"]} == {"MODEL_NOT_CONFIGURED"}
    redriven = caller.post(f"{bank}/operations:redrive", {})
    assert (set(redriven["operations"]), redriven["isComplete"]) == (names, True)
    assert caller.get(f"{bank}/operations", params={"filter": 'state="PARKED"'})["operations"] == []
    assert caller.post(f"{bank}/operations:redrive", {})["operations"] == []
