"""Operations: which one a call returns, what it says, and under which names it is found."""

import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from streambank_local.service import LocalService
from tests.journeys.caller import DEFAULT_BANK, PARENT, Caller, Document, said

pytestmark = pytest.mark.usefixtures("rested")

TEN = {"event_count": 10}
BEES = "I keep bees."
SOMEBODY = "a" * 26
SPELLINGS = [
    f"{version}/{project}{collection}/default"
    for version in ("v1", "v1beta1")
    for project in ("projects/other/locations/there/", "")
    for collection in ("reasoningEngines", "memoryBanks")
]


def test_calls_share_an_operation_until_their_window_is_sealed(caller: Caller) -> None:
    """All calls to a stream return one operation until its window is sealed, and then a new one."""
    stream = caller.stream()
    names = {stream.send(said(BEES), rule=TEN)["name"], stream.send(said("Hm."))["name"], stream.send()["name"]}
    assert len(names) == 1
    flushed = stream.send(force_flush=True)
    assert names == {flushed["name"]}
    caller.settle()
    assert stream.send(said("Hm."))["name"] not in names


def test_a_call_that_waits_is_answered_soon(caller: Caller) -> None:
    """Whatever timeout a call has, it occupies the service for about 2 seconds at most."""
    sent = caller.stream().send(said(BEES), rule=TEN)
    begun = time.monotonic()

    def wait(timeout: str) -> Document:
        return caller.post(f"{sent['name']}:wait", {}, params={"timeout": timeout})

    with ThreadPoolExecutor() as threads:
        for waiting in threads.map(wait, ("60s", "2592000s")):
            assert (waiting["done"], waiting["metadata"]["state"]) == (False, "BUFFERING")
    assert time.monotonic() - begun < 10


def test_operation_goes_from_pending_to_done(caller: Caller) -> None:
    """An operation is polled under its name: buffering with neither response nor error, then done with a response."""
    stream = caller.stream()
    sent = stream.send(said(BEES), said("Hm."), rule=TEN)
    pending = caller.get(sent["name"])
    assert (pending["done"], pending["metadata"]["state"], pending["metadata"]["pendingEvents"]) == (
        False,
        "BUFFERING",
        2,
    )
    assert not {"response", "error"} & pending.keys()
    done = stream.flush()
    assert (done["name"], done["done"], done["metadata"]["state"]) == (sent["name"], True, "DONE")
    assert done["metadata"]["pendingEvents"] == 0
    assert done["metadata"]["coverage"] == {"events": 2, "covered": 2}
    assert "error" not in done


def test_done_operation_names_its_generation(caller: Caller) -> None:
    """A done ingest operation contains the operation of the generation, which lists memories and verdicts."""
    stream = caller.stream()
    done = stream.flush(said(BEES))
    downstream = done["response"]["name"]
    assert downstream == done["response"]["generateMemoriesOperation"] == done["metadata"]["generateMemoriesOperation"]
    assert downstream != done["name"]
    generated = caller.get(downstream)
    assert (generated["name"], generated["done"]) == (downstream, True)
    [memory] = caller.memories(stream.scope)
    assert generated["response"]["generatedMemories"] == [{"memory": {"name": memory["name"]}, "action": "CREATED"}]
    [verdict] = generated["response"]["verdicts"]
    assert (verdict["fact"], verdict["verdict"], verdict["memory"]) == (memory["fact"], "CREATED", memory["name"])
    assert verdict["reason"]
    assert done["metadata"]["verdictCounts"] == {"CREATED": 1}


def test_window_without_anything_to_remember_is_done(caller: Caller) -> None:
    """A window of small talk ends in success with no memory and says so."""
    stream = caller.stream()
    done = stream.flush(said("Hm."))
    response = caller.get(done["response"]["name"])["response"]
    assert response["generatedMemories"] == []
    assert done["metadata"]["coverage"] == {"events": 1, "covered": 1}
    assert caller.facts(stream.scope) == []


@pytest.fixture(scope="module")
def known(client: httpx.Client, service: LocalService) -> tuple[str, str]:
    """The short names of an operation that is done, and of its generation."""
    caller = Caller(service, client)
    name = caller.stream().flush(said(BEES))["name"].rsplit("/", 1)[-1]
    return name, f"{name}-g"


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_operation_is_found_in_every_spelling(caller: Caller, known: tuple[str, str], spelling: str) -> None:
    """Version, project, location and collection are echoed, never looked up; also in the names inside."""
    parent = spelling.partition("/")[2]
    ingest, generation = (caller.get(f"/{spelling}/operations/{name}") for name in known)
    assert (ingest["name"], generation["name"]) == tuple(f"{parent}/operations/{name}" for name in known)
    assert ingest["response"]["name"] == generation["name"]
    [made] = generation["response"]["generatedMemories"]
    assert made["memory"]["name"].startswith(f"{parent}/memories/")


def test_operation_is_found_below_memories(caller: Caller, known: tuple[str, str]) -> None:
    """Google's discovery document has operations below memories too."""
    assert caller.get(f"{DEFAULT_BANK}/memories/some/operations/{known[0]}")["done"]


@pytest.mark.parametrize(
    "name",
    ["1", "nothing-of-ours", f"{SOMEBODY}-1", f"{SOMEBODY}-1-g", f"{SOMEBODY}-0-g", f"{SOMEBODY}-01", "x" * 300],
)
def test_unknown_operation_is_not_found(caller: Caller, name: str) -> None:
    """A name that no call was answered with is 404."""
    assert caller.get(f"{DEFAULT_BANK}/operations/{name}", status=404)["error"]["status"] == "NOT_FOUND"


