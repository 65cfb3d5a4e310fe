"""Strange names and both spellings: what is sent comes back as it was, or is refused by name, and meets no other's."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streambank_local.service import LocalService
from tests.journeys.caller import DEFAULT_BANK, VERSION, Caller, Document, Stream, moment, said

# What separates, escapes, matches or is normalised somewhere else; `*` is refused in scopes.
ODD = [*"ab%/#|=\0\"\\'&+?.:_ \n", "é", "e\u0301", "\u212b", "\u00c5", "\u200b", "\u2028", "🐝", "İ", "\ufeff"]
EDGES = ["x" * 256, "x" * 257, "ä" * 128, "ä" * 129, "🐝" * 64, "", "*", "a*", "default", "é", "e\u0301"]
SHORT = st.lists(st.sampled_from(ODD), min_size=1, max_size=3).map("".join)
VALUES = SHORT | st.sampled_from(EDGES)
SCOPES = st.dictionaries(VALUES, VALUES, min_size=1, max_size=2)
IDS = SHORT | st.sampled_from(["x" * 512, "x" * 513, "ä" * 256, "ä" * 257, "", "*"])
FEW = settings(max_examples=25)


@dataclass
class Place:
    """Two banks, and what the tests put into them."""

    caller: Caller
    banks: tuple[str, str]
    names: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    streams: dict[tuple[str, str, str], str] = field(default_factory=dict)
    events: dict[str, set[str]] = field(default_factory=dict)


@pytest.fixture(scope="module")
def place(service: LocalService, client: httpx.Client) -> Any:
    caller = Caller(service, client)
    yield Place(caller, (caller.bank(), caller.bank()))
    caller.leave()


def canonical(scope: Document) -> str:
    return json.dumps(scope, sort_keys=True)


def broken(scope: Document) -> bool:
    """Tell whether a scope breaks a rule: 1 to 256 bytes each, no `*` in a value."""
    sizes = (len(text.encode()) for pair in scope.items() for text in pair)
    return not all(1 <= size <= 256 for size in sizes) or any("*" in value for value in scope.values())


def refused(reply: httpx.Response) -> str:
    """Return the field that a reply refuses."""
    assert reply.status_code == 400, reply.text
    named: str = reply.json()["error"]["details"][0]["fieldViolations"][0]["field"]
    return named


@FEW
@given(scope=SCOPES, name=SHORT, side=st.integers(0, 1))
def test_memories_of_any_scope_are_found_there_only(place: Place, scope: Document, name: str, side: int) -> None:
    """A memory is found under its very scope and bank, name and all, or its scope is refused by its field."""
    bank, path = place.banks[side], f"{VERSION}/{place.banks[side]}"
    body = {"fact": f"I am {name}", "scope": scope, "displayName": name}
    reply = place.caller.client.post(f"{path}/memories", json=body)
    if broken(scope):
        named = refused(reply)
        assert named == "scope" or named in {f"scope.{key}" for key in scope}
        assert refused(place.caller.client.post(f"{path}/memories:retrieve", json={"scope": scope})) == named
        return
    made = reply.json()["response"]["name"]
    place.names.setdefault((bank, canonical(scope)), set()).add(made)
    shown = place.caller.get(made)
    assert (shown["scope"], shown["displayName"], shown["fact"]) == (scope, name, f"I am {name}")
    for each in place.banks:
        known = place.names.get((each, canonical(scope)), set())
        assert {memory["name"] for memory in place.caller.memories(scope, each)} == known
    text = f"scope={json.dumps(json.dumps(scope))}"
    listed = place.caller.get(f"{bank}/memories", params={"filter": text, "pageSize": "1000"})["memories"]
    assert {memory["name"] for memory in listed} == place.names[bank, canonical(scope)]
    search = {"search_query": "who", "top_k": 100}
    found = place.caller.retrieve(scope, bank, similaritySearchParams=search, filter=f"display_name={json.dumps(name)}")
    assert made in {row["memory"]["name"] for row in found}
    assert all(row["memory"]["displayName"] == name for row in found)


@FEW
@given(scope=SCOPES, stream_id=IDS, event_id=IDS, side=st.integers(0, 1))
def test_streams_and_events_of_any_name_are_told_apart(
    place: Place, scope: Document, stream_id: str, event_id: str, side: int
) -> None:
    """Bank, scope and stream id make a stream, its events are told apart by the bytes of their ids, or are refused."""
    bank = place.banks[side]
    stream = Stream(place.caller, bank, scope, stream_id)
    body = stream.body(said("Hm.", event_id or None), rule={"event_count": 10_000})
    reply = place.caller.client.post(f"{VERSION}/{bank}/memories:ingestEvents", json=body)
    too_long = [name for name, text in (("streamId", stream_id), ("event_id", event_id)) if len(text.encode()) > 512]
    if broken(scope) or too_long:
        named = refused(reply)
        assert named.startswith("scope") if broken(scope) else named.rpartition(".")[2] == too_long[0]
        return
    place.caller.streams.append(stream)
    answer = reply.json()
    assert place.streams.setdefault((bank, canonical(scope), stream_id or "default"), answer["name"]) == answer["name"]
    assert len(set(place.streams.values())) == len(place.streams)
    seen = place.events.setdefault(answer["name"], set())
    assert answer["metadata"]["acceptedEvents"] == (event_id == "" or event_id not in seen)
    assert answer["metadata"]["conflictingEventIds"] == []
    seen |= {event_id} - {""}


OFFSETS = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda minutes: timezone(timedelta(minutes=minutes)))
INSTANTS = st.datetimes(datetime(1970, 1, 3), datetime(9990, 1, 1), timezones=OFFSETS)


@settings(max_examples=5)
@given(instants=st.lists(INSTANTS, min_size=20, max_size=20))
def test_times_are_the_same_instant_in_utc(place: Place, instants: list[datetime]) -> None:
    """A time may be written with any offset; it comes back in UTC, the same to the microsecond."""
    metadata = {str(at): {"timestamp_value": one.isoformat()} for at, one in enumerate(instants)}
    body = {"fact": "I like tea", "scope": {"times": "1"}, "metadata": metadata, "expireTime": "9999-12-31T23:59:59Z"}
    bank = place.banks[0]
    made = place.caller.post(f"{bank}/memories", body)["response"]
    shown = place.caller.get(made["name"])
    place.caller.delete(made["name"])
    assert shown["expireTime"] == "9999-12-31T23:59:59Z"
    for at, one in enumerate(instants):
        [written] = shown["metadata"][str(at)].values()
        assert written.endswith("Z")
        assert moment(written) == one.astimezone(UTC)


@pytest.mark.parametrize(
    "written", ["2090-01-02T03:04:05+05:30", "2090-01-01T21:34:05Z", "2090-01-01t16:34:05.0-05:00"]
)
def test_offsets_say_one_instant(caller: Caller, written: str) -> None:
    """Three spellings of one instant are one expiry."""
    body = {"fact": "I like tea", "scope": caller.scope(), "expire_time": written}
    made = caller.post(f"{DEFAULT_BANK}/memories", body)["response"]
    assert caller.get(made["name"])["expireTime"] == "2090-01-01T21:34:05Z"


# ---- base64


PARTS: list[Document] = [
    {"inline_data": {"data": "__77Pz8-Pg==", "mime_type": "image/png"}},
    {"inlineData": {"data": "//77Pz8+Pg==", "mimeType": "image/png"}},
    {"text": "a thought", "thought": True, "thought_signature": "_-8="},
    {"text": "a thought", "thought": True, "thoughtSignature": "/+8="},
    {"file_data": {"file_uri": "gs://b/x_y.png", "mime_type": "image/png"}},
    {"functionCall": {"name": "f_g", "args": {"snake_key": 1, "camelKey": [{"A_b": None, "": "x"}], "üÜ": 1.5}}},
    {"function_call": {"name": "f", "args": {"file_data": {"mime_type": "x"}, "inlineData": 2, "\0": True}}},
    {"function_response": {"name": "f", "response": {"r_s": {"T_u": 1}, "rS": [], "result": None}}},
]


def test_parts_are_kept_to_the_byte(caller: Caller) -> None:
    """Bytes stay in the alphabet of base64 that they came in, and what is inside arguments keeps its keys."""
    session = caller.post(f"{DEFAULT_BANK}/sessions", {"userId": "u"})["response"]["name"]
    content = {"role": "model", "parts": PARTS}
    event = {"author": "a", "invocationId": "1", "timestamp": "2026-01-01T00:00:00Z", "content": content}
    caller.post(f"{session}:appendEvent", event)
    [shown] = caller.get(f"{session}/events")["sessionEvents"]
    kept = shown["content"]["parts"]
    for sent, got in zip(PARTS, kept, strict=True):
        assert sorted(payloads(sent)) == sorted(payloads(got))
    caller.delete(session)


def payloads(part: Document) -> list[str]:
    """Return what a part carries, without the names of its own fields, which have two spellings."""
    found: list[str] = []
    for value in part.values():
        if not isinstance(value, dict):
            found.append(repr(value))
            continue
        for key, item in value.items():
            found.append(json.dumps(item) if key in {"args", "response"} else repr(item))
    return found


def test_parts_of_any_kind_are_taken_as_events(caller: Caller) -> None:
    """Media and tool traffic in either alphabet and spelling are accepted, counted, and told apart by their ids."""
    stream = caller.stream()
    events = [{"content": {"role": "user", "parts": [part]}, "eventId": str(at)} for at, part in enumerate(PARTS)]
    sent = stream.send(*events, rule={"event_count": 100})["metadata"]
    again = stream.send(*events)["metadata"]
    assert (sent["acceptedEvents"], again["duplicateEvents"]) == (len(PARTS), len(PARTS))
    assert again["conflictingEventIds"] == []


def test_event_in_the_other_spelling_is_the_same_event(caller: Caller) -> None:
    """A part's own fields have two spellings: sent again in the other, an event is a duplicate and no conflict."""
    stream = caller.stream()
    for part in PARTS[4], {"fileData": {"fileUri": "gs://b/x_y.png", "mimeType": "image/png"}}:
        event = {"content": {"role": "user", "parts": [part]}, "eventId": "e1"}
        answer = stream.send(event, rule={"event_count": 100})["metadata"]
    assert (answer["duplicateEvents"], answer["conflictingEventIds"]) == (1, [])


