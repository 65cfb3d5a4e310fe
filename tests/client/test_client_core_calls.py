"""Requests as they leave: ids in paths and queries, bodies."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from urllib.parse import parse_qs, unquote

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank_client import Content, Event, GenerationRule, Part, Streambank
from streambank_client.errors import NotFound
from streambank_client.types import DirectMemory, MemoryBankConfig, Topic, TtlConfig
from tests.client.answering import operation, refused, reply, script
from tests.client.samples import SCOPE

HOSTILE = [
    "session/with:special@chars#123!&spaces too",
    "a/b",
    "../../default",
    "%2e%2e",
    "100%41",
    "a:purge",
    "a?b=c",
    "a;b",
    "ü—漢",
    "a\nb",
    "a\\b",
    "+",
    "...",
    "~._-",
]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda text: text not in (".", ".."))


def sent(call: Any) -> httpx.Request:
    """Return the request of a call of a bank."""
    seam = script(refused(404, "NOT_FOUND"))
    with pytest.raises(NotFound):
        call(seam.client().bank())
    return seam.asked[0]


def segments(request: httpx.Request) -> list[str]:
    return [unquote(part) for part in request.url.raw_path.decode().partition("?")[0].split("/")]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_id_stays_one_segment(hostile: str) -> None:
    """Whatever an id holds, the request is about the thing of that id and about nothing else."""
    start = ["", "prod", "v1beta1", "reasoningEngines", "default"]
    assert segments(sent(lambda bank: bank.get_memory(memory=hostile))) == [*start, "memories", hostile]
    assert segments(sent(lambda bank: bank.get_session(session=hostile))) == [*start, "sessions", hostile]
    assert segments(sent(lambda bank: bank.cancel_operation(operation=hostile))) == [
        *start,
        "operations",
        f"{hostile}:cancel",
    ]
    found = sent(lambda bank: bank.get_revision(memory=hostile, revision=hostile))
    assert segments(found) == [*start, "memories", hostile, "revisions", hostile]


@given(TEXT)
def test_any_id_stays_one_segment(text: str) -> None:
    """No text changes the path around it, and a server that decodes it reads it as it was."""
    raw = sent(lambda bank: bank.get_memory(memory=text)).url.raw_path.decode()
    assert raw.startswith("/prod/v1beta1/reasoningEngines/default/memories/")
    assert raw.count("/") == 6
    assert unquote(raw.rsplit("/", 1)[1]) == text


@given(TEXT)
def test_any_conversation_id_is_sent_as_it_is(text: str) -> None:
    """A conversation's id is a parameter of which nothing is lost, not even a plus or a dot."""
    query = sent(lambda bank: bank.load_chat_history(conversation_id=text)).url.query.decode()
    assert parse_qs(query, keep_blank_values=True) == {"conversationId": [text]}


@pytest.mark.parametrize("wrong", ["", ".", "..", "\ud800"])
def test_id_that_would_be_another_path_is_refused(wrong: str) -> None:
    """Dots would be removed on the way and an empty id would be the collection: neither is sent."""
    seam = script(reply({}))
    bank = seam.client().bank()
    for call in (
        lambda: bank.delete_memory(memory=wrong),
        lambda: bank.delete_session(session=wrong),
        lambda: bank.get_operation(operation=wrong),
        lambda: bank.get_revision(memory="m", revision=wrong),
        lambda: seam.client().bank(wrong),
    ):
        with pytest.raises(ValueError):
            call()
    assert seam.asked == []


def test_names_of_replies_are_taken_for_ids() -> None:
    """What a reply names is found by that name, in a bank of either spelling."""
    for name in ("reasoningEngines/b", "memoryBanks/b", "projects/p/locations/l/reasoningEngines/b"):
        seam = script(refused(404, "NOT_FOUND"))
        bank = seam.client().bank(name)
        assert bank.name == name
        for call, path in (
            (lambda bank=bank: bank.get_memory(memory=f"{bank.name}/memories/m"), "memories/m"),
            (lambda bank=bank: bank.get_session(session=f"{bank.name}/sessions/s"), "sessions/s"),
            (
                lambda bank=bank: bank.get_operation(operation=f"{bank.name}/memories/m/operations/o"),
                "memories/m/operations/o",
            ),
            (
                lambda bank=bank: bank.get_revision(memory="m", revision=f"{bank.name}/memories/m/revisions/2"),
                "memories/m/revisions/2",
            ),
        ):
            with pytest.raises(NotFound):
                call()
            assert seam.asked[-1].url.path == f"/prod/v1beta1/{name}/{path}"


def test_name_of_another_bank_is_an_id_that_is_not_there() -> None:
    """A name under another bank never reaches that bank's thing, nor this one's of the same id."""
    request = sent(lambda bank: bank.delete_memory(memory="reasoningEngines/other/memories/m"))
    assert segments(request)[-1] == "reasoningEngines/other/memories/m"


