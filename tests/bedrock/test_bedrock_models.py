"""The adapters against a scripted Converse server, over real HTTP: calls, failures, the choice of a model, vectors."""

from dataclasses import replace

import boto3
import pytest

from streambank import errors
from streambank.llm.bedrock.converse import Converse
from streambank.llm.bedrock.embedder import BedrockEmbedder
from streambank.llm.dialogue.extractor import ModelExtractor
from streambank.llm.dialogue.retries import model_retry_policy
from streambank.llm.ports import ExtractionRequest, Usage
from streambank.rules import vectors
from streambank.settings import ModelSettings
from tests.bedrock.converse_server import error, text, tool
from tests.bedrock.requests import GOOD, MODELS, REQUEST


def test_a_good_answer_takes_one_call(server, extractor):
    """The facts come with their events and topics, and the tokens that the service counted."""
    server.script = [tool("record_facts", GOOD)]
    found = extractor.extract(REQUEST)
    assert [(one.fact, one.events, one.topic) for one in found.facts] == [("I keep bees", (1,), "USER_PERSONAL_INFO")]
    assert (found.usage.calls, found.usage.input_tokens, found.usage.output_tokens) == (1, 100, 10)
    assert len(server.asked) == 1


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
    "needs a profile": (
        [error(400, "ValidationException", "Invocation of model ID x with on-demand throughput isn\u2019t supported.")],
        errors.ModelNotConfigured,
        1,
    ),
    "no such id": (
        [error(400, "ValidationException", "The provided model identifier is invalid.")],
        errors.ModelNotConfigured,
        1,
    ),
    "no form": (
        [error(404, "ResourceNotFoundException", "Model use case details have not been submitted for this account.")],
        errors.ModelNotConfigured,
        1,
    ),
    "no subscription": (
        [error(403, "AccessDeniedException", "not authorized to perform the required AWS Marketplace actions")],
        errors.ModelNotConfigured,
        1,
    ),
    "no tool": (
        [error(424, "ModelErrorException", "an invalid sequence as part of ToolUse")] * 2,
        errors.ModelOutputInvalid,
        2,
    ),
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


def test_a_failure_has_the_providers_code_and_no_message(server, extractor, caplog):
    """The error and one log line have the provider's code; what it says may quote the request, and is nowhere."""
    server.script = [error(400, "ValidationException", "on-demand throughput, secret text")]
    with pytest.raises(errors.ModelNotConfigured) as failure:
        extractor.extract(REQUEST)
    assert failure.value.provider_error == "ValidationException"
    [line] = [record for record in caplog.records if record.message == "model failed"]
    assert (line.outcome, line.provider_error) == ("MODEL_NOT_CONFIGURED", "ValidationException")
    assert "secret" not in str(vars(line))


def test_nova_decodes_greedily_first_and_otherwise_after_it_failed(server, extractor):
    """A reply that is no call of a tool is not asked for again in the same way."""
    server.script = [error(424, "ModelErrorException"), tool("record_facts", GOOD)]
    assert extractor.extract(REQUEST).facts
    first, second = server.asked
    assert first["additionalModelRequestFields"] == {"inferenceConfig": {"topK": 1}}
    assert "additionalModelRequestFields" not in second
    assert (first["inferenceConfig"]["temperature"], second["inferenceConfig"]["temperature"]) == (0.0, 0.4)


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
        ModelExtractor(Converse(nowhere, MODELS, model_retry_policy(pauses.append, lambda: 0.0))).extract(REQUEST)
    assert len(pauses) == 3


def test_a_deployment_without_a_model_says_so(client, pauses):
    """No model is named: nothing is sent."""
    nameless = Converse(client, ModelSettings("", ""), model_retry_policy(pauses.append, lambda: 0.0))
    with pytest.raises(errors.ModelNotConfigured):
        ModelExtractor(nameless).extract(REQUEST)


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
    policy = model_retry_policy(pauses.append, lambda: 0.5)
    for name in ("eu.anthropic.claude-haiku", "eu.anthropic.claude-opus"):
        ModelExtractor(Converse(client, strict, policy)).extract(ExtractionRequest(REQUEST.turns, model=name))
    assert [one["modelId"] for one in server.asked] == ["eu.anthropic.claude-haiku", MODELS.model]
    BedrockEmbedder(client, strict, policy).embed(["a"], model="cohere.embed-v4:0")
    assert "inputText" in server.embedded[0]


# ---- vectors


def test_titan_takes_one_text_a_call(server, client):
    """Each text is sent alone, with the length that vectors shall have; their order is kept."""
    embedder = BedrockEmbedder(client, MODELS, model_retry_policy(lambda _: None, lambda: 0.0))
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
    embedder = BedrockEmbedder(client, MODELS, model_retry_policy(lambda _: None, lambda: 0.0))
    texts = [f"text {number}" for number in range(100)]
    assert len(embedder.embed(texts, model=model, for_query=kind == "search_query")) == 100
    assert [len(body["texts"]) for body in server.embedded] == [96, 4]
    assert {body["input_type"] for body in server.embedded} == {kind}


def test_an_unknown_embedding_model_is_no_model(client):
    """Its requests would be guesses."""
    embedder = BedrockEmbedder(client, MODELS, model_retry_policy(lambda _: None, lambda: 0.0))
    with pytest.raises(errors.ModelNotConfigured):
        embedder.embed(["a"], model="acme.embed-v9")
