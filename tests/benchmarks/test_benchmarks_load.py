"""The load generator: what it sends, which targets it accepts, and that it detects loss and doubling."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from random import Random

import boto3
import pytest

from benchmarks.load import inspection, report
from benchmarks.load.__main__ import main
from benchmarks.load.callers import CallResult, Limits, drive, send
from benchmarks.load.calls import Call, Stream, event_id, states_fact, text, word
from benchmarks.load.faults import ApiStream, StoredStream, Window, memory_faults, stream_faults
from benchmarks.load.request_counter import RequestCounter
from benchmarks.load.scenarios import LARGEST, SCENARIOS, SMALLEST_LARGE
from benchmarks.load.sent_events import SentEvents, by_stream
from benchmarks.load.target import Target, TargetRefused, connect, loopback, start_service
from streambank.errors import Conflict
from streambank.model import ids
from streambank.store import keys
from tests.world import World

pytestmark = pytest.mark.slow  # a service of its own

# ---- faults in otherwise correct data

SENT = SentEvents(events={1, 2, 3}, accepted=3)
API = ApiStream((Window(1, "DONE", 2, 2), Window(2, "DONE", 1, 1)), 0, 3)
STORED = StoredStream(
    events=tuple((number, event_id(number), text(number)) for number in (1, 2, 3)),
    spans=((1, 1, 2), (2, 3, 3)),
    markers=((1, 1), (2, 1), (3, 2)),
    pending=0,
)


def test_correct_data_has_no_faults() -> None:
    """Sent events, windows and table that agree have no fault, with or without the table."""
    assert list(stream_faults(SENT, API, STORED)) == []
    assert list(stream_faults(SENT, API, None)) == []
    assert list(memory_faults(["bada", "dabu"], ["I like dabu", "I like bada."])) == []


@pytest.mark.parametrize(
    ("sent", "api", "fault"),
    [
        (replace(SENT, accepted=4), API, "acceptedEvents sum to 4, not 3"),
        (replace(SENT, accepted=2), API, "acceptedEvents sum to 2, not 3"),
        (replace(SENT, accepted=1, uncertain={2}), API, "acceptedEvents sum to 1, not 3"),
        (replace(SENT, failed_calls=2), API, "2 calls failed"),
        (SENT, replace(API, windows=API.windows[:1]), "1 windows hold 2 events, not 3"),
        (SENT, replace(API, windows=(*API.windows, Window(3, "DONE", 1, 1))), "3 windows hold 4 events, not 3"),
        (SENT, replace(API, windows=(Window(1, "DONE", 3, 2),)), "1 windows cover 2 events, not 3"),
        (SENT, replace(API, windows=(Window(1, "PARKED", 3, 3),)), "window 1 is PARKED"),
        (SENT, replace(API, replay_accepted=1), "a replay of 3 events returned 1 accepted, 3 duplicates"),
        (SENT, replace(API, replay_duplicates=2), "a replay of 3 events returned 0 accepted, 2 duplicates"),
    ],
)
def test_a_wrong_count_is_reported(sent: SentEvents, api: ApiStream, fault: str) -> None:
    """Each wrong count of the API is reported, before its consequences."""
    assert next(stream_faults(sent, api, STORED)) == fault


def test_a_try_that_failed_may_have_written() -> None:
    """What a failed try wrote is a duplicate for the next try: that is no loss."""
    assert list(stream_faults(replace(SENT, accepted=2, uncertain={2}), API, STORED)) == []


@pytest.mark.parametrize(
    ("stored", "fault"),
    [
        (replace(STORED, events=STORED.events[:2]), "event is lost: 1, e3 among them"),
        (replace(STORED, events=(*STORED.events, (4, "e3", text(3)))), "event is doubled: 1, e3 among them"),
        (replace(STORED, events=(*STORED.events, (4, "e9", text(9)))), "event was never sent: 1, e9 among them"),
        (replace(STORED, events=(*STORED.events[:2], (3, "e3", text(1)))), "an event has the text of another"),
        (replace(STORED, pending=1), "1 events are in no window yet"),
        (replace(STORED, spans=((1, 1, 2),)), "the windows' ranges do not match the events' numbers"),
        (replace(STORED, spans=((1, 1, 2), (2, 2, 3))), "the windows' ranges do not match the events' numbers"),
        (replace(STORED, markers=STORED.markers[:2]), "markers and windows disagree"),
        (replace(STORED, markers=((1, 1), (2, 2), (3, 2))), "markers and windows disagree"),
    ],
)
def test_a_wrong_table_is_reported(stored: StoredStream, fault: str) -> None:
    """An item that is missing, superfluous or misplaced in the table is reported first."""
    assert next(stream_faults(SENT, API, stored)).startswith(fault)


@pytest.mark.parametrize(
    ("facts", "fault"),
    [
        (["I like bada"], "memory is lost: 1, dabu among them"),
        (["I like bada", "I like dabu", "I like dabu."], "memory is doubled: 1, dabu among them"),
        (["I like bada", "I like dabu", "Hm, e7"], "memory was never sent: 1, e7 among them"),
    ],
)
def test_a_wrong_memory_is_reported(facts: list[str], fault: str) -> None:
    """A missing memory, a doubled one and one without an event are reported."""
    assert list(memory_faults(["bada", "dabu"], facts)) == [fault]


# ---- what is sent


def test_each_fact_has_a_word_of_its_own() -> None:
    """No two of a hundred thousand events say the same."""
    assert len({word(number) for number in range(100_000)}) == 100_000
    assert text(40) == f"I like {word(40)}."
    assert states_fact(40)
    assert text(41) == "Hm, e41."


def _drawn(name: str, count: int, streams: int = 10) -> list[Call]:
    named = [Stream(f"u{number}", "s") for number in range(streams)]
    return list(itertools.islice(SCENARIOS[name](named, Random(1), itertools.count(1)), count))


def test_scenarios_are_what_they_are_called() -> None:
    """Many streams are many, a hot one is one, large calls are large, duplicates come at once and sessions grow."""
    assert len({call.stream for call in _drawn("many", 100)}) == 10
    assert len({call.stream for call in _drawn("hot", 100)}) == 1
    assert all(SMALLEST_LARGE <= len(call.events) <= LARGEST for call in _drawn("large", 50))
    first, again, *session = _drawn("duplicates", 17)
    assert first == again
    assert [len(call.events) for call in session] == list(range(4, 61, 4))
    assert all(set(before.events) < set(after.events) for before, after in itertools.pairwise(session))


@pytest.mark.parametrize("name", SCENARIOS)
def test_new_events_are_numbered_once(name: str) -> None:
    """An event's number belongs to one stream, whatever the scenario: the comparison depends on that."""
    owners: dict[int, set[Stream]] = {}
    for call in _drawn(name, 200):
        for number in call.events:
            owners.setdefault(number, set()).add(call.stream)
    assert all(len(streams) == 1 for streams in owners.values())