# ---- bodies


def body(call: Any) -> Any:
    return json.loads(sent(call).content)


def test_ingest_says_all_that_is_given() -> None:
    """Each argument stands in the body as the API spells it; what was not given is not there."""
    rule = GenerationRule(event_count=5, idle_duration=timedelta(minutes=2))
    event = Event(
        content=Content(role="model", parts=[Part(text="Hi."), Part.model_validate({"x_y": {"a_b": None}})]),
        event_id="1",
        event_time=datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
    )
    assert body(
        lambda bank: bank.ingest_events(
            scope=SCOPE,
            stream_id="s",
            events=[event],
            generation_rule=rule,
            force_flush=True,
            metadata={"source": "chat", "n": 1.5, "i": 2, "ok": True, "at": datetime(2026, 1, 1, tzinfo=UTC)},
            metadata_merge_strategy="MERGE",
            revision_labels={"a_b": "c"},
            revision_ttl=timedelta(hours=1, milliseconds=500),
            disable_memory_revisions=False,
            time_zone="Europe/Vienna",
            include_tool_traffic=True,
        )
    ) == {
        "scope": SCOPE,
        "streamId": "s",
        "directContentsSource": {
            "events": [
                {
                    "content": {"role": "model", "parts": [{"text": "Hi."}, {"x_y": {"a_b": None}}]},
                    "eventId": "1",
                    "eventTime": "2026-01-01T00:00:00Z",
                }
            ]
        },
        "generationTriggerConfig": {"generationRule": {"eventCount": 5, "idleDuration": "120s"}},
        "forceFlush": True,
        "metadata": {
            "source": {"stringValue": "chat"},
            "n": {"doubleValue": 1.5},
            "i": {"doubleValue": 2},
            "ok": {"boolValue": True},
            "at": {"timestampValue": "2026-01-01T00:00:00Z"},
        },
        "metadataMergeStrategy": "MERGE",
        "revisionLabels": {"a_b": "c"},
        "revisionTtl": "3600.5s",
        "disableMemoryRevisions": False,
        "timeZone": "Europe/Vienna",
        "includeToolTraffic": True,
    }
    assert body(lambda bank: bank.ingest_events(scope=SCOPE)) == {"scope": SCOPE, "streamId": "default"}


def test_empty_rule_is_said() -> None:
    """A rule without a condition, which flushes and takes a stored one off, is another thing than no rule."""
    for rule in (GenerationRule(), {}):
        said = body(lambda bank, rule=rule: bank.ingest_events(scope=SCOPE, generation_rule=rule))
        assert said["generationTriggerConfig"] == {"generationRule": {}}


def test_events_of_a_keyed_call_have_no_ids_of_ours() -> None:
    """Under an idempotency key the service tells events by key and position: an id of the client's would be new
    each time that the caller sends them again."""
    call = sent(lambda bank: bank.ingest_events(scope=SCOPE, events=[Event.from_text("Hi.")], idempotency_key="k"))
    assert call.headers["x-idempotency-key"] == "k"
    assert "eventId" not in call.content.decode()
    assert "x-idempotency-key" not in sent(lambda bank: bank.ingest_events(scope=SCOPE)).headers
    for wrong in ("k\r\nx-other: 1", "ü", " k"):
        with pytest.raises(ValueError):
            sent(lambda bank, wrong=wrong: bank.ingest_events(scope=SCOPE, idempotency_key=wrong))


