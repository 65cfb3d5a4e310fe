"""What a collector is sent of requests and generations."""

import boto3
import pytest
from botocore.config import Config

from streambank import telemetry, tracing
from streambank.api.app import ROUTER
from streambank.llm.bedrock.converse import Converse
from streambank.llm.dialogue.extractor import ModelExtractor
from streambank.llm.dialogue.retries import model_retry_policy
from streambank.settings import TraceSettings
from tests.bedrock.converse_server import Bedrock, error, running, tool
from tests.bedrock.requests import GOOD, MODELS, REQUEST
from tests.tracing.collecting import receiving
from tests.tracing.deploying import deployed

MEMORY_OPERATIONS = {
    "create_memory_store",
    "delete_memory_store",
    "create_memory",
    "update_memory",
    "upsert_memory",
    "search_memory",
    "delete_memory",
}
SCOPE = {"user_id": "123"}
MARK = "Xylophonist"
TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@pytest.fixture
def collector():
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def functions(monkeypatch, collector):
    # Longer than by default: a busy machine is no failing collector.
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_EXPORTER_OTLP_TIMEOUT": "10"}
    with deployed(monkeypatch.setenv, **variables) as functions:
        yield functions


def made(functions, fact="I drink tea", scope=None):
    status, document = functions.call("POST", "/default/memories", {"fact": fact, "scope": scope or SCOPE})
    assert status == 200, document
    return document["response"]["name"].rsplit("/", 1)[-1]


# ---- which


def test_every_traced_route_is_a_route():
    """A route that is traced names one of the conventions' seven operations, or ingest."""
    assert {route.span for route in ROUTER.routes if route.span} == MEMORY_OPERATIONS | {tracing.INGEST}


def test_whatever_changes_memories_is_traced():
    """No route under a bank's memories that does more than look is left out, nor any that erases."""
    changing = {route.name for route in ROUTER.routes if "/memories" in route.path and route.method != "GET"}
    assert changing | {"eraseBank", "eraseScope"} <= {route.name for route in ROUTER.routes if route.span}


# ---- requests


def test_a_retrieval_is_one_span(functions, collector):
    """Its operation, its bank and how many memories were found; one request to the collector, at OTLP's own path."""
    made(functions)
    collector.raw.clear()
    status, found = functions.retrieve()
    assert (status, len(found["retrievedMemories"])) == (200, 1)
    [[span]] = collector.batches
    assert (span.name, span.kind, span.is_error, span.parent, span.events) == (
        "search_memory",
        "INTERNAL",
        False,
        "",
        0,
    )
    assert span.attributes == {
        "gen_ai.operation.name": "search_memory",
        "gen_ai.memory.store.id": "default",
        "gen_ai.memory.record.count": 1,
    }
    assert span.service == "streambank"
    assert set(collector.paths) == {"/v1/traces"}


@pytest.mark.parametrize("more", [{}, {"simpleRetrievalParams": {"pageSize": 1}}])
def test_every_kind_of_retrieval_counts_what_it_returns(functions, collector, more):
    """Without a question it is all of the scope, with a page what is on it."""
    made(functions), made(functions, "I drink milk")
    _, found = functions.call("POST", "/default/memories:retrieve", {"scope": SCOPE, **more})
    count = collector.named("search_memory").attributes["gen_ai.memory.record.count"]
    assert count == len(found["retrievedMemories"]) == (1 if more else 2)


def test_profiles_are_counted(functions, collector):
    """Memories that are no profiles are not."""
    made(functions)
    assert functions.call("POST", "/default/memories:retrieveProfiles", {"scope": SCOPE}) == (200, {})
    assert collector.named("search_memory").attributes["gen_ai.memory.record.count"] == 0


def test_a_memory_is_named_by_its_id(functions, collector):
    """The one that is made, and the one that is changed, rolled back or deleted."""
    memory = made(functions)
    functions.call("PATCH", f"/default/memories/{memory}", {"fact": "I drink milk"}, query={"updateMask": "fact"})
    functions.call("POST", f"/default/memories/{memory}:rollback", {"targetRevisionId": "1"})
    assert functions.call("DELETE", f"/default/memories/{memory}")[0] == 200
    told = [(one.name, one.attributes.get("gen_ai.memory.record.id"), one.is_error) for one in collector.spans]
    names = ("create_memory", "update_memory", "update_memory", "delete_memory")
    assert told == [(name, memory, False) for name in names]


