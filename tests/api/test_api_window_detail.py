"""The details of a window: how large they are, who may read them, and what has expired."""

from dataclasses import replace
from datetime import timedelta

import pytest

from streambank.errors import NotFound, PermissionDenied
from streambank.model import ids
from streambank.model.coverage import Coverage
from streambank.model.event import Event, KeyedEvent
from streambank.model.extraction import FactChange
from streambank.model.memory import Change, Evidence, Memory
from streambank.model.plan import Candidate, Extracted, Plan, PlanStep
from streambank.model.principal import Principal, Role
from streambank.model.rule import Reason
from streambank.model.stream import StreamId
from streambank.model.verdict import RecordedVerdict, Verdict
from streambank.model.window import Attempt, Window, WindowState
from streambank.store import codec, keys
from streambank.store.actions import Put
from streambank.store.attributes import seconds
from streambank.store.plan_items import extracted_puts, plan_puts, verdicts_put
from tests.api.routes import NOW, document
from tests.api.test_api_reply_sizes import BANK, SCRIPTS, long, long_json

SCOPE = {"user_id": "u1"}
STREAM = StreamId(BANK, ids.stream_key(SCOPE, ""), SCOPE, "default")
ATTEMPT = Attempt(BANK, STREAM.sid, 1, 0)
OUTCOME = {"verdicts": {"CREATED": 1}, "covered": 1, "not_covered": {}, "events": 1, "usage": {}}
HASH = ids.keyed_hash(b"secret", "event")
FIND = {"scope": SCOPE, "eventIds": ["e1"]}
GENERATION = f"/{BANK}/operations/{STREAM.sid}-1-g"


def text_event(text, event_id):
    return KeyedEvent(Event("user", ({"text": text},), event_id), ids.event_key(event_id), 100)


def store(api, events, candidates, *, ttl=None, verdicts_an_item=40):
    """Store a window that is done: each of *events* in a batch of its own, and a verdict on each of *candidates*."""
    window = Window(STREAM, 1, 1, len(events), Reason.FORCE_FLUSH, NOW, NOW, state=WindowState.DONE, outcome=OUTCOME)
    puts = [Put(keys.window(BANK, STREAM.sid, 1), codec.window_values(window))]
    for seq, event in enumerate(events, 1):
        values = codec.batch_values([event], seq, 1, NOW)
        puts.append(Put(keys.batch(BANK, STREAM.sid, seq), {**values, "ttl": seconds(ttl)}))
        marker = {"seq": seq, "win": 1, "ttl": seconds(NOW + timedelta(days=1))}
        puts.append(Put(keys.marker(BANK, STREAM.sid, event.key), marker))
    head = {"ver": 1, "seq": len(events), "win": 2, "wst": len(events) + 1, "cnt": 0, "byt": 0, "ripe": 0}
    puts.append(Put(keys.head(BANK, STREAM.sid), {**head, "sco": '{"user_id":"u1"}', "str": "default"}))
    puts += extracted_puts(ATTEMPT, Extracted(tuple(candidates), coverage=Coverage(len(events)), offered={"m0": "1"}))
    steps = tuple(PlanStep(Verdict.CREATED) for _ in candidates)
    puts += plan_puts(ATTEMPT, Plan(0, 0, steps, {"m0": "1", "m9": "1"}))
    recorded = [
        RecordedVerdict(number, Verdict.CREATED, one.fact, "new", f"m{number}", 1, None, one.seqs)
        for number, one in enumerate(candidates)
    ]
    for start in range(0, len(recorded), verdicts_an_item):
        puts.append(verdicts_put(ATTEMPT, recorded[start : start + verdicts_an_item], None))
    for put in puts:
        api.table.write(put)


