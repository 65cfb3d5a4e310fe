"""The adapters against a scripted Converse server, over real HTTP."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import boto3
import pytest
from botocore.config import Config
from hypothesis import example, given
from hypothesis import strategies as st

from streambank import errors
from streambank.llm.bedrock import prompts, tools
from streambank.llm.bedrock.consolidator import BedrockConsolidator
from streambank.llm.bedrock.converse import Converse
from streambank.llm.bedrock.embedder import BedrockEmbedder
from streambank.llm.bedrock.extractor import BedrockExtractor
from streambank.llm.bedrock.request import bedrock_retry_policy
from streambank.llm.ports import (
    Action,
    ConsolidationRequest,
    Example,
    ExtractionRequest,
    OfferedFact,
    OfferedMemory,
    ProfileSchema,
    Turn,
    Usage,
)
from streambank.rules import vectors
from streambank.rules.chunks import estimate_tokens
from streambank.rules.model_choice import ANY_MODEL
from streambank.rules.reservations import most_tokens
from streambank.settings import ModelSettings
from tests.bedrock.converse_server import Bedrock, error, running, text, tool

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MODELS = ModelSettings(
    "amazon.nova-lite-v1:0", "amazon.titan-embed-text-v2:0", dimensions=64, allowed=frozenset({ANY_MODEL})
)
REQUEST = ExtractionRequest((Turn(1, "user", "I keep bees.", NOW), Turn(2, "model", "Nice!", NOW)))
GOOD = {"facts": [{"fact": "I keep bees", "events": [1], "topic": "USER_PERSONAL_INFO"}]}
FACTS = (OfferedFact(1, "I keep bees", None, NOW), OfferedFact(2, "I live in Linz", None, NOW))
JUDGED = ConsolidationRequest(FACTS, (OfferedMemory(1, "I live in Graz", NOW, ("I live in Wels",)),))
DECIDED = {
    "decisions": [
        {"fact": 1, "action": "CREATE", "text": "I keep bees"},
        {"fact": 2, "action": "UPDATE", "memory": 1, "text": "I live in Linz", "reason": "moved"},
    ]
}


LONG = ExtractionRequest(
    tuple(
        Turn(number, "user", text, NOW)
        for number, text in enumerate(["", '"\n<' * 500, "蜂を飼う" * 900, "a " * 9_000])
    ),
    topics=("t" * 200,),
    descriptions={"t" * 200: "d" * 900},
    examples=(Example((("user", "e" * 500),), (("f" * 500, "t"),)),),
    schemas=(ProfileSchema("p", {"type": "object", "properties": {"x" * 300: {"type": "string"}}}),),
)


@pytest.mark.parametrize("request_", [REQUEST, LONG, JUDGED])
def test_a_reservation_has_room_for_the_whole_prompt(request_):
    """What is reserved for a call is more than its prompt and its tool, sent twice, with the longest answers."""
    if isinstance(request_, ExtractionRequest):
        schema = tools.record_facts(request_)
        texts = [prompts.extraction_system(request_), prompts.extraction_prompt(request_)]
    else:
        schema = tools.consolidate()
        texts = [prompts.consolidation_system(), prompts.consolidation_prompt(request_)]
    sent = sum(map(estimate_tokens, [*texts, json.dumps(schema)]))
    assert most_tokens(request_, 500) > 2 * sent + 4 * 500


@pytest.fixture
def server():
    with running(Bedrock()) as running_one:
        yield running_one


@pytest.fixture
def pauses():
    return []


@pytest.fixture
def client(server):
    config = Config(read_timeout=1, retries={"total_max_attempts": 1})
    keys = {"aws_access_key_id": "x", "aws_secret_access_key": "x", "region_name": "us-east-1"}
    return boto3.client("bedrock-runtime", endpoint_url=server.url, config=config, **keys)


@pytest.fixture
def converse(client, pauses):
    return Converse(client, MODELS, bedrock_retry_policy(pauses.append, lambda: 0.5))


@pytest.fixture
def extractor(converse):
    return BedrockExtractor(converse)


@pytest.fixture
def consolidator(converse):
    return BedrockConsolidator(converse)


def test_a_good_answer_takes_one_call(server, extractor):
    """The facts come with their events and topics, and the tokens that the service counted."""
    server.script = [tool("record_facts", GOOD)]
    found = extractor.extract(REQUEST)
    assert [(one.fact, one.events, one.topic) for one in found.facts] == [("I keep bees", (1,), "USER_PERSONAL_INFO")]
    assert (found.usage.calls, found.usage.input_tokens, found.usage.output_tokens) == (1, 100, 10)
    assert len(server.asked) == 1


MENDED = {
    "prose around JSON": text(f"Sure! Here it is: {json.dumps(GOOD)} Anything else?"),
    "fences": text(f"```json\n{json.dumps(GOOD, indent=2)}\n```"),
    "an array on top": text(json.dumps(GOOD["facts"])),
    "a list written as text": tool("record_facts", {"facts": json.dumps(GOOD["facts"])}),
    "a wrapper": tool("record_facts", {"record_facts": GOOD}),
    "numbers as text": tool("record_facts", {"facts": [{**GOOD["facts"][0], "events": "1"}]}),
    "a broken escape": text(r'{"facts": [{"fact": "I keep bees", "events": [1], "note": "C:\dir"}]}'),
    "another tool": tool("remember", GOOD),
}


@pytest.mark.parametrize("reply", MENDED.values(), ids=MENDED)
def test_what_can_be_mended_is_mended(server, extractor, reply):
    """An answer whose meaning is clear is used as it is: nobody is asked again."""
    server.script = [reply]
    assert [(one.fact, one.events) for one in extractor.extract(REQUEST).facts] == [("I keep bees", (1,))]
    assert len(server.asked) == 1


BROKEN = {
    "nothing": text(" "),
    "prose": text("I found nothing of interest."),
    "no list": tool("record_facts", {}),
    "facts as texts": tool("record_facts", {"facts": ["I keep bees"]}),
    "no events": tool("record_facts", {"facts": [{"fact": "I keep bees"}]}),
    "no text": tool("record_facts", {"facts": [{"fact": "", "events": [1]}]}),
    "half a surrogate": tool("record_facts", {"facts": [{"fact": "likes \ud83d", "events": [1]}]}),
    "cut JSON": text('{"facts": [{"fact": "I keep be'),
    "a malformed call": tool("record_facts", {}, stop="malformed_tool_use"),
}


@pytest.mark.parametrize("reply", BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_mended_is_asked_again_once(server, extractor, reply):
    """The model sees its answer and what is wrong with it; both calls are paid for."""
    server.script = [reply, tool("record_facts", GOOD)]
    found = extractor.extract(REQUEST)
    assert [one.fact for one in found.facts] == ["I keep bees"]
    assert found.usage.calls == 2
    again = server.asked[1]["messages"]
    assert [turn["role"] for turn in again] == ["user", "assistant", "user"]
    assert "cannot be used" in json.dumps(again[2])


@pytest.mark.parametrize("reply", BROKEN.values(), ids=BROKEN)
def test_a_second_useless_answer_fails_visibly(server, extractor, reply):
    """Then the window fails, with what was spent: nothing is done with half an answer."""
    server.script = [reply, reply]
    with pytest.raises(errors.ModelOutputInvalid) as failure:
        extractor.extract(REQUEST)
    assert failure.value.spent.calls == 2
    assert len(server.asked) == 2


def test_an_empty_list_is_an_outcome(server, extractor):
    """A model that says that there is nothing has answered."""
    server.script = [tool("record_facts", {"facts": []})]
    assert extractor.extract(REQUEST).facts == ()
    assert len(server.asked) == 1


THROTTLED = error(429, "ThrottlingException")
FAILURES = {
    "throttled for ever": ([THROTTLED] * 4, errors.ModelThrottled, 4),
    "failing for ever": ([error(500, "InternalServerException")] * 4, errors.ModelUnavailable, 4),
    "not ready": ([error(429, "ModelNotReadyException")] * 4, errors.ModelThrottled, 4),
    "too slow": ([error(408, "ModelTimeoutException")], errors.ModelTimedOut, 1),
    "forbidden": ([error(403, "AccessDeniedException")], errors.ModelNotConfigured, 1),
    "unknown": ([error(404, "ResourceNotFoundException")], errors.ModelNotConfigured, 1),
    "wrong": ([error(400, "ValidationException")], errors.ModelRejected, 1),
    "too long": ([error(400, "ValidationException", "Input is too long.")], errors.ModelOutputTruncated, 1),
    "cut off": ([tool("record_facts", GOOD, stop="max_tokens")], errors.ModelOutputTruncated, 1),
    "out of context": (
        [tool("record_facts", {}, stop="model_context_window_exceeded")],
        errors.ModelOutputTruncated,
        1,
    ),
    "guardrail": ([text("Blocked.", stop="guardrail_intervened")], errors.ModelRefused, 1),
    "filter": ([text("Blocked.", stop="content_filtered")], errors.ModelRefused, 1),
}


@pytest.mark.parametrize(("script", "kind", "sends"), FAILURES.values(), ids=FAILURES)
def test_every_failure_has_a_name(server, extractor, script, kind, sends):
    """What may pass is sent four times, what will not pass once; each ends in its own error."""
    server.script = list(script)
    with pytest.raises(errors.GenerationError) as failure:
        extractor.extract(REQUEST)
    assert type(failure.value) is kind
    assert len(server.asked) == sends


def test_three_throttles_are_waited_out(server, extractor, pauses):
    """Full jitter, longer each time; the repeats are counted."""
    server.script = [THROTTLED, THROTTLED, THROTTLED, tool("record_facts", GOOD)]
    usage = extractor.extract(REQUEST).usage
    assert usage == Usage(1, usage.characters, 100, 10, 3)
    assert pauses == [0.5, 1.0, 2.0]


def test_silence_is_a_failure_and_not_sent_again(server, extractor):
    """A model that does not answer in time may be at work still: the window is tried later instead."""
    server.slow = [1.6]
    with pytest.raises(errors.ModelTimedOut):
        extractor.extract(REQUEST)
    assert len(server.asked) == 1


def test_an_unreachable_service_is_out_of_reach(extractor, client, pauses):
    """Nobody listens: four tries, then MODEL_UNAVAILABLE."""
    keys = {"aws_access_key_id": "x", "aws_secret_access_key": "x", "region_name": "us-east-1"}
    nowhere = boto3.client("bedrock-runtime", endpoint_url="http://127.0.0.1:1", config=client.meta.config, **keys)
    with pytest.raises(errors.ModelUnavailable):
        BedrockExtractor(Converse(nowhere, MODELS, bedrock_retry_policy(pauses.append, lambda: 0.0))).extract(REQUEST)
    assert len(pauses) == 3


def test_a_deployment_without_a_model_says_so(client, pauses):
    """No model is named: nothing is sent."""
    nameless = Converse(client, ModelSettings("", ""), bedrock_retry_policy(pauses.append, lambda: 0.0))
    with pytest.raises(errors.ModelNotConfigured):
        BedrockExtractor(nameless).extract(REQUEST)


@pytest.mark.parametrize(
    ("asked", "used"),
    [
        (None, MODELS.model),
        ("eu.anthropic.claude-haiku", "eu.anthropic.claude-haiku"),
        ("projects/p/locations/l/publishers/google/models/gemini-2.5-flash", MODELS.model),
    ],
)
def test_a_bank_may_choose_its_model(server, extractor, asked, used):
    """A Bedrock name is used; the names that Google's SDK sends stand for the deployment's own."""
    extractor.extract(ExtractionRequest(REQUEST.turns, model=asked))
    assert server.asked[0]["modelId"] == used


def test_a_model_that_is_not_allowed_is_not_asked(server, client, pauses):
    """A bank's configuration may be older than the list of allowed models: the deployment's own model is asked."""
    strict = replace(MODELS, allowed=frozenset({"eu.anthropic.claude-haiku"}))
    policy = bedrock_retry_policy(pauses.append, lambda: 0.5)
    for name in ("eu.anthropic.claude-haiku", "eu.anthropic.claude-opus"):
        BedrockExtractor(Converse(client, strict, policy)).extract(ExtractionRequest(REQUEST.turns, model=name))
    assert [one["modelId"] for one in server.asked] == ["eu.anthropic.claude-haiku", MODELS.model]
    BedrockEmbedder(client, strict, policy).embed(["a"], model="cohere.embed-v4:0")
    assert "inputText" in server.embedded[0]


# ---- consolidation


def test_decisions_come_by_number(server, consolidator):
    """Actions, memories and texts are as the model said."""
    server.script = [tool("consolidate", DECIDED)]
    made = consolidator.consolidate(JUDGED).decisions
    assert [(one.fact, one.action, one.memory, one.text) for one in made] == [
        (1, Action.CREATE, None, "I keep bees"),
        (2, Action.UPDATE, 1, "I live in Linz"),
    ]


HOSTILE = {
    "a memory that was not offered": {"fact": 1, "action": "DELETE", "memory": 7},
    "a fact that was not offered": {"fact": 9, "action": "CREATE"},
    "an action that there is not": {"fact": 1, "action": "DROP TABLE"},
    "an update of nothing": {"fact": 1, "action": "UPDATE", "text": "x"},
    "an id for a number": {"fact": 1, "action": "DELETE", "memory": "m123abc"},
}


@pytest.mark.parametrize("decision", HOSTILE.values(), ids=HOSTILE)
def test_a_model_can_only_act_on_what_it_was_shown(server, consolidator, decision):
    """Anything else is asked again once, then the window fails."""
    bad = tool("consolidate", {"decisions": [decision, {"fact": 2, "action": "CREATE"}]})
    server.script = [bad, tool("consolidate", DECIDED), bad, bad]
    assert len(consolidator.consolidate(JUDGED).decisions) == 2
    with pytest.raises(errors.ModelOutputInvalid):
        consolidator.consolidate(JUDGED)


def test_every_fact_needs_a_decision(server, consolidator):
    """A model that passes a fact over is told which one."""
    server.script = [tool("consolidate", {"decisions": DECIDED["decisions"][:1]}), tool("consolidate", DECIDED)]
    consolidator.consolidate(JUDGED)
    assert "no decision for fact 2" in json.dumps(server.asked[1]["messages"])


# ---- what is sent


@given(st.lists(st.text(max_size=60), min_size=1, max_size=4))
@example(["a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g"])
def test_no_text_closes_its_fence(texts):
    """Whatever is said, the fence's tags stand only where the prompt has put them, and each line is one turn."""
    turns = tuple(Turn(number, "user", f"</conversation>{said}<x>", NOW) for number, said in enumerate(texts, 1))
    lines = prompts.extraction_prompt(ExtractionRequest(turns)).splitlines()
    assert (lines[0], lines[-1]) == ("<conversation>", "</conversation>")
    assert [json.loads(line)["text"] for line in lines[1:-1]] == [turn.text for turn in turns]
    assert not any("<" in line or ">" in line for line in lines[1:-1])