def test_a_purge_counts_what_it_deleted(functions, collector):
    """One that only counts deleted nothing, and says nothing."""
    made(functions)
    for force in (False, True):
        functions.call("POST", "/default/memories:purge", {"filter": 'fact="I drink tea"', "force": force})
    counts = [
        one.attributes.get("gen_ai.memory.record.count") for one in collector.spans if one.name == "delete_memory"
    ]
    assert counts == [None, 1]


def test_a_bank_is_named_when_it_is_made_and_when_it_goes(functions, collector):
    """Its id is known to both."""
    bank = functions.call("POST", "", {"displayName": "a bank"})[1]["response"]["name"].rsplit("/", 1)[-1]
    functions.call("DELETE", f"/{bank}", query={"force": "true"})
    told = [(one.name, one.attributes["gen_ai.memory.store.id"]) for one in collector.spans]
    assert told == [("create_memory_store", bank), ("delete_memory_store", bank)]


def test_looking_at_a_memory_sends_nothing(functions, collector):
    """The conventions have no word for it."""
    memory = made(functions)
    collector.raw.clear()
    assert functions.call("GET", f"/default/memories/{memory}")[0] == 200
    assert collector.raw == []


def test_a_failure_is_told_by_its_class(functions, collector):
    """The error's name and a status without a word."""
    assert functions.call("DELETE", "/default/memories/none")[0] == 404
    span = collector.named("delete_memory")
    assert (span.is_error, span.message, span.events) == (True, "", 0)
    assert span.attributes == {
        "gen_ai.operation.name": "delete_memory",
        "gen_ai.memory.store.id": "default",
        "gen_ai.memory.record.id": "none",
        "error.type": "NotFound",
    }


def test_who_is_not_known_sends_nothing(monkeypatch, functions, collector):
    """Strangers cause no traffic to the collector."""
    monkeypatch.setenv("AUTH_MODE", "keys")
    for function, path in (("api", "/default/memories:retrieve"), ("ingest", "/default/memories:ingestEvents")):
        assert functions.call("POST", path, {}, function=function)[0] == 401
    assert collector.raw == []


# ---- whose trace it is


def test_a_caller_is_the_parent(functions, collector):
    """A W3C traceparent is continued, by the function of ingest too."""
    header = f"00-{TRACE}-{CALLER}-01"
    assert functions.retrieve(traceparent=header)[0] == 200
    body = {"scope": SCOPE, "directContentsSource": {"events": [{"content": {"parts": [{"text": "hi"}]}}]}}
    functions.call("POST", "/default/memories:ingestEvents", body, function="ingest", traceparent=header)
    functions.call("POST", "/default:ingestEvents", body, traceparent=header)
    assert [one.name for one in collector.spans] == ["search_memory", "ingest_events", "ingest_events"]
    assert {(one.trace, one.parent) for one in collector.spans} == {(TRACE, CALLER)}


@pytest.mark.parametrize("header", ["", "nonsense", f"00-{'0' * 32}-{CALLER}-01", "\ud800", "00-" + "f" * 9_000])
def test_a_header_that_is_none_is_no_parent(functions, collector, header):
    """The request is answered, and its trace is its own."""
    assert functions.retrieve(traceparent=header)[0] == 200
    assert collector.named("search_memory").parent == ""


def test_a_caller_who_does_not_sample_is_heeded(functions, collector):
    """A trace that its caller leaves out gets no spans from here."""
    assert functions.retrieve(traceparent=f"00-{TRACE}-{CALLER}-00")[0] == 200
    assert collector.raw == []


# ---- generations


def test_a_generation_is_joined_to_its_ingest(functions, collector):
    """Four spans name one operation: what came, what was made of it and how it ended."""
    operation = functions.generate("I drink tea", SCOPE)
    common = {"gen_ai.memory.store.id": "default", "streambank.operation": operation}
    expected = {
        "ingest_events": {"streambank.events.accepted": 1, "streambank.events.duplicates": 0},
        "extract": {"streambank.attempt": 0, "streambank.outcome": "extracted"},
        "consolidate": {"streambank.attempt": 0, "streambank.outcome": "planned"},
        "upsert_memory": {
            "gen_ai.operation.name": "upsert_memory",
            "streambank.attempt": 0,
            "streambank.outcome": "committed",
        },
    }
    assert {one.name: one.attributes for one in collector.spans} == {
        name: common | own for name, own in expected.items()
    }
    assert {one.kind for one in collector.spans} == {"INTERNAL"}