# ---- where it goes


@pytest.mark.parametrize(
    "url",
    [
        "http://192.0.2.1:8080",
        "http://memories.example",
        "http://localhost.example",
        "http://127.0.0.1.example",
        "http://127.0.0.1@192.0.2.1",
        "http://0.0.0.0:8080",
        "http://[2001:db8::1]:8080",
        "https://127.0.0.1:8080",
        "127.0.0.1:8080",
    ],
)
def test_no_load_leaves_this_machine(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What is no loopback address is refused, with a status of its own, before anything is sent."""
    assert main(["--url", url]) == 2
    assert "the load goes to http on a loopback address only" in capsys.readouterr().err


def test_loopback_is_taken_as_an_address() -> None:
    """`localhost` is not left to a resolver."""
    assert loopback("http://localhost:8080/") == "http://127.0.0.1:8080"
    assert loopback("http://[::1]:8080") == "http://[::1]:8080"
    assert loopback("http://127.1.2.3") == "http://127.1.2.3:80"


def test_a_missing_service_is_reported() -> None:
    """A loopback address without a service in local mode is refused."""
    with pytest.raises(TargetRefused, match="no service in local mode"):
        connect("http://127.0.0.1:1")


# ---- callers


@pytest.fixture
def moody() -> Iterator[Target]:
    """A server that hangs up, then has no time, then takes the call."""
    moods = iter((0, 503, 200))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            status = next(moods)
            if not status:
                self.close_connection = True
                return
            body = b'{"metadata": {"acceptedEvents": 1, "duplicateEvents": 2}}' if status == 200 else b"{}"
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield Target(f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
        thread.join()


def test_what_is_not_answered_is_sent_again(moody: Target) -> None:
    """A call is sent again until it is taken; each try's status is kept, and its events are set apart."""
    call = Call(Stream("u", "s"), (1, 2, 3))
    with moody.client() as client:
        answer = send(client, call, Random(1))
    assert (answer.statuses, answer.accepted, answer.duplicates) == ((0, 503, 200), 1, 2)
    assert by_stream([answer]) == {call.stream: SentEvents({1, 2, 3}, accepted=1, uncertain={1, 2, 3})}


def test_lost_races_are_counted_by_what_they_were_for(world: World) -> None:
    """A transaction that is cancelled counts as a lost race of its kind, one that is not counts as a request."""
    with RequestCounter(world.client) as counter:
        world.ingest({"content": {"role": "user", "parts": [{"text": "Hm."}]}}, forceFlush=True)
        world.settle()
        head = world.streams.head("default", world.ingest().operation.id.sid)
        assert head
        stale = replace(head, version=head.version - 1)
        with pytest.raises(Conflict):
            world.streams.commit(stale, head, (), now=world.clock(), retention_policy=world.retention_policy)
    requests, conflicts = counter.counts()
    assert (requests["ingest"], requests["seal"]) == (2, 1)
    assert requests["commit"] >= 1
    assert +conflicts == Counter(ingest=1)


# ---- the report


def test_latency_is_reported_as_multiples() -> None:
    """Quantiles are those of all calls, and each is reported in milliseconds and as a multiple of an idle call's."""
    results = [
        CallResult(Call(Stream("u", "s"), (n,)), n / 100, (503, 200) if n == 1 else (200,)) for n in range(1, 101)
    ]
    assert [report.quantile([a.seconds for a in results], percent) for percent in (50, 90, 99)] == [0.5, 0.9, 0.99]
    run = report.Run("many", results, 10.0, Counter(ingest=101), Counter(ingest=1))
    head, spread, counts = report.lines(run, 0.1)
    assert "100 calls" in head
    assert "10.0 calls/s" in head
    assert "p50 500 ms (x5.0)  p90 900 ms (x9.0)  p99 990 ms (x9.9)" in spread
    assert "200: 100, 503: 1; calls sent again 1;" in counts
    assert "1 of 101 ingests" in counts


# ---- a service under it


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    with start_service() as target:
        yield target


def test_a_service_loses_nothing(target: Target, capsys: pytest.CaptureFixture[str]) -> None:
    """Every scenario, in small, ends with nothing lost and nothing doubled, and reports that."""
    small = ["--seconds", "5", "--streams", "4", "--callers", "3", "--calls", "2"]
    assert main(["--url", target.url, *small]) == 0
    printed = capsys.readouterr().out
    assert "nothing was lost, nothing was doubled" in printed
    assert printed.count("invariants hold") == len(SCENARIOS)
    assert "conflicts not seen from outside" in printed


def test_what_is_deleted_from_the_table_is_reported(target: Target) -> None:
    """A real service has no faults; a deleted event and a deleted memory are both reported."""
    stream = Stream("driven", "s")
    calls = SCENARIOS["many"]([stream], Random(1), itertools.count(1))
    sent = by_stream(drive(target, calls, Limits(60, 12), callers=2, random=Random(1)))
    assert sum(map(states_fact, sent[stream].events)) > 1
    assert inspection.find_faults(target, sent) == []
    _take_last(target, keys.stream("default", ids.stream_key(stream.scope, "s")), "B#")
    _take_last(target, keys.scope("default", ids.scope_id(stream.scope)), "M#")
    faults = inspection.find_faults(target, sent)
    assert any("s: event is lost" in fault for fault in faults)
    assert any("driven: memory is lost: 1" in fault for fault in faults)
    sent[stream].events.add(999_999)
    assert any("acceptedEvents sum to" in fault for fault in inspection.find_faults(target, sent))


def _take_last(target: Target, partition: str, kind: str) -> None:
    """Delete the last item of a kind, as no code of ours would."""
    client = boto3.client("dynamodb", region_name="us-east-1")
    values = {":pk": {"S": partition}, ":kind": {"S": kind}}
    condition = "PK = :pk AND begins_with(SK, :kind)"
    reply = client.query(TableName=target.table, KeyConditionExpression=condition, ExpressionAttributeValues=values)
    client.delete_item(TableName=target.table, Key={name: reply["Items"][-1][name] for name in ("PK", "SK")})
