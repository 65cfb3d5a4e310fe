"""Every reply is below Lambda's limit as it is sent, whatever its data, and tokens go on where it ended."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from streambank.model import ids
from streambank.model.bank import Bank
from streambank.model.memory import Change, Evidence, Memory, Profile, Revision
from streambank.model.rule import Reason
from streambank.model.session import Session, SessionEvent, first_number
from streambank.model.stream import Head, StreamId
from streambank.model.verdict import RecordedVerdict, Verdict
from streambank.model.window import Attempt, Window, WindowState
from streambank.store import codec, keys
from streambank.store.actions import Put
from streambank.store.memory_items import revision_values
from streambank.store.plan_items import verdicts_put
from tests.api.routes import NOW, document

# Four bytes a character; what JSON escapes, and is escaped again inside Lambda's reply; what takes six bytes for one.
FOUR_BYTES, QUOTES, CONTROLS = "\U0001d518", '"\\', "\x01"
SCRIPTS = pytest.mark.parametrize(
    "script",
    [
        pytest.param(FOUR_BYTES + CONTROLS, id="mixed"),
        *(
            pytest.param(script, marks=pytest.mark.slow, id=name)
            for script, name in ((FOUR_BYTES, "four-bytes"), (QUOTES, "quotes"), (CONTROLS, "controls"))
        ),
    ],
)
BANK = "default"


def long(script: str, size: int) -> str:
    """Return *size* bytes of a script."""
    return script * (size // len(script.encode()))


def long_json(script: str, size: int) -> str:
    """Return a text of a script that takes *size* bytes of JSON."""
    return script * (size // (len(json.dumps(script, ensure_ascii=False).encode()) - 2))


def scope_of(script: str) -> dict[str, str]:
    """Return the longest scope."""
    return {f"{n}" + long(script, 252): long(script, 256) for n in range(5)}


def memory(script: str, number: int, **more: object) -> Memory:
    """Return a memory as large as calls can make it."""
    at = NOW - timedelta(seconds=number + 1)
    fields = {
        "fact": long(script, 8_192),
        "topics": (long(script, 1_024),) * 4,
        "metadata": {"k": long(script, 4_000)},
        "display_name": long(script, 1_024),
        "description": long(script, 1_024),
        "evidence": tuple(Evidence(f"s{window}", window, (number + 1,)) for window in range(20)),
    }
    return Memory(f"m{number:04}", scope=scope_of(script), created=at, updated=at, as_of=at, **{**fields, **more})


def store_memories(api, memories):
    """Store memories of one scope."""
    scope = memories[0].scope
    for run, start in enumerate(range(0, len(memories), 20)):
        changes = [Change(None, one, None) for one in memories[start : start + 20]]
        api.stores.memories.commit_changes(BANK, scope, run, changes, now=NOW)


def names(pages, key="name"):
    return [item[key] for page in pages for item in page]


def check(api, pages, count, key="name"):
    """The list has several pages, of which the largest nearly fills a reply, and everything once."""
    assert len(pages) > 1
    assert api.largest > 3_500_000
    assert len(set(names(pages, key))) == len(names(pages, key)) == count


@SCRIPTS
def test_lists_of_memories_end_before_the_limit(api, script):
    """The list of a bank, of a scope, and in another order has everything once, in pages below the limit."""
    count = 3_600_000 // len(json.dumps(long(script, 20_000), ensure_ascii=False).encode())
    store_memories(api, [memory(script, number) for number in range(count)])
    check(api, api.pages(f"/{BANK}/memories", "memories", pageSize="1000"), count)
    check(api, api.pages(f"/{BANK}/memories", "memories", pageSize="1000", orderBy="create_time"), count)


@SCRIPTS
def test_changes_end_before_the_limit(api, script):
    """The change feed has everything once, in pages below the limit, also where each change names the largest scope."""
    scope = scope_of(script)
    count = 4_500_000 // len(json.dumps(scope, ensure_ascii=False).encode())
    store_memories(api, [Memory(f"m{number:04}", "x", scope, NOW, NOW, NOW) for number in range(count)])
    pages, token = [], ""
    while not pages or pages[-1]:
        reply = api.call("GET", f"/{BANK}/changes", pageSize="1000", **({"pageToken": token} if token else {}))
        pages, token = [*pages, reply["changes"]], reply["nextPageToken"]
    check(api, pages[:-1], count, "id")


@SCRIPTS
def test_retrieve_without_a_token_says_what_it_omits(api, script):
    """A retrieve and a search return the first results that a reply has room for, and count the others."""
    store_memories(api, [memory(script, number, topics=(long(script, 1_024),) * 16) for number in range(100)])
    scope, path = scope_of(script), f"/{BANK}/memories:retrieve"
    for params in ({}, {"similaritySearchParams": {"searchQuery": "x", "topK": 100}}):
        response = api.respond("POST", path, {"scope": scope, **params})
        rows = document(response)["retrievedMemories"]
        assert 5 < len(rows) < 100
        assert int(response["headers"]["x-streambank-omitted-results"]) == 100 - len(rows)
    assert 3_500_000 < api.largest < 5_000_000


def test_simple_retrieval_goes_on_where_it_ended(api):
    """Pages of `simpleRetrievalParams` end early and have a token."""
    script = CONTROLS
    store_memories(api, [memory(script, number) for number in range(100)])
    pages, token = [], ""
    while token or not pages:
        params = {"pageSize": 100, **({"pageToken": token} if token else {})}
        body = {"scope": scope_of(script), "simpleRetrievalParams": params}
        reply = api.call("POST", f"/{BANK}/memories:retrieve", body)
        pages.append([row["memory"] for row in reply["retrievedMemories"]])
        token = reply.get("nextPageToken", "")
    check(api, pages, 100)


@SCRIPTS
def test_revisions_end_before_the_limit(api, script):
    """The revisions of a memory come in pages below the limit."""
    count = 3_900_000 // len(json.dumps(long(script, 20_000), ensure_ascii=False).encode())
    one = memory(script, 0, revision=count)
    store_memories(api, [one])
    text, labels = long(script, 8_192), {"k": long(script, 4_000)}
    for number in range(1, count + 1):
        revision = Revision(one.id, number, text, NOW, None, labels, (text,))
        key = keys.revision(BANK, ids.scope_id(one.scope), one.id, number)
        api.table.write(Put(key, revision_values(revision)))
    check(api, api.pages(f"/{BANK}/memories/{one.id}/revisions", "memoryRevisions", pageSize="1000"), count)


@SCRIPTS
def test_profiles_are_cut_below_the_limit(api, script):
    """The profiles of a scope are returned as far as a reply has room, and the others are counted."""
    fact = json.dumps({"k": long(script, 40_000)}, ensure_ascii=False)
    profiles = [memory(script, n, fact=fact, profile=Profile(f"schema-{n}")) for n in range(100)]
    store_memories(api, profiles)
    response = api.respond("POST", f"/{BANK}/memories:retrieveProfiles", {"scope": scope_of(script)})
    omitted = int(response["headers"]["x-streambank-omitted-results"])
    assert len(document(response)["profiles"]) == 100 - omitted
    assert 3_500_000 < api.largest < 5_000_000


@SCRIPTS
def test_sessions_and_their_events_end_before_the_limit(api, script):
    """Sessions of the largest state, and events of the largest content, come in pages below the limit."""
    first = first_number(NOW)
    state = {"k": long_json(script, 295_000)}
    for number in range(20):
        created = NOW - timedelta(seconds=number)
        session = Session(f"s{number}", "u", created, created, first, first, state=state)
        api.stores.sessions.create(BANK, session)
    check(api, api.pages(f"/{BANK}/sessions", "sessions", pageSize="1000"), 20)
    check(api, api.pages(f"/{BANK}/sessions", "sessions", pageSize="1000", orderBy="create_time"), 20)
    before = api.stores.sessions.find(BANK, "s0")
    content = {"role": "user", "parts": [{"text": state["k"]}]}
    for number in range(first + 1, first + 21):
        after = replace(before, last=number)
        api.stores.sessions.append(BANK, before, after, SessionEvent("user", "i", NOW, number, content))
        before = api.stores.sessions.find(BANK, "s0")
    check(api, api.pages(f"/{BANK}/sessions/s0/events", "sessionEvents", pageSize="1000"), 20)
    check(api, api.pages(f"/{BANK}/sessions/s0/events", "sessionEvents", pageSize="1000", orderBy="timestamp"), 20)


@pytest.mark.slow
def test_streams_and_operations_end_before_the_limit(api):
    """Streams of the longest scopes come in pages below the limit, and so do operations under a long name."""
    script = CONTROLS
    for number in range(260):
        stream = StreamId(BANK, ids.stream_key(scope_of(script), f"{number}"), scope_of(script), f"{number}")
        head = Head(stream, seq=1, count=1, first_arrival=NOW, last_arrival=NOW, anchor=NOW)
        api.stores.streams.commit(None, head, (), now=NOW, retention_policy=api.wiring.deployment.retention_policy)
    check(api, api.pages(f"/{BANK}/streams", "streams", pageSize="1000"), 260, "streamId")
    listed = api.pages(f"/{BANK}/operations", "operations", pageSize="1000")
    assert len(names(listed)) == 260


@SCRIPTS
def test_banks_end_before_the_limit(api, script):
    """Banks of the largest configuration come in pages below the limit."""
    config = {
        "customizationConfigs": [{"memoryTopics": [{"customMemoryTopic": {"label": long_json(script, 295_000)}}]}]
    }
    for number in range(19):
        api.stores.banks.create(Bank(f"b{number:02}", NOW, NOW), config)
    check(api, api.pages("", "reasoningEngines", pageSize="1000"), 20)


@SCRIPTS
def test_verdicts_are_cut_below_the_limit(api, script):
    """A generation of many long facts is answered with the first verdicts, and the number of those that it omits."""
    fact, count = long(script, 8_192), 4_000_000 // len(json.dumps(long(script, 8_192), ensure_ascii=False).encode())
    stream = StreamId(BANK, ids.stream_key({"u": "1"}, ""), {"u": "1"}, "")
    outcome = {"verdicts": {"CREATED": count}, "covered": 1, "events": 1, "usage": {}}
    window = Window(stream, 1, 1, 1, Reason.FORCE_FLUSH, NOW, NOW, state=WindowState.DONE, outcome=outcome)
    api.table.write(Put(keys.window(BANK, stream.sid, 1), codec.window_values(window)))
    attempt = Attempt(BANK, stream.sid, 1, 0)
    for number in range(count):
        recorded = RecordedVerdict(number, Verdict.CREATED, fact, "new", f"m{number}", 1)
        api.table.write(verdicts_put(attempt, [recorded], None))
    reply = api.call("GET", f"/{BANK}/operations/{stream.sid}-1-g")["response"]
    assert len(reply["verdicts"]) == len(reply["generatedMemories"]) == count - reply["omittedVerdicts"]
    assert api.largest > 3_500_000