def test_generation_has_one_source() -> None:
    """Contents, stated facts and a session are each said in their own field."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    stated = ["Likes tea.", DirectMemory(fact="Has a dog.", topics=[Topic(custom_memory_topic_label="pets")])]
    assert body(lambda bank: bank.generate_memories(scope=SCOPE, direct_memories=stated)) == {
        "scope": SCOPE,
        "directMemoriesSource": {
            "directMemories": [
                {"fact": "Likes tea."},
                {"fact": "Has a dog.", "topics": [{"customMemoryTopicLabel": "pets"}]},
            ]
        },
    }
    said = body(lambda bank: bank.generate_memories(scope=SCOPE, events=[Event.from_text("Hi.")]))
    assert said["directContentsSource"] == {"events": [{"content": {"role": "user", "parts": [{"text": "Hi."}]}}]}
    assert body(lambda bank: bank.generate_memories(session="s", session_start_time=start)) == {
        "vertexSessionSource": {"session": "reasoningEngines/default/sessions/s", "startTime": "2026-01-01T00:00:00Z"}
    }


def test_retrieval_is_similar_simple_or_bare() -> None:
    """With a query it is a search, with a number alone a page, and else everything."""
    assert body(lambda bank: bank.retrieve_memories(scope=SCOPE, query="tea", top_k=5, include_events=True)) == {
        "scope": SCOPE,
        "similaritySearchParams": {"searchQuery": "tea", "topK": 5, "includeEvents": True},
    }
    assert body(lambda bank: bank.retrieve_memories(scope=SCOPE, top_k=5)) == {
        "scope": SCOPE,
        "simpleRetrievalParams": {"pageSize": 5},
    }
    assert body(lambda bank: bank.retrieve_memories(scope=SCOPE, filter='fact:"tea"')) == {
        "scope": SCOPE,
        "filter": 'fact:"tea"',
    }
    with pytest.raises(ValueError, match="query"):
        sent(lambda bank: bank.retrieve_memories(scope=SCOPE, include_pending=True))


def test_each_retrieval_looks_back() -> None:
    """Both times are sent in UTC with a search, with a page and with profiles."""
    at = {"as_of": datetime(2026, 1, 1, tzinfo=UTC), "known_as_of": datetime(2026, 1, 2, tzinfo=UTC)}
    spelled = {"asOf": "2026-01-01T00:00:00Z", "knownAsOf": "2026-01-02T00:00:00Z"}
    found = body(lambda bank: bank.retrieve_memories(scope=SCOPE, query="tea", **at))
    assert found == {"scope": SCOPE, "similaritySearchParams": {"searchQuery": "tea"}, **spelled}
    page = body(lambda bank: list(bank.retrieve_all_memories(scope=SCOPE, page_size=9, order_by="event_time", **at)))
    assert page == {"scope": SCOPE, "simpleRetrievalParams": {"pageSize": 9, "orderBy": "event_time"}, **spelled}
    assert body(lambda bank: bank.retrieve_profiles(scope=SCOPE, **at)) == {"scope": SCOPE, **spelled}


def test_masks_name_what_is_emptied() -> None:
    """A mask stands in the query, and what it names alone is not in the body."""
    request = sent(lambda bank: bank.update_memory(memory="m", fact="x", update_mask=["fact", "description"]))
    assert parse_qs(request.url.query.decode()) == {"updateMask": ["fact,description"]}
    assert json.loads(request.content) == {"fact": "x"}


def test_bank_is_configured_by_types_or_by_a_map() -> None:
    """A configuration of ours is spelled as the API has it; a map of the caller's is sent as it is."""
    config = MemoryBankConfig(ttl_config=TtlConfig(default_ttl=timedelta(days=1)), disable_memory_revisions=True)
    assert body(lambda bank: bank.update(config=config, display_name="d")) == {
        "displayName": "d",
        "contextSpec": {"memoryBankConfig": {"ttlConfig": {"defaultTtl": "86400s"}, "disableMemoryRevisions": True}},
    }
    said = body(lambda bank: bank.update(config={"ttl_config": {}}))
    assert said == {"contextSpec": {"memoryBankConfig": {"ttl_config": {}}}}


def test_chat_is_stored_as_the_caller_has_it() -> None:
    """Messages are the caller's own JSON, nulls and spellings included."""
    messages = [{"role_x": "user", "parts": [None, {"a_b": None}]}]
    request = sent(
        lambda bank: bank.store_chat_history(
            conversation_id="c", messages=messages, format="koog", if_match='"7"', ttl_seconds=90
        )
    )
    assert json.loads(request.content) == {"messages": messages, "format": "koog", "ttl": "90s"}
    assert request.headers["if-match"] == '"7"'
    assert request.method == "PUT"


def test_half_a_surrogate_is_left_to_the_service() -> None:
    """Text that UTF-8 cannot write still goes, escaped, so that the refusal names its field."""
    request = sent(lambda bank: bank.create_memory(scope=SCOPE, fact="\ud800 ü"))
    assert json.loads(request.content)["fact"] == "\ud800 ü"


def test_number_that_json_cannot_say_is_refused() -> None:
    """A NaN never leaves: no server could read the body."""
    seam = script(reply(operation()))
    with pytest.raises(ValueError):
        seam.client().bank().create_memory(scope=SCOPE, fact="x", metadata={"n": float("nan")})
    assert seam.asked == []


def test_time_without_a_zone_is_refused() -> None:
    """A time that would mean another instant elsewhere is told where it is given."""
    naive = datetime(2026, 1, 1)
    with pytest.raises(ValueError):
        Event.from_text("Hi.", event_time=naive)
    with pytest.raises(ValueError, match="zone"):
        sent(lambda bank: bank.create_memory(scope=SCOPE, fact="x", expire_time=naive))


def test_base_url_keeps_its_path() -> None:
    """A stage's path stands before the API's, with or without a slash at its end."""
    for url in ("https://h/stage", "https://h/stage/"):
        seam = script(refused(404, "NOT_FOUND"))
        client = Streambank(url, transport=httpx.MockTransport(seam))
        with pytest.raises(NotFound):
            client.bank().get()
        assert str(seam.asked[0].url) == "https://h/stage/v1beta1/reasoningEngines/default"