def test_window_to_come_has_no_operation_yet(caller: Caller) -> None:
    """Neither the next windows of a stream nor the generation of an open one can be looked up."""
    name = caller.stream().send(said(BEES), rule=TEN)["name"]
    for unknown in (f"{name}-g", f"{name[:-2]}-2", f"{name[:-2]}-3"):
        caller.get(unknown, status=404)


def test_operation_does_not_cross_banks(caller: Caller) -> None:
    """The operation of one bank, open or done, is 404 under another, also under the same scope and stream."""
    other = caller.bank()
    scope = caller.scope()
    opened, done = caller.stream(scope, "a"), caller.stream(scope, "b")
    for shown in (opened.send(said(BEES), rule=TEN), done.flush(said(BEES))):
        short = shown["name"].rsplit("/", 1)[-1]
        caller.get(f"{other}/operations/{short}", status=404)
        caller.post(f"{other}/operations/{short}:redrive", {}, status=404)


def test_rule_on_an_empty_stream_answers_window_zero(caller: Caller) -> None:
    """A call that only sets a rule, on a stream that never had an event, returns an operation that is done."""
    before = caller.generations()
    stream = caller.stream()
    sent = stream.send(rule={"event_count": 2})
    assert (sent["done"], sent["metadata"]["window"], sent["metadata"]["state"]) == (True, 0, "DONE")
    assert caller.get(sent["name"])["done"]
    assert stream.send(said(BEES))["metadata"]["nextTrigger"]["remainingEvents"] == 1
    assert caller.generations() == before


def test_replayed_call_gets_its_own_operation_again(caller: Caller) -> None:
    """A call sent again returns the operation of the window that holds its events, not a newer one."""
    stream = caller.stream()
    first = stream.flush(said(BEES, "e1"), rule=TEN)
    second = stream.send(said("Hm.", "e2"))
    assert second["name"] != first["name"]
    replayed = stream.send(said(BEES, "e1"))
    assert (replayed["name"], replayed["done"]) == (first["name"], True)
    assert (replayed["metadata"]["acceptedEvents"], replayed["metadata"]["duplicateEvents"]) == (0, 1)
    assert stream.send(said("Hm.", "e2"))["name"] == second["name"]
    assert stream.send(said(BEES, "e1"), said("Hm.", "e2"))["name"] == second["name"]


def test_call_of_known_and_new_events_returns_the_newer_window(caller: Caller) -> None:
    """Where a call brings anything new its operation is the open window's."""
    stream = caller.stream()
    first = stream.flush(said(BEES, "e1"), rule=TEN)
    mixed = stream.send(said(BEES, "e1"), said("Hm.", "e2"))
    assert mixed["name"] != first["name"]
    assert (mixed["metadata"]["acceptedEvents"], mixed["metadata"]["duplicateEvents"]) == (1, 1)
    assert mixed["metadata"]["pendingEvents"] == 1


def test_forced_flush_of_known_events_returns_the_window_that_it_flushed(caller: Caller) -> None:
    """A call of duplicates whose force flushes pending events returns their window, not the duplicates'."""
    stream = caller.stream()
    stream.flush(said(BEES, "e1"), rule=TEN)
    second = stream.send(said("Hm.", "e2"))
    assert stream.flush(said(BEES, "e1"))["name"] == second["name"]


def test_operation_outlives_the_windows_after_it(caller: Caller) -> None:
    """The operation of a window that its stream has moved past still says what became of it."""
    stream = caller.stream()
    names = [stream.send(said(BEES), force_flush=True)["name"] for _ in range(3)]
    caller.settle()
    shown = [caller.get(name) for name in names]
    assert len(set(names)) == 3
    assert [one["metadata"]["window"] for one in shown] == [1, 2, 3]
    assert all(one["done"] for one in shown)


def test_operation_outlives_a_month(caller: Caller) -> None:
    """A done operation is found for as long as its events are recognised."""
    done = caller.stream().flush(said(BEES))
    caller.advance(days=45)
    assert caller.get(done["name"]) == done


def test_only_a_parked_operation_is_redriven(caller: Caller) -> None:
    """Redriving what is done is 400 FAILED_PRECONDITION and leaves it done."""
    done = caller.stream().flush(said(BEES))
    refusal = caller.post(f"{done['name']}:redrive", {}, status=400)["error"]
    assert refusal["status"] == "FAILED_PRECONDITION"
    assert caller.get(done["name"]) == done


def test_bank_form_of_ingest_is_the_same_ingest(caller: Caller) -> None:
    """`{bank}:ingestEvents`, the discovery document's spelling, reaches the same stream."""
    stream = caller.stream()
    first = stream.send(said(BEES, "e1"), rule=TEN)
    again = caller.post(f"{DEFAULT_BANK}:ingestEvents", stream.body(said(BEES, "e1"), said("Hm.", "e2")))
    assert again["name"] == first["name"]
    assert (again["metadata"]["acceptedEvents"], again["metadata"]["duplicateEvents"]) == (1, 1)


def test_ingest_echoes_the_spelling_of_its_caller(caller: Caller) -> None:
    """A bank's many names are one bank, and each caller gets names in its own spelling."""
    stream = caller.stream()
    parents = [PARENT, "reasoningEngines", "projects/p/locations/l/memoryBanks"]
    sent = [
        caller.post(f"{parent}/default/memories:ingestEvents", stream.body(said(BEES), rule=TEN)) for parent in parents
    ]
    assert len({one["name"].rsplit("/", 1)[-1] for one in sent}) == 1
    assert [one["name"].partition("/default/")[0] for one in sent] == parents
    assert sent[-1]["metadata"]["pendingEvents"] == 3