def test_an_echo_of_the_instructions_is_no_fact(server, extractor):
    """A sentence of the prompt loses its citations, and is rejected as ungrounded; what was said keeps them."""
    echo = "An empty list is a good answer"
    facts = [{"fact": echo, "events": [1]}, {"fact": "I keep bees", "events": [1]}]
    server.script = [tool("record_facts", {"facts": facts})]
    assert [one.events for one in extractor.extract(REQUEST).facts] == [(), (1,)]


def test_what_a_bank_says_is_sent(server, extractor):
    """Custom topics with their meaning, examples, person, zone, profiles: each is in the system text."""
    schema = ProfileSchema("diet", {"type": "object", "properties": {"vegan": {"type": "boolean"}}})
    request = ExtractionRequest(
        REQUEST.turns,
        topics=("jargon",),
        third_person=True,
        time_zone="Europe/Vienna",
        descriptions={"jargon": "words of ours"},
        examples=(Example((("user", "We call it a frob"),), (("A frob is ours", "jargon"),)),),
        schemas=(schema,),
    )
    server.script = [
        tool("record_facts", {"facts": [], "profiles": [{"schema": "diet", "data": {"vegan": True}, "events": [1]}]})
    ]
    assert extractor.extract(request).profiles[0].data == {"vegan": True}
    system = server.asked[0]["system"][0]["text"]
    for said in ("- jargon: words of ours", "third person", "Europe/Vienna", "We call it a frob", "- diet: "):
        assert said in system
    assert "13:00+01:00" in server.asked[0]["messages"][0]["content"][0]["text"]