def test_a_direct_generation_names_its_operation(functions, collector):
    """GenerateMemories by call is joined to its stages likewise."""
    events = [{"content": {"role": "user", "parts": [{"text": "I drink tea"}]}}]
    body = {"directContentsSource": {"events": events}, "scope": SCOPE}
    name = functions.call("POST", "/default/memories:generate", body)[1]["name"].rsplit("/", 1)[-1]
    span = collector.named("upsert_memory")
    assert span.attributes["streambank.operation"] == name.removesuffix("-g")


def test_a_stage_that_crashes_is_told_by_its_class(monkeypatch, functions, collector):
    """The state machine books the same name."""
    monkeypatch.setenv("TABLE_NAME", "gone")
    with pytest.raises(telemetry.Crash) as crash:
        functions.invoke("commit", {"bank": "default", "sid": "s", "win": 1, "att": 0})
    span = collector.named("upsert_memory")
    assert span.attributes["error.type"] == type(crash.value).__name__
    assert span.is_error


# ---- models


@pytest.fixture
def bedrock(collector):
    tracing.configure(TraceSettings(f"{collector.url}/v1/traces", "10"))
    with running(Bedrock()) as server:
        client = boto3.client(
            "bedrock-runtime",
            endpoint_url=server.url,
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
            config=Config(retries={"total_max_attempts": 1}),
        )
        server.extractor = ModelExtractor(Converse(client, MODELS, model_retry_policy(lambda _: None, lambda: 0.5)))
        yield server
    tracing.configure(None)


def test_a_model_call_is_a_span_below_its_stage(bedrock, collector):
    """Model, provider and tokens; a repeat after a throttle is the same call, a second question another."""
    bedrock.script = [error(429, "ThrottlingException"), tool("record_facts", {}), tool("record_facts", GOOD)]
    with tracing.span("extract", {}):
        bedrock.extractor.extract(REQUEST)
    [[first, second, stage]] = collector.batches
    for call in (first, second):
        assert (call.name, call.kind, call.parent) == (f"chat {MODELS.model}", "CLIENT", stage.id)
        assert call.attributes == {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "aws.bedrock",
            "gen_ai.request.model": MODELS.model,
            "gen_ai.usage.input_tokens": 100,
            "gen_ai.usage.output_tokens": 10,
        }
    assert stage.attributes == {}


def test_a_model_that_refuses_is_an_error(bedrock, collector):
    """Told by our error's class, with no word of the model's."""
    bedrock.script = [error(400, "ValidationException", MARK)]
    with pytest.raises(Exception, match="rejected the request"):
        bedrock.extractor.extract(REQUEST)
    span = collector.named(f"chat {MODELS.model}")
    assert (span.is_error, span.attributes["error.type"], span.message) == (True, "ModelRejected", "")
    assert MARK.encode() not in b"".join(collector.raw)
    assert b"bees" not in b"".join(collector.raw)


# ---- what is never sent


def test_nothing_that_is_said_is_sent(functions, collector):
    """A word in an event, a fact, a question, a scope, a filter, a path or an error is in no byte that leaves."""
    scope = {"user_id": MARK}
    functions.generate(f"I am a {MARK}", scope)
    body = {"scope": scope, "similaritySearchParams": {"searchQuery": f"is she a {MARK}?"}}
    _, found = functions.call("POST", "/default/memories:retrieve", body)
    assert MARK in found["retrievedMemories"][0]["memory"]["fact"]
    memory = made(functions, f"the {MARK}", scope)
    functions.call("PATCH", f"/default/memories/{memory}", {"fact": f"a {MARK}"}, query={"updateMask": "fact"})
    refusals = [
        functions.call("POST", "/default/memories:retrieve", {"scope": scope, "filter": f"{MARK} ="}),
        functions.call("POST", "/default/memories:retrieve", {"scope": scope, MARK: 1}),
        functions.call("PATCH", f"/default/memories/a {MARK} b", {"fact": MARK}, query={"updateMask": MARK}),
        functions.call("DELETE", f"/default/memories/a.{MARK}"),
    ]
    assert [status for status, _ in refusals] == [400, 400, 400, 404]
    functions.call("POST", "/default/memories:purge", {"filter": f'scope.user_id="{MARK}"', "force": True})
    functions.call("POST", "/default:eraseScope", {"scope": scope})
    sent = b"".join(collector.raw)
    assert len(collector.spans) >= 12
    assert MARK.encode() not in sent
    assert b"user_id" not in sent
