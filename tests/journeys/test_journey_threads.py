"""Many callers at once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.journeys.caller import DEFAULT_BANK, VERSION, Caller, Document, Stream, said

pytestmark = pytest.mark.usefixtures("rested")

THREADS = 8
CALLS = 6
PATH = f"{VERSION}/{DEFAULT_BANK}/memories:ingestEvents"


def at_once(work: Callable[[int], list[Document]]) -> list[Document]:
    """Run *work* in eight threads and return all that it returned."""
    with ThreadPoolExecutor(THREADS) as pool:
        return [one for made in pool.map(work, range(THREADS)) for one in made]


def persistently(stream: Stream, *events: Document, **options: object) -> Document:
    """Send as a client does that repeats what was UNAVAILABLE; return the operation."""
    for _ in range(20):
        reply = stream.caller.client.post(PATH, json=stream.body(*events, **options))
        if reply.status_code != 503:
            assert reply.status_code == 200, reply.text
            document: Document = reply.json()
            return document
    raise AssertionError("the stream stays unavailable")


def covered(stream: Stream) -> list[int]:
    """Return how many events each window of the stream covered."""
    last = stream.flush()["name"]
    prefix, _, number = last.rpartition("-")
    shown = [stream.caller.get(f"{prefix}-{window}") for window in range(1, int(number) + 1)]
    assert all(one["done"] for one in shown)
    return [one["metadata"]["coverage"]["covered"] for one in shown]


@pytest.mark.slow
def test_unique_events_of_eight_threads_are_all_there_once(caller: Caller) -> None:
    """What eight threads write to one stream is accepted once, and each event is in exactly one window."""
    stream = caller.stream()

    def write(thread: int) -> list[Document]:
        return [
            persistently(
                stream, *[said("Hm.", f"{thread}-{call}-{number}") for number in range(3)], rule={"event_count": 30}
            )
            for call in range(CALLS)
        ]

    receipts = at_once(write)
    total = THREADS * CALLS * 3
    assert sum(receipt["metadata"]["acceptedEvents"] for receipt in receipts) == total
    caller.settle()
    windows = covered(stream)
    assert sum(windows) == total
    assert all(count >= 30 for count in windows[:-1])


@pytest.mark.slow
def test_overlapping_events_of_eight_threads_are_there_once(caller: Caller) -> None:
    """Eight threads that send one history in different cuts store each event once; receipts add up to its ids."""
    before = caller.generations()
    stream = caller.stream()
    history = [said("Hm.", f"e{number}") for number in range(40)]

    def write(thread: int) -> list[Document]:
        starts = [(5 * (thread + call)) % 35 for call in range(CALLS)]
        return [persistently(stream, *history[start : start + 10], rule={"event_count": 15}) for start in starts]

    receipts = at_once(write)
    assert sum(receipt["metadata"]["acceptedEvents"] for receipt in receipts) == 40
    assert sum(receipt["metadata"]["duplicateEvents"] for receipt in receipts) == THREADS * CALLS * 10 - 40
    caller.settle()
    windows = covered(stream)
    assert sum(windows) == 40
    assert caller.generations() == before + len(windows)


def test_receipts_name_the_window_of_their_events(caller: Caller) -> None:
    """Among eight threads each new event's call, replayed, gets the very operation again that it got at first."""
    stream = caller.stream()

    def write(thread: int) -> list[Document]:
        calls = [[said("Hm.", f"{thread}-{call}")] for call in range(3)]
        return [{"first": persistently(stream, *events, rule={"event_count": 8}), "events": events} for events in calls]

    sent = at_once(write)
    caller.settle()
    for one in sent:
        assert stream.send(*one["events"])["name"] == one["first"]["name"]


@pytest.mark.slow
def test_flushes_of_eight_threads_lose_nothing(caller: Caller) -> None:
    """Forced flushes that race make windows that are never empty and hold every event once."""
    stream = caller.stream()

    def write(thread: int) -> list[Document]:
        return [persistently(stream, said("Hm.", f"{thread}-{call}"), force_flush=True) for call in range(2)]

    receipts = at_once(write)
    assert sum(receipt["metadata"]["acceptedEvents"] for receipt in receipts) == THREADS * 2
    caller.settle()
    windows = covered(stream)
    assert sum(windows) == THREADS * 2
    assert min(windows) > 0


def test_one_fact_on_two_streams_is_one_memory(caller: Caller) -> None:
    """C1: eight threads on two streams of one scope that say the same leave one memory."""
    scope = caller.scope()
    streams = [caller.stream(scope, name) for name in ("s1", "s2")]
    at_once(lambda thread: [persistently(streams[thread % 2], said("I keep bees.", f"e{thread}"), force_flush=True)])
    caller.settle()
    assert len(caller.facts(scope)) == 1
    assert sum(sum(covered(stream)) for stream in streams) == THREADS


def test_streams_and_scopes_do_not_mix_under_load(caller: Caller) -> None:
    """Eight threads with a scope each find exactly what they said."""
    streams = [caller.stream() for _ in range(THREADS)]
    animals = ["bees", "cats", "dogs", "goats", "hens", "ducks", "sheep", "horses"]
    at_once(lambda thread: [persistently(streams[thread], said(f"I keep {animals[thread]}."), force_flush=True)])
    caller.settle()
    facts = [caller.facts(stream.scope) for stream in streams]
    assert [(len(said), animal in said[0]) for said, animal in zip(facts, animals, strict=True)] == [
        (1, True)
    ] * THREADS