@SCRIPTS
def test_the_largest_window_has_room_in_a_reply(api, script):
    """Details and verdicts of a window of 1 MB and of many long facts are below the limit, and count the others."""
    facts = 4_000_000 // len(long_json(script, 8_192).encode())
    fact = long(script, 8_192)
    events = [text_event(long_json(script, 345_000), "e1"), *(text_event(long_json(script, 340_000), n) for n in "ab")]
    many = tuple(range(1, 10_001))
    candidates = [
        Candidate(fact, many if number == 0 else (1,), NOW, change=FactChange.CHANGES, memory_ids=("m0",), text=fact)
        for number in range(facts)
    ]
    store(api, events, candidates)
    reply = api.call("GET", GENERATION, view="FULL")
    shown, response = reply["detail"], reply["response"]
    assert len(shown["events"]) + shown.get("omittedEvents", 0) == 3
    assert shown["events"]
    assert len(shown["candidates"]) + shown["omittedCandidates"] == facts
    assert len(response["verdicts"]) + response["omittedVerdicts"] == facts
    assert len(shown["candidates"]) > 10
    assert (len(shown["candidates"][0]["events"]), shown["candidates"][0]["eventCount"]) == (100, 10_000)
    [event] = api.call("POST", f"/{BANK}/streams:findEvents", FIND)["events"]
    assert len(event["verdicts"]) + event["omittedVerdicts"] == facts
    assert len(event["memories"]) == len(event["verdicts"]) > 50


def test_all_events_of_a_call_share_the_room(api):
    """A reply about 97 events that each have every verdict stays below the limit, and each counts what it omits."""
    events = [text_event("I sail.", f"e{number}") for number in range(97)]
    candidates = [Candidate(f"{number} " + "x" * 8_000, tuple(range(1, 98)), NOW) for number in range(20)]
    store(api, events, candidates)
    body = {"scope": SCOPE, "eventIds": [f"e{number}" for number in range(97)]}
    found = api.call("POST", f"/{BANK}/streams:findEvents", body)["events"]
    counts = [(len(one.get("verdicts", ())), one.get("omittedVerdicts", 0)) for one in found]
    assert all(shown + omitted == 20 for shown, omitted in counts)
    assert (counts[0], counts[-1]) == ((20, 0), (0, 20))


def test_many_event_ids_of_a_memory_have_room(api):
    """The ids of events in a memory's sources take at most a megabyte."""
    for window in range(20):
        stream = f"s{window:025}"
        batch = [text_event("x", f"{number:04}" + "\x01" * 508) for number in range(100)]
        api.table.write(Put(keys.batch(BANK, stream, 1), codec.batch_values(batch, 1, 1, NOW)))
    numbers = tuple(range(1, 101))
    evidence = tuple(Evidence(f"s{window:025}", 1, numbers, (HASH,) * 100) for window in range(20))
    one = Memory("m", "I sail", SCOPE, NOW, NOW, NOW, evidence=evidence)
    api.stores.memories.commit_changes(BANK, SCOPE, 0, [Change(None, one, None)], now=NOW)
    sources = api.call("GET", f"/{BANK}/memories/m")["sources"]
    named = [len(source.get("eventIds", ())) for source in sources]
    assert named[0] == 100
    assert 300 < sum(named) < 400


def test_imported_evidence_names_no_ids(api):
    """Evidence without hashes is of another bank's stream: the ids of this bank's events are not taken for its own."""
    store(api, [text_event("I sail.", "e1")], [])
    for name, hashes in (("own", (HASH,)), ("imported", ())):
        one = Memory(name, "I sail", SCOPE, NOW, NOW, NOW, evidence=(Evidence(STREAM.sid, 1, (1,), hashes),))
        version = api.stores.memories.version(BANK, SCOPE).version
        api.stores.memories.commit_changes(BANK, SCOPE, version, [Change(None, one, None)], now=NOW)
    sources = [api.call("GET", f"/{BANK}/memories/{name}")["sources"][0] for name in ("own", "imported")]
    assert [source.get("eventIds") for source in sources] == [["e1"], None]


def test_expired_events_are_counted_and_not_shown(api):
    """An event that has expired is missing, though its item may be stored; its candidates stay, by its number."""
    store(api, [text_event("I sail.", "e1")], [Candidate("I sail", (1,), NOW)], ttl=NOW)
    shown = api.call("GET", GENERATION, view="FULL")["detail"]
    assert (shown["events"], shown["missingEvents"]) == ([], 1)
    assert shown["candidates"][0]["events"] == [{"sequence": 1}]