# ---- both spellings

MAPS = {"metadata", "scope", "revisionLabels", "labels", "sessionState", "properties", "stateDelta"}
VOLATILE = re.compile(r'"(createTime|eventTime|updateTime|expireTime)": "[^"]*"|"name": "[^"]*"')


def snake(value: Any) -> Any:
    """Return a document in snake_case, the entries of maps but for their own fields untouched."""
    if isinstance(value, list):
        return [snake(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        re.sub(r"([A-Z])", lambda found: "_" + found[1].lower(), key): _entries(key, item)
        for key, item in value.items()
    }


def _entries(key: str, item: Any) -> Any:
    if key not in MAPS:
        return snake(item)
    return {name: snake(entry) for name, entry in item.items()} if key == "metadata" else item


MEMORY: Document = {
    "fact": "I like tea",
    "displayName": "Tea",
    "revisionLabels": {"data_source": "x", "dataSource": "y"},
    "disableMemoryRevisions": False,
    "topics": [{"managedMemoryTopic": "USER_PREFERENCES"}, {"customMemoryTopicLabel": "my_topic"}],
    "metadata": {"my_key": {"stringValue": "a_b"}, "myKey": {"timestampValue": "2026-01-01T00:00:00Z"}},
    "ttl": "3600s",
    "revisionTtl": "60s",
}


def test_memory_in_either_spelling_is_one_memory(caller: Caller) -> None:
    """Creating, searching, counting and rolling back say the same in camelCase and in snake_case."""
    shown = []
    for spell in (dict, snake):
        bank, scope = caller.bank(), {"user_id": "1", "userId": "2"}
        memory = caller.post(f"{bank}/memories", spell({**MEMORY, "scope": scope}))["response"]
        caller.post(f"{memory['name']}:rollback", spell({"targetRevisionId": "1"}))
        group = {"filters": [{"key": "my_key", "value": {"stringValue": "a_b"}}]}
        ask = {"scope": scope, "filterGroups": [group], "memoryTypes": ["NATURAL_LANGUAGE_COLLECTION"]}
        search = {"similaritySearchParams": {"searchQuery": "tea", "topK": 1}}
        paging = {"simpleRetrievalParams": {"pageSize": 1, "pageToken": ""}}
        replies = [
            caller.get(memory["name"]),
            caller.revisions(memory),
            caller.post(f"{bank}/memories:retrieve", spell(ask | search)),
            caller.post(f"{bank}/memories:retrieve", spell(ask | paging)),
            caller.post(f"{bank}/memories:purge", spell({"filterGroups": [group], "force": False})),
            caller.memories({"userId": "1", "user_id": "2"}, bank),
        ]
        shown.append(VOLATILE.sub("", json.dumps(replies)))
    assert shown[0] == shown[1]
    assert '"purgeCount": 1' in shown[0]


CONFIG: Document = {
    "generationConfig": {"model": "m", "generationTriggerConfig": {"generationRule": {"eventCount": 7}}},
    "similaritySearchConfig": {"embeddingModel": "e"},
    "ttlConfig": {"granularTtlConfig": {"createTtl": "60s"}, "memoryRevisionDefaultTtl": "86400s"},
    "customizationConfigs": [
        {
            "scopeKeys": ["user_id"],
            "memoryTopics": [{"customMemoryTopic": {"label": "my_topic", "description": "d"}}],
            "enableThirdPersonMemories": True,
            "consolidationConfig": {"revisionsPerCandidateCount": 3},
        }
    ],
    "structuredMemoryConfigs": [
        {
            "scopeKeys": ["userId"],
            "schemaConfigs": [
                {
                    "id": "user-profile",
                    "memoryType": "STRUCTURED_PROFILE",
                    "schema": {
                        "type": "OBJECT",
                        "properties": {"first_name": {"type": "STRING"}, "lastName": {"type": "STRING"}},
                    },
                }
            ],
        }
    ],
}


def test_bank_in_either_spelling_is_one_bank(caller: Caller) -> None:
    """A configuration comes back in camelCase with the names in it as they were, however it was spelled."""
    for spell in (dict, snake):
        bank = caller.bank(**spell(CONFIG))
        assert caller.get(bank)["contextSpec"]["memoryBankConfig"] == CONFIG


def test_generation_in_either_spelling_is_one_generation(caller: Caller) -> None:
    """Direct memories, options and all, say the same in camelCase and in snake_case."""
    shown = []
    for spell in (dict, snake):
        bank, scope = caller.bank(), {"user_id": "1"}
        body = {
            "scope": scope,
            "directMemoriesSource": {"directMemories": [{"fact": "I like tea", "topics": MEMORY["topics"]}]},
            "disableConsolidation": True,
            "revisionLabels": MEMORY["revisionLabels"],
            "revisionTtl": "60s",
            "metadata": MEMORY["metadata"],
            "metadataMergeStrategy": "MERGE",
            "timeZone": "Europe/Vienna",
        }
        caller.post(f"{bank}/memories:generate", spell(body))
        caller.settle()
        [memory] = caller.memories(scope, bank)
        shown.append(VOLATILE.sub("", json.dumps([memory, caller.revisions(memory)])))
    assert shown[0] == shown[1]
    assert '"my_key": {"stringValue": "a_b"}' in shown[0]
    assert '"data_source": "x"' in shown[0]


def test_field_in_two_spellings_is_refused(caller: Caller) -> None:
    """Both spellings of one field in one object are 400, on every route that reads bodies."""
    scope = caller.scope()
    for path, body in (
        ("memories", {"fact": "f", "scope": scope, "displayName": "a", "display_name": "a"}),
        ("memories:purge", {"filter": 'fact="x"', "filterGroups": [], "filter_groups": []}),
        ("memories:generate", {"scope": scope, "revisionTtl": "60s", "revision_ttl": "60s"}),
        ("sessions", {"userId": "u", "user_id": "u"}),
    ):
        caller.post(f"{DEFAULT_BANK}/{path}", body, status=400)


# ---- maps


def test_keys_of_maps_are_the_callers_own(caller: Caller) -> None:
    """No key of metadata, labels, scope or state is respelled, merged or split, however much it looks like a field."""
    odd = ["my_key", "myKey", "string_value", "user_id", "a.b", "a b", "é", "e\u0301", "", "\0", "🐝", "$ref", "@type"]
    bank = caller.bank()
    scope = {"user_id": "1", "userId": "2", "a.b": "3", "é": "4", "e\u0301": "5"}
    labels = {key: f"{at}" for at, key in enumerate(odd)}
    metadata = {key: {"string_value": f"{at}"} for at, key in enumerate(odd)}
    body = {"fact": "I like tea", "scope": scope, "metadata": metadata, "revisionLabels": labels}
    memory = caller.get(caller.post(f"{bank}/memories", body)["response"]["name"])
    assert memory["scope"] == scope
    assert memory["metadata"] == {key: {"stringValue": f"{at}"} for at, key in enumerate(odd)}
    [revision] = caller.revisions(memory)
    assert revision["labels"] == labels
    for at, key in enumerate(odd[:-1]):
        text = f"labels.{json.dumps(key)}={at}"
        assert caller.get(f"{memory['name']}/revisions", params={"filter": text})["memoryRevisions"], key
    for at, key in enumerate(odd):
        groups = [{"filters": [{"key": key, "value": {"string_value": f"{at}"}}]}] if key else []
        assert len(caller.retrieve(scope, bank, filterGroups=groups)) == 1, key


def test_state_of_a_session_is_kept_as_it_is(caller: Caller) -> None:
    """Keys of a session's state and labels, nested ones too, come back as they were sent."""
    state = {"snake_key": {"In_ner": [1, {"x_y": None}]}, "camelKey": 1.5, "state_delta": {}, "é": "e\u0301", "": 0}
    labels = {"my_label": "x_y", "a.b": "1"}
    body = {"userId": "u", "sessionState": state, "labels": labels}
    made = caller.post(f"{DEFAULT_BANK}/sessions", body)["response"]
    shown = caller.get(made["name"])
    assert (shown["sessionState"], shown["labels"]) == (state, labels)
    caller.delete(made["name"])