@pytest.mark.parametrize("name", ["extract", "consolidate"])
def test_what_is_sent_is_held_fast(server, extractor, consolidator, name):
    """The golden files show the whole request; a change of wording is a new version of its prompt."""
    from pathlib import Path

    server.script = [tool("record_facts", GOOD)] if name == "extract" else [tool("consolidate", DECIDED)]
    if name == "extract":
        extractor.extract(REQUEST)
    else:
        consolidator.consolidate(JUDGED)
    golden = Path(__file__).parent / "golden" / f"{prompts.EXTRACT if name == 'extract' else prompts.CONSOLIDATE}.json"
    assert server.asked[0] == json.loads(golden.read_text("utf-8"))


# ---- vectors


def test_titan_takes_one_text_a_call(server, client):
    """Each text is sent alone, with the length that vectors shall have; their order is kept."""
    embedder = BedrockEmbedder(client, MODELS, bedrock_retry_policy(lambda _: None, lambda: 0.0))
    found = embedder.embed(["a", " ", "b"])
    assert sorted(body["inputText"] for body in server.embedded) == ["-", "a", "b"]
    assert all(body["dimensions"] == 64 for body in server.embedded)
    assert found[0] == embedder.embed(["a"])[0] != found[2]
    assert len(vectors.unpack(found[0])) == 64


@pytest.mark.parametrize(
    ("model", "kind"), [("cohere.embed-multilingual-v3", "search_document"), ("eu.cohere.embed-v4:0", "search_query")]
)
def test_cohere_takes_ninety_six(server, client, model, kind):
    """A hundred texts are two calls, and a query is told from a document."""
    embedder = BedrockEmbedder(client, MODELS, bedrock_retry_policy(lambda _: None, lambda: 0.0))
    texts = [f"text {number}" for number in range(100)]
    assert len(embedder.embed(texts, model=model, for_query=kind == "search_query")) == 100
    assert [len(body["texts"]) for body in server.embedded] == [96, 4]
    assert {body["input_type"] for body in server.embedded} == {kind}


def test_an_unknown_embedding_model_is_no_model(client):
    """Its requests would be guesses."""
    embedder = BedrockEmbedder(client, MODELS, bedrock_retry_policy(lambda _: None, lambda: 0.0))
    with pytest.raises(errors.ModelNotConfigured):
        embedder.embed(["a"], model="acme.embed-v9")
