"""The described bodies are those that the readers take."""

from datetime import UTC, datetime
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from infra.openapi.document import document
from streambank.api.app import ROUTER
from streambank.errors import InvalidArgument
from streambank.wire import ingest
from streambank.wire.filter_groups import filter_groups
from streambank.wire.ingest_model import IngestEventsRequest
from tests.infra.openapi_values import drawn

NOW = datetime(2026, 1, 1, tzinfo=UTC)
COMPONENTS = document()["components"]["schemas"]
EVENT = {"content": {"parts": [{"text": "hello"}]}}
SCOPE = {"user_id": "123"}
MODELS = {route.body.__name__: route.body for route in ROUTER.routes if route.body}


def read(name: str, body: Any) -> None:
    """Read *body* as the route of the model *name* does."""
    if name == "IngestEventsRequest":
        ingest.ingest_call(body, bank="default", idempotency_key=None)
        return
    request: Any = MODELS[name].parse(body)
    match name:
        case "GenerateMemoriesRequest":
            request.check_source()
            request.window_settings()
        case "CreateMemoryRequest":
            request.edit(now=NOW)
        case "UpdateMemoryRequest":
            request.edit("fact,display_name" if "fact" in body else "ttl", now=NOW)
        case "RollbackMemoryRequest":
            request.number("default", "m")
        case "PurgeMemoriesRequest":
            request.check_not_empty()
            filter_groups(request.filter_groups)
        case "RetrieveRequest":
            filter_groups(request.filter_groups)
        case "CreateSessionRequest":
            request.fields()
        case "UpdateSessionRequest":
            request.fields(None)
        case "BankRequest":
            request.document()


@cache
def bodies(name: str) -> st.SearchStrategy[Any]:
    """Return any bodies that are described; to build the strategy takes longer than to draw from it."""
    return drawn(COMPONENTS[name], COMPONENTS)


@cache
def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": {"schemas": COMPONENTS}})


def is_described(name: str, body: Any) -> bool:
    return bool(validator(name).is_valid(body))


def without_impossible_overlap(body: Any) -> Any:
    """The one rule that a schema cannot say: an overlap is smaller than the count, and needs a condition."""
    if isinstance(body, dict):
        least = body.get("eventCount") or (101 if {"idleDuration", "fixedInterval"} & body.keys() else 0)
        return {
            key: without_impossible_overlap(value)
            for key, value in body.items()
            if key != "overlapEventCount" or value < least
        }
    return [without_impossible_overlap(one) for one in body] if isinstance(body, list) else body


@pytest.mark.parametrize("name", sorted(MODELS))
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_reader_takes_what_is_described(name: str, data: st.DataObject) -> None:
    """Whatever the description allows is taken."""
    body = without_impossible_overlap(data.draw(bodies(name)))
    if name == "UpdateMemoryRequest":
        body = {"fact": "Likes tea.", **body}
    assert is_described(name, body)
    try:
        read(name, body)
    except InvalidArgument as refusal:
        # What a JSON schema is, and that a user needs a scope, a schema does not say.
        if not ("schemaConfigs" in refusal.field or "beside" in refusal.problem):
            raise


def call(**more: Any) -> dict[str, Any]:
    return {"scope": SCOPE, **more}


def events(*found: Any) -> dict[str, Any]:
    return {"directContentsSource": {"events": list(found)}}


def rule(**found: Any) -> dict[str, Any]:
    return call(generationTriggerConfig={"generationRule": found})


def appended(**more: Any) -> dict[str, Any]:
    return {"author": "a", "invocationId": "i", "timestamp": "2026-01-31T23:59:59Z", **more}