def test_a_candidate_has_what_it_proposed_and_all_its_memories(api):
    """A candidate of several memories has a verdict for each; its change, its text and what was offered are there."""
    changed = Candidate("I sail", (1,), NOW, change=FactChange.CHANGES, memory_ids=("m0",), text="I sail now")
    store(api, [text_event("I sail now.", "e1")], [changed])
    verdicts = [
        RecordedVerdict(0, Verdict.UPDATED, "I sail", "newer", "m0", 2, 1, (1,)),
        RecordedVerdict(0, Verdict.DELETED, "I sail", "merged", "m5", 2, 1),
        RecordedVerdict(1, Verdict.REJECTED, "I fly", "blank", "m7", None, None, (1,)),
    ]
    api.table.write(verdicts_put(ATTEMPT, verdicts, None))
    [candidate] = api.call("GET", GENERATION, view="FULL")["detail"]["candidates"]
    memories = f"reasoningEngines/{BANK}/memories"
    assert candidate == {
        "number": 1,
        "fact": "I sail",
        "events": [{"sequence": 1, "eventId": "e1"}],
        "change": "CHANGES",
        "changedMemories": [f"{memories}/m0"],
        "text": "I sail now",
        "verdicts": [
            {"verdict": "UPDATED", "memory": f"{memories}/m0", "reason": "newer"},
            {"verdict": "DELETED", "memory": f"{memories}/m5", "reason": "merged"},
        ],
    }
    shown = api.call("GET", GENERATION, view="FULL")["detail"]
    assert shown["offeredMemories"] == [f"{memories}/m0", f"{memories}/m9"]
    [event] = api.call("POST", f"/{BANK}/streams:findEvents", FIND)["events"]
    assert [one["verdict"] for one in event["verdicts"]] == ["UPDATED", "DELETED", "REJECTED"]
    assert event["memories"] == [f"{memories}/m0", f"{memories}/m5"]


def principal(*roles, scope=None):
    return Principal("somebody", (BANK,), frozenset(roles), scope)


@pytest.mark.parametrize("name", ["", "-g"])
def test_a_caller_reads_the_details_of_its_scope_alone(api, name):
    """A caller of another scope gets 404, as for the operation; one of the scope, and one of any scope, read them."""
    store(api, [text_event("I sail.", "e1")], [])
    path = f"/{BANK}/operations/{STREAM.sid}-1{name}"
    for scope in (None, SCOPE):
        mine = as_caller(api, principal(Role.READ, scope=scope))
        assert mine.call("GET", path, view="FULL")["detail"]["events"][0]["eventId"] == "e1"
    other = as_caller(api, principal(Role.READ, scope={"user_id": "u2"}))
    for view in ("BASIC", "FULL"):
        with pytest.raises(NotFound):
            other.call("GET", path, view=view)
    with pytest.raises(PermissionDenied):
        other.call("POST", f"/{BANK}/streams:findEvents", FIND)


def test_details_need_the_role_to_read(api):
    """A caller that ingests, edits or administers, and may not read, is refused."""
    store(api, [text_event("I sail.", "e1")], [])
    blind = as_caller(api, principal(Role.INGEST, Role.EDIT, Role.ADMIN))
    with pytest.raises(PermissionDenied):
        blind.call("GET", GENERATION, view="FULL")
    with pytest.raises(PermissionDenied):
        blind.call("POST", f"/{BANK}/streams:findEvents", FIND)


def as_caller(api, caller):
    """Return the same service as *caller* reaches it."""
    api.wiring = replace(api.wiring, authenticate=lambda _event: caller)
    return api


def test_an_erased_window_shows_nothing_before_all_is_deleted(api):
    """From the moment in which a window is erased its events are not shown, though they may be stored."""
    store(api, [text_event("I sail.", "e1")], [Candidate("I sail", (1,), NOW)])
    window = codec.window_of(api.table.get(keys.window(BANK, STREAM.sid, 1)))
    erased = replace(window, state=WindowState.ERASED, outcome={})
    api.table.write(Put(keys.window(BANK, STREAM.sid, 1), codec.window_values(erased)))
    reply = document(api.respond("GET", GENERATION, view="FULL"))
    stream = {"scope": STREAM.scope, "streamId": STREAM.name}
    assert reply["detail"] == {**stream, "events": [], "missingEvents": 1, "candidates": [], "offeredMemories": []}
