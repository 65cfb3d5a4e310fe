"""Storages: the one in memory, and what the service's does with what a transport answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import httpx
import pytest

from streambank_client import AsyncStreambank, GenerationRule, Streambank
from streambank_client.errors import PermissionDenied, StreambankError
from streambank_client.koog import (
    AsyncStreambankStorage,
    ConversationMessage,
    FilteringExtractionStrategy,
    InMemoryStorage,
    MemoryRecord,
    SearchRequest,
    StreambankStorage,
)
from streambank_client.koog.extraction import with_unique_ids
from tests.client.koog.agents import NOON

URL = "https://memory.example"
NOW = "2026-01-02T03:04:05Z"
Answer = Callable[[httpx.Request], httpx.Response]


def found(storage: InMemoryStorage, query: str, namespace: str | None = None, **options: Any) -> list[str]:
    return [result.document.content for result in storage.search(SearchRequest(query=query, **options), namespace)]


# ---- in memory


def test_the_same_id_is_the_same_document() -> None:
    """A document that is added again under its id is one; without ids equal texts are two."""
    storage = InMemoryStorage()
    assert storage.add([MemoryRecord("a", "1"), MemoryRecord("b", "1")]) == ["1", "1"]
    ids = storage.add([MemoryRecord("c"), MemoryRecord("c")])
    assert len(set(ids)) == 2
    assert [record.content for record in storage.records()] == ["b", "c", "c"]


def test_namespaces_are_apart() -> None:
    """What is in one namespace is neither listed, found nor updated in another; None is one of them."""
    storage = InMemoryStorage()
    storage.add([MemoryRecord("red", "1")])
    storage.add([MemoryRecord("red kite", "1")], "n")
    assert [record.content for record in storage.records("n")] == ["red kite"]
    assert found(storage, "red") == ["red"]
    assert storage.update({"1": MemoryRecord("blue")}, "other") == []
    assert found(storage, "red", "n") == ["red kite"]


def test_only_what_exists_is_updated() -> None:
    """Update replaces known documents under their ids, returns these ids, and adds nothing."""
    storage = InMemoryStorage()
    storage.add([MemoryRecord("old", "1", {"k": 1})])
    assert storage.update({"1": MemoryRecord("new", "other"), "2": MemoryRecord("more")}) == ["1"]
    assert storage.records() == [MemoryRecord("new", "1")]


def test_search_ranks_by_shared_words() -> None:
    """The nearest come first, at most as many as asked for, none below the threshold, none without a common word."""
    storage = InMemoryStorage()
    storage.add([MemoryRecord("I like big red kites"), MemoryRecord("Red kites"), MemoryRecord("nothing")])
    assert found(storage, "red KITES?") == ["Red kites", "I like big red kites"]
    assert found(storage, "red kites", top_k=1) == ["Red kites"]
    assert found(storage, "red kites", threshold=0.99) == ["Red kites"]
    assert found(storage, "") == []


def test_what_is_stored_is_a_copy() -> None:
    """Metadata that changes after it was added is not changed in the storage."""
    storage, metadata = InMemoryStorage(), {"k": 1}
    storage.add([MemoryRecord("a", "1", metadata)])
    metadata["k"] = 2
    assert storage.records()[0].metadata == {"k": 1}


def test_records_of_one_id_get_ids_of_their_own() -> None:
    """Of records with one id the first keeps it, the others are numbered; what has none is told by place and text."""
    records = [MemoryRecord("a", "m"), MemoryRecord(" "), MemoryRecord("b", "m"), MemoryRecord("c"), MemoryRecord("d")]
    ids = [str(record.id) for record in with_unique_ids(records, default_id="run")]
    assert [*ids[:2], *(record_id.rpartition("-")[0] for record_id in ids[2:])] == ["m", "m-1", "run-0", "run-1"]
    assert [record.id for record in with_unique_ids(records, default_id="run")] == ids
    other = with_unique_ids([MemoryRecord("something else")], default_id="run")
    assert str(other[0].id).startswith("run-0-")
    assert other[0].id not in ids


def test_default_strategy_keeps_order_and_ids() -> None:
    """Records of the default strategy carry the ids of their messages, in their order."""
    messages = [ConversationMessage(role, f"says {role}", f"id-{role}", NOON) for role in ("user", "tool", "assistant")]
    assert [record.id for record in FilteringExtractionStrategy()(messages)] == ["id-user", "id-assistant"]


# ---- the service's


def over(answer: Answer, *, scope: Any = None, **options: Any) -> StreambankStorage:
    client = Streambank(URL, token="t", transport=httpx.MockTransport(answer), sleep=lambda _: None)
    return StreambankStorage(client.bank(), scope=scope or {"user_id": "u"}, **options)


def operation(**metadata: Any) -> httpx.Response:
    return httpx.Response(200, json={"name": "reasoningEngines/default/operations/1", "metadata": metadata})


def refused(status: int, field: str = "") -> httpx.Response:
    violation = {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        "fieldViolations": [{"field": field, "description": "no"}],
    }
    name = {400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED"}[status]
    return httpx.Response(
        status, json={"error": {"code": status, "message": "no", "status": name, "details": [violation]}}
    )


def events_of(request: httpx.Request) -> list[Any]:
    events: list[Any] = json.loads(request.content)["directContentsSource"]["events"]
    return events


def ids_of(request: httpx.Request) -> list[str]:
    return [event["eventId"] for event in events_of(request)]


def records(*ids: str) -> list[MemoryRecord]:
    return [MemoryRecord(f"text {record_id}", record_id) for record_id in ids]


def test_records_are_sent_as_events() -> None:
    """Ids, roles and times of records are those of the events; scope, stream, rule and metadata go with the call."""
    sent: list[Any] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(json.loads(request.content))
        return operation()

    storage = over(answer, stream_id="s", generation_rule=GenerationRule(event_count=5), metadata={"app": "demo"})
    said = {"messageRole": "Assistant", "timestampMs": 1_767_323_045_678}
    assert storage.add([MemoryRecord("hi", "1", said), MemoryRecord("ho", "2")], "n") == ["1", "2"]
    assert sent == [
        {
            "scope": {"user_id": "u", "namespace": "n"},
            "streamId": "s",
            "directContentsSource": {
                "events": [
                    {
                        "eventId": "1",
                        "eventTime": "2026-01-02T03:04:05.678000Z",
                        "content": {"role": "model", "parts": [{"text": "hi"}]},
                    },
                    {"eventId": "2", "content": {"role": "user", "parts": [{"text": "ho"}]}},
                ]
            },
            "generationTriggerConfig": {"generationRule": {"eventCount": 5}},
            "metadata": {"app": {"stringValue": "demo"}},
        }
    ]


@pytest.mark.parametrize("said_ms", [None, "now", True, -1, 10**15])
def test_what_is_no_time_is_left_out(said_ms: Any) -> None:
    """A record whose metadata hold no time that there can be is an event without one."""
    sent: list[Any] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.extend(events_of(request))
        return operation()

    assert over(answer).add([MemoryRecord("hi", "1", {"timestampMs": said_ms})]) == ["1"]
    assert "eventTime" not in sent[0]


def test_poison_is_found_and_left_out() -> None:
    """A record that the service refuses is found by halving, and all others are sent and told."""
    taken: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        if "bad" in ids_of(request):
            return refused(400, "directContentsSource.events[0].content")
        taken.extend(ids_of(request))
        return operation()

    ids = [*(str(number) for number in range(5)), "bad", *(str(number) for number in range(6, 11))]
    expected = [record_id for record_id in ids if record_id != "bad"]
    assert over(answer).add(records(*ids)) == expected
    assert taken == expected


@pytest.mark.parametrize("response", [refused(403), refused(400, "scope")])
def test_what_is_no_event_s_fault_is_raised_at_once(response: httpx.Response) -> None:
    """A refusal of the call as a whole is raised after one request, with nothing halved."""
    asked: list[Any] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return response

    with pytest.raises(StreambankError, match="no") as caught:
        over(answer).add(records("1", "2", "3"))
    assert len(asked) == 1
    assert isinstance(caught.value, PermissionDenied) == (response.status_code == 403)


class Stream:
    """Keeps the events of calls as the service does: an id has its first content."""

    def __init__(self, *, knows: Callable[[str], bool] = lambda _: False) -> None:
        self.texts: dict[str, str] = {}
        self.calls: list[list[str]] = []
        self._knows = knows

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.calls.append(ids_of(request))
        conflicts = []
        for event in events_of(request):
            event_id, text = event["eventId"], event["content"]["parts"][0]["text"]
            if self._knows(event_id) or self.texts.setdefault(event_id, text) != text:
                conflicts.append(event_id)
        return operation(conflictingEventIds=conflicts)


def test_an_edit_is_learnt() -> None:
    """A record whose id the stream has for another text is stored under an id of its own, once, among others."""
    stream = Stream()
    storage = over(stream)
    for text in ("I live in Graz.", "I live in Linz.", "I live in Linz.", "I live in Graz."):
        assert storage.add([MemoryRecord("hi", "m0"), MemoryRecord(text, "m1")]) == ["m0", "m1"]
    assert list(stream.texts.values()) == ["hi", "I live in Graz.", "I live in Linz."]
    assert len(stream.calls) == 6


def test_versions_of_a_message_in_one_call() -> None:
    """Several texts of one id in one batch are all stored, each once, also when the batch is sent again."""
    stream = Stream()
    texts = ["Graz", "Linz", "Graz", "Wien", "Linz"]
    for _ in range(2):
        assert over(stream).add([MemoryRecord(text, "m1") for text in texts]) == ["m1"] * 5
    assert sorted(stream.texts.values()) == ["Graz", "Linz", "Wien"]


def test_an_edit_is_not_sent_in_a_loop() -> None:
    """A record whose edit has a conflict too is left out after two calls."""
    stream = Stream(knows=lambda event_id: event_id.startswith("2"))
    assert over(stream).add(records("1", "2", "3")) == ["1", "3"]
    assert [len(call) for call in stream.calls] == [3, 1]


def test_many_records_are_many_calls() -> None:
    """No call has more than 100 events or 2 MB of text, and what no event can hold is left out."""
    calls: list[Sequence[str]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        calls.append(ids_of(request))
        assert len(request.content) < 2_500_000
        return operation()

    ids = [str(number) for number in range(250)]
    assert over(answer).add(records(*ids)) == ids
    assert [len(call) for call in calls] == [100, 100, 50]
    calls.clear()
    large = [MemoryRecord("x" * 340_000, f"l{number}") for number in range(8)]
    assert len(over(answer).add([*large, MemoryRecord("x" * 345_001, "too large")])) == 8
    assert [len(call) for call in calls] == [5, 3]


def test_halves_of_surrogate_pairs_are_replaced() -> None:
    """A text that no UTF-8 can hold is sent with the rest of what it says."""
    sent: list[Any] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.extend(events_of(request))
        return operation()

    assert over(answer).add([MemoryRecord("a \ud83d b", "1")]) == ["1"]
    assert sent[0]["content"]["parts"][0]["text"] == "a \ufffd b"


def test_namespace_needs_room_in_the_scope() -> None:
    """A scope that has a key "namespace" takes no namespace: ValueError, and nothing is sent."""
    storage = over(lambda _: operation(), scope={"namespace": "x"})
    assert storage.add(records("1")) == ["1"]
    with pytest.raises(ValueError, match="namespace"):
        storage.add(records("1"), "n")


def test_scores_are_cosines() -> None:
    """The distance of unit vectors is turned back into their cosine, and what is under the threshold is left out."""
    when = "2026-01-02T03:04:05Z"
    asked: list[Any] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(json.loads(request.content))
        rows = [
            {
                "memory": {"name": f"b/memories/{name}", "fact": name, "createTime": when, "updateTime": when},
                "distance": far,
            }
            for name, far in (("same", 0.0), ("near", 1.0), ("right angle", 2**0.5), ("opposite", 2.0))
        ]
        return httpx.Response(200, json={"retrievedMemories": rows})

    results = over(answer).search(SearchRequest(query="é" * 5_000, top_k=7, threshold=-0.5), "n")
    assert [(result.document.id, pytest.approx(result.score)) for result in results] == [
        ("same", 1.0),
        ("near", 0.5),
        ("right angle", 0.0),
    ]
    assert results[0].document.metadata["name"] == "b/memories/same"
    assert asked[0]["scope"] == {"user_id": "u", "namespace": "n"}
    assert asked[0]["similaritySearchParams"] == {"searchQuery": "é" * 4_096, "topK": 34, "includePending": True}


def test_pending_records_are_results() -> None:
    """Records without memories yet are among the results, except those that the prompt has; it costs no second call."""
    asked: list[Any] = []

    def event(event_id: str, text: str, far: float, role: str = "user") -> Any:
        place = {"streamId": "s", "window": 1, "sequence": 1, "pending": True, "distance": far}
        return {"event": {"eventId": event_id, "content": {"role": role, "parts": [{"text": text}]}}, **place}

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(json.loads(request.content)["similaritySearchParams"])
        waiting = [event("1", "Where do I live?", 0.0), event("2", "I live in Linz.", 0.1), event("3", "hi", 0.2)]
        waiting.append(event("4", "Noted.", 0.3, "model"))
        memory = {"name": "b/memories/m", "fact": "Lives in Graz.", "createTime": NOW, "updateTime": NOW}
        memories = [{"memory": memory, "distance": 0.25}]
        return httpx.Response(200, json={"retrievedMemories": memories, "retrievedEvents": waiting})

    request = SearchRequest(query="Where do I live?", top_k=3, known_texts=["hi", "Where do I live?"])
    results = over(answer).search(request)
    assert [(one.document.content, one.document.metadata.get("pending")) for one in results] == [
        ("I live in Linz.", True),
        ("Lives in Graz.", None),
        ("Noted.", True),
    ]
    assert [one.document.metadata.get("messageRole") for one in results] == ["User", None, "Assistant"]
    over(answer, include_pending=False).search(request)
    assert [(one["topK"], one.get("includePending")) for one in asked] == [(26, True), (3, None)]


def test_asynchronous_storage_sends_the_same() -> None:
    """The asynchronous storage sends exactly what the other one sends, and returns the same."""
    sent: list[bytes] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.content)
        return operation()

    async def main() -> list[str]:
        transport = httpx.MockTransport(answer)
        async with AsyncStreambank(URL, token="t", transport=transport) as client:
            storage = AsyncStreambankStorage(client.bank(), scope={"user_id": "u"}, stream_id="s")
            return await storage.add(records("1", "2"), "n")

    assert asyncio.run(main()) == over(answer, stream_id="s").add(records("1", "2"), "n") == ["1", "2"]
    assert sent[0] == sent[1]