TOO_MANY_KEYS = {str(number): "v" for number in range(65)}
BAD = [
    ("IngestEventsRequest", [], "an array"),
    ("IngestEventsRequest", {}, "no scope"),
    ("IngestEventsRequest", {"scope": {}}, "empty scope"),
    ("IngestEventsRequest", {"scope": dict.fromkeys("abcdef", "v")}, "six pairs"),
    ("IngestEventsRequest", {"scope": {"a": "*"}}, "star"),
    ("IngestEventsRequest", {"scope": {"a": 1}}, "number in a scope"),
    ("IngestEventsRequest", {"scope": {"": "v"}}, "empty key"),
    ("IngestEventsRequest", {"scope": {"a": "v" * 257}}, "long value"),
    ("IngestEventsRequest", call(streamId="s" * 513), "long stream id"),
    ("IngestEventsRequest", call(unknown=1), "unknown field"),
    ("IngestEventsRequest", call(forceFlush="true"), "flag as text"),
    ("IngestEventsRequest", call(directContentsSource={}), "source without events"),
    ("IngestEventsRequest", call(**events()), "no event"),
    ("IngestEventsRequest", call(**events(*[EVENT] * 1001)), "1,001 events"),
    ("IngestEventsRequest", call(**events({})), "no content"),
    ("IngestEventsRequest", call(**events({**EVENT, "id": "x"})), "unknown field of an event"),
    ("IngestEventsRequest", call(**events({"content": {"role": "system"}})), "role"),
    ("IngestEventsRequest", call(**events({"content": {"parts": {}}})), "parts"),
    ("IngestEventsRequest", call(**events({"content": {"parts": [{"text": 1}]}})), "text"),
    ("IngestEventsRequest", call(**events({**EVENT, "eventId": "e" * 513})), "long event id"),
    ("IngestEventsRequest", rule(eventCount=0), "count of 0"),
    ("IngestEventsRequest", rule(eventCount=10_001), "count of 10,001"),
    ("IngestEventsRequest", rule(idleDuration="60s", fixedInterval="60s"), "two time conditions"),
    ("IngestEventsRequest", rule(idleDuration="1m"), "minutes"),
    ("IngestEventsRequest", rule(eventCount=5, overlapEventCount=0), "overlap of 0"),
    ("IngestEventsRequest", call(revisionTtl="1s", revisionExpireTime="2026-01-31T23:59:59Z"), "two expiries"),
    ("IngestEventsRequest", call(metadata={"a": {}}), "no value"),
    ("IngestEventsRequest", call(metadata={"a": {"stringValue": "a", "boolValue": True}}), "two values"),
    ("IngestEventsRequest", call(metadata={"a": {"doubleValue": "1"}}), "number as text"),
    ("IngestEventsRequest", call(revisionLabels=TOO_MANY_KEYS), "65 labels"),
    ("IngestEventsRequest", call(metadataMergeStrategy="REPLACE"), "strategy"),
    ("GenerateMemoriesRequest", call(), "no source"),
    ("GenerateMemoriesRequest", events(EVENT), "no scope"),
    ("GenerateMemoriesRequest", call(**events(EVENT), vertexSessionSource={"session": "s"}), "two sources"),
    ("GenerateMemoriesRequest", call(directMemoriesSource={"directMemories": []}), "no memory"),
    ("GenerateMemoriesRequest", call(directMemoriesSource={"directMemories": [{"fact": "f"}] * 6}), "six memories"),
    ("GenerateMemoriesRequest", call(directMemoriesSource={"directMemories": [{"fact": "  "}]}), "blank fact"),
    ("GenerateMemoriesRequest", call(**events(EVENT), allowedTopics=[{}]), "no topic"),
    ("GenerateMemoriesRequest", call(**events(EVENT), allowedTopics=[{"managedMemoryTopic": "X"}]), "topic"),
    ("GenerateMemoriesRequest", {"vertexSessionSource": {}}, "no session"),
    ("CreateMemoryRequest", call(), "no fact"),
    ("CreateMemoryRequest", call(fact=""), "empty fact"),
    ("CreateMemoryRequest", call(fact="f" * 8_193), "long fact"),
    ("CreateMemoryRequest", call(fact="f", ttl="1s", expireTime="2026-01-31T23:59:59Z"), "two expiries"),
    ("CreateMemoryRequest", call(fact="f", timeZone="UTC"), "time zone"),
    ("CreateMemoryRequest", call(fact="f", displayName="n" * 1_025), "long name"),
    ("UpdateMemoryRequest", {"fact": 1}, "fact"),
    ("UpdateMemoryRequest", {"fact": "f", "createTime": "x"}, "time of creation"),
    ("RollbackMemoryRequest", {}, "no revision"),
    ("RollbackMemoryRequest", {"targetRevisionId": "-1"}, "negative"),
    ("RollbackMemoryRequest", {"targetRevisionId": "1" * 13}, "13 digits"),
    ("PurgeMemoriesRequest", {"force": True}, "nothing said"),
    ("PurgeMemoriesRequest", {"filter": " "}, "blank filter"),
    ("PurgeMemoriesRequest", {"filterGroups": []}, "no group"),
    ("PurgeMemoriesRequest", {"filterGroups": [{"filters": []}]}, "empty group"),
    ("PurgeMemoriesRequest", {"filterGroups": [{"filters": [{"key": "", "value": {"boolValue": True}}]}]}, "no key"),
    ("RetrieveRequest", {}, "no scope"),
    ("RetrieveRequest", call(memoryTypes=["ANY"]), "type"),
    ("RetrieveRequest", call(similaritySearchParams={}), "no query"),
    ("RetrieveRequest", call(simpleRetrievalParams={"pageSize": -1}), "negative size"),
    ("RetrieveProfilesRequest", {}, "no scope"),
    ("CreateSessionRequest", {}, "no user"),
    ("CreateSessionRequest", {"userId": ""}, "empty user"),
    ("CreateSessionRequest", {"userId": "u", "ttl": "1s", "expireTime": "2026-01-31T23:59:59Z"}, "two expiries"),
    ("CreateSessionRequest", {"userId": "u", "labels": TOO_MANY_KEYS}, "65 labels"),
    ("CreateSessionRequest", {"userId": "u", "sessionState": []}, "state"),
    ("UpdateSessionRequest", {"events": []}, "unknown field"),
    ("AppendEventRequest", {"author": "a"}, "no invocation, no time"),
    ("AppendEventRequest", appended(actions={"stateDelta": 1}), "state"),
    ("AppendEventRequest", appended(actions={"artifactDelta": {"a": -1}}), "version"),
    ("AppendEventRequest", appended(eventMetadata={"longRunningToolIds": [1]}), "ids"),
    ("AppendEventRequest", appended(content={"parts": [{"thought": "yes"}]}), "thought"),
    ("BankRequest", {"contextSpec": {"memoryBankConfig": {"generationConfig": {"generationTriggerConfig":
        {"generationRule": {"eventCount": 0}}}}}}, "count of 0"),
    ("StoreChatHistoryRequest", {}, "no messages"),
    ("StoreChatHistoryRequest", {"messages": ["hi"]}, "message as text"),
    ("StoreChatHistoryRequest", {"messages": [{}] * 10_001}, "10,001 messages"),
    ("StoreChatHistoryRequest", {"messages": [], "format": "f" * 65}, "long format"),
    ("StoreChatHistoryRequest", {"messages": [], "ttl": "1h"}, "hours"),
    ("AppendChatHistoryRequest", {}, "nothing to append"),
    ("AppendChatHistoryRequest", {"messages": []}, "no message to append"),
    ("AppendChatHistoryRequest", {"messages": [[]]}, "list to append"),
    ("AppendChatHistoryRequest", {"messages": [{}], "format": "f" * 65}, "long format to append"),
    ("BankRequest", {"contextSpec": {"config": {}}}, "unknown field"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "body"), [pytest.param(*row[:2], id=f"{row[0]}, {row[2]}") for row in BAD])
def test_reader_refuses_what_is_not_described(name: str, body: Any) -> None:
    """What breaks a rule of the description is refused."""
    assert not is_described(name, body)
    with pytest.raises(InvalidArgument):
        read(name, body)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_model_of_ingest_takes_what_its_reader_takes(data: st.DataObject) -> None:
    """The body that is read by hand has a model too: both take what is described."""
    body = without_impossible_overlap(data.draw(bodies("IngestEventsRequest")))
    IngestEventsRequest.parse(body)
    read("IngestEventsRequest", body)


@pytest.mark.parametrize("body", [pytest.param(body, id=reason) for name, body, reason in BAD if "Ingest" in name])
def test_the_model_of_ingest_refuses_what_its_reader_refuses(body: Any) -> None:
    """They refuse the same bodies, by the same field or by one inside it."""
    with pytest.raises(InvalidArgument) as by_model:
        IngestEventsRequest.parse(body)
    with pytest.raises(InvalidArgument) as by_hand:
        read("IngestEventsRequest", body)
    assert by_model.value.field.startswith(by_hand.value.field)
