"""The adapters against a scripted server, over real HTTP: calls, failures, the choice of a model, vectors."""

import json
import time
from dataclasses import replace

import pytest
import urllib3

from streambank import errors, tracing
from streambank.llm.dialogue.extractor import ModelExtractor
from streambank.llm.openai import server as server_module
from streambank.llm.openai.chat import ChatCompletions
from streambank.llm.ports import ExtractionRequest, Usage
from streambank.rules import vectors
from streambank.settings import Settings
from tests.bedrock.converse_server import tool
from tests.bedrock.requests import GOOD, REQUEST
from tests.openai.chat_server import Raw, completion, refusal
from tests.openai.conftest import KEY, MODELS

FACTS = tool("record_facts", GOOD)
THROTTLED = refusal("slow down", 429)


# ---- calls


def test_a_good_answer_takes_one_call(server, extractor):
    """One tool is offered and forced, the key is sent as a bearer token, and the server's tokens are counted."""
    server.script = [FACTS]
    extraction = extractor.extract(REQUEST)
    assert [(one.fact, one.events) for one in extraction.facts] == [("I keep bees", (1,))]
    assert extraction.usage == Usage(1, extraction.usage.characters, 100, 10)
    [body] = server.sent
    assert server.paths == ["/v1/chat/completions"]
    assert server.authorizations == [f"Bearer {KEY}"]
    assert [one["function"]["name"] for one in body["tools"]] == ["record_facts"]
    assert body["tool_choice"] == {"type": "function", "function": {"name": "record_facts"}}
    assert (body["model"], body["temperature"], body["max_tokens"]) == (MODELS.model, 0.0, MODELS.max_output_tokens)
    assert [one["role"] for one in body["messages"]] == ["system", "user"]


def test_no_key_is_legal(server, http, chat):
    """A server on the same machine asks for none, and none is sent."""
    ModelExtractor(replace(chat, server=replace(http, key=str))).extract(REQUEST)
    assert server.authorizations == [None]


def test_tokens_of_a_cache_are_among_those_of_the_prompt(server, extractor):
    """The server's count of the prompt has them already."""
    usage = {"prompt_tokens": 90, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 64}}
    server.script = [completion({"content": json.dumps(GOOD)}, usage=usage)]
    used = extractor.extract(REQUEST).usage
    assert (used.input_tokens, used.output_tokens, used.cache_read_tokens) == (90, 5, 64)


def test_tokens_that_nobody_counted_are_estimated_from_above(server, extractor):
    """A budget holds for a server that sends no usage."""
    server.script = [completion({"content": json.dumps(GOOD)}, usage=None)]
    used = extractor.extract(REQUEST).usage
    assert used.input_tokens == used.characters > 1_000
    assert used.output_tokens > 10


def test_a_call_is_a_span(server, extractor, monkeypatch):
    """A span names the model and the system that it was called by."""
    opened = []
    monkeypatch.setattr(tracing, "span", lambda name, attributes, **_: opened.append(attributes) or tracing.no_span())
    server.script = [FACTS]
    extractor.extract(REQUEST)
    [attributes] = opened
    assert attributes["gen_ai.provider.name"] == "openai"
    assert attributes["gen_ai.request.model"] == MODELS.model


# ---- failures

FAILURES = {
    "throttled for ever": ([THROTTLED] * 4, errors.ModelThrottled, 4),
    "out of credit": ([refusal("pay", 429, code="insufficient_quota")], errors.ModelThrottled, 1),
    "failing for ever": ([Raw(500, b"<html>oops</html>")] * 4, errors.ModelUnavailable, 4),
    "loading": ([refusal("Loading model", 503)] * 4, errors.ModelUnavailable, 4),
    "a gateway's page": ([Raw(502, b"<html>Bad Gateway</html>", {"content-type": "text/html"})] * 4, None, 4),
    "a failure inside of a 200": ([Raw(200, {"error": {"code": 502, "message": "x"}})] * 4, errors.ModelUnavailable, 4),
    "a gateway that gave up": ([Raw(504, b"")], errors.ModelTimedOut, 1),
    "no key": ([refusal("no", 401)], errors.ModelNotConfigured, 1),
    "forbidden": ([refusal("no", 403)], errors.ModelNotConfigured, 1),
    "no such model": ([refusal("The model `x` does not exist", 404)], errors.ModelNotConfigured, 1),
    "no such model, Ollama": ([refusal('model "tool" not found, try pulling it first', 404)], None, 1),
    "no such model, as 400": ([refusal("x is not a valid model ID")], errors.ModelNotConfigured, 1),
    "a redirect": ([Raw(302, b"", {"location": "/v1/elsewhere"})], errors.ModelNotConfigured, 1),
    "wrong": ([refusal("bad request")], errors.ModelRejected, 1),
    "wrong, as a list": ([Raw(400, [{"error": {"message": "bad"}}])], errors.ModelRejected, 1),
    "wrong, as a text": ([Raw(400, {"error": "bad"})], errors.ModelRejected, 1),
    "too long": ([refusal("maximum context length is 10", code="context_length_exceeded")], None, 1),
    "cut off": ([completion({"content": '{"facts": ['}, "length")], errors.ModelOutputTruncated, 1),
    "filter": ([completion({"content": None}, "content_filter")], errors.ModelRefused, 1),
    "filter before the model": ([refusal("no", 400, code="content_filter")], errors.ModelRefused, 1),
    "a refusal": ([completion({"content": None, "refusal": "I cannot."})], errors.ModelRefused, 1),
    "a page": ([Raw(200, b"<html>Log in</html>", {"content-type": "text/html"})] * 2, errors.ModelOutputInvalid, 2),
    "cut JSON": ([Raw(200, b'{"choices": [{"mess')] * 2, errors.ModelOutputInvalid, 2),
    "no choices": ([Raw(200, {"choices": []})] * 2, errors.ModelOutputInvalid, 2),
}
_UNNAMED = {
    "a gateway's page": errors.ModelUnavailable,
    "no such model, Ollama": errors.ModelNotConfigured,
    "too long": errors.ModelOutputTruncated,
}


@pytest.mark.parametrize("name", FAILURES)
def test_every_failure_has_a_name(server, extractor, name):
    """What may pass is sent four times, what will not pass once; each ends in its own error."""
    script, kind, sends = FAILURES[name]
    server.script = list(script)
    with pytest.raises(errors.GenerationError) as failure:
        extractor.extract(REQUEST)
    assert type(failure.value) is (kind or _UNNAMED[name])
    assert len(server.sent) == sends
    assert set(server.paths) == {"/v1/chat/completions"}


def test_a_failure_has_the_providers_code_and_no_message(server, extractor, caplog):
    """The error and one log line have status, code and request id; neither has the message or the key."""
    server.script = [refusal("secret text", 404, code="model_not_found")]
    server.script[0].headers["x-request-id"] = "req-1"
    with pytest.raises(errors.ModelNotConfigured) as failure:
        extractor.extract(REQUEST)
    assert failure.value.provider_error == "404 model_not_found req-1"
    [line] = [record for record in caplog.records if record.message == "model failed"]
    assert (line.outcome, line.provider_error) == ("MODEL_NOT_CONFIGURED", "404 model_not_found req-1")
    assert "secret" not in f"{vars(line)} {failure.value!r} {failure.value.__cause__!r}"


@pytest.mark.parametrize("key", ["sk-secret\nx: y", "sk-s\u00e9cret", "sk secret"])
def test_a_key_that_is_none_is_not_quoted(chat, http, key):
    """What http.client would quote in its error is refused before; a server's representation has no key."""
    with pytest.raises(errors.ModelNotConfigured) as failure:
        ModelExtractor(replace(chat, server=replace(http, key=lambda: key))).extract(REQUEST)
    assert "cret" not in f"{failure.value!r}"
    assert KEY not in repr(http)


def test_throttles_are_waited_out_as_the_server_says(server, extractor, pauses):
    """Retry-After replaces the policy's pause, unless it is longer than the policy allows; repeats are counted."""
    later = replace(THROTTLED, headers={"retry-after": "7"})
    server.script = [THROTTLED, later, FACTS]
    assert extractor.extract(REQUEST).usage.retries == 2
    assert pauses == [0.5, 7.0]
    server.script = [replace(THROTTLED, headers={"retry-after": "60"})]
    with pytest.raises(errors.ModelThrottled):
        extractor.extract(REQUEST)
    assert pauses == [0.5, 7.0]


def test_silence_is_a_failure_and_not_sent_again(server, extractor):
    """A model that does not answer in time may be at work still: the window is tried later instead."""
    server.slow = [1.6]
    with pytest.raises(errors.ModelTimedOut):
        extractor.extract(REQUEST)
    assert len(server.sent) == 1


def test_a_body_that_drips_ends_with_the_time_of_the_call(server, extractor):
    """Each byte comes in time, the whole does not."""
    server.script = [Raw(200, b" " * 100, drip_seconds=0.1)]
    began = time.monotonic()
    with pytest.raises(errors.ModelTimedOut):
        extractor.extract(REQUEST)
    assert time.monotonic() - began < 3


def test_a_reply_is_bounded(server, extractor, monkeypatch):
    """A server cannot fill the memory of a function."""
    monkeypatch.setattr(server_module, "MAX_REPLY_BYTES", 1_000)
    server.script = [Raw(200, b" " * 5_000)] * 2
    with pytest.raises(errors.ModelOutputInvalid):
        extractor.extract(REQUEST)


def test_an_unreachable_server_is_out_of_reach(chat, http, pauses):
    """Nobody listens: four tries, then MODEL_UNAVAILABLE."""
    with pytest.raises(errors.ModelUnavailable) as failure:
        ModelExtractor(replace(chat, server=replace(http, url="http://127.0.0.1:1/v1"))).extract(REQUEST)
    assert (type(failure.value), failure.value.provider_error) == (errors.ModelUnavailable, "NewConnectionError")
    assert len(pauses) == 3


def test_a_deployment_without_a_server_or_a_model_says_so(server, chat, http):
    """Nothing is sent."""
    nameless = replace(chat, models=replace(MODELS, model=""))
    for model in (nameless, replace(chat, server=replace(http, url=""))):
        with pytest.raises(errors.ModelNotConfigured):
            ModelExtractor(model).extract(REQUEST)
    assert server.sent == []


@pytest.mark.parametrize(
    "url",
    [
        "ftp://x/v1",
        "https://user:secret@x/v1",
        "https://secret@x",
        "x/v1",
        "https:///v1",
        "http://x/?k=secret",
        "http://x#a",
    ],
)
def test_a_base_url_is_plain(url):
    """Other schemes, credentials and queries are refused, and not quoted."""
    with pytest.raises(ValueError, match="OPENAI_BASE_URL") as refused:
        Settings.read({"TABLE_NAME": "t", "OPENAI_BASE_URL": url})
    assert "secret" not in str(refused.value)


# ---- vectors


def test_texts_are_embedded_in_batches_and_in_order(server, embedder):
    """A server may return vectors in any order, with their indexes; a blank text is none for it."""
    texts = [" ", *(f"text {number}" for number in range(69))]
    made = embedder.embed(texts)
    assert [len(body["input"]) for body in server.sent] == [32, 32, 6]
    assert server.sent[0]["input"][0] == "-"
    assert set(server.paths) == {"/v1/embeddings"}
    assert made == [vectors.pack(server.meaning(one.strip() or "-"), MODELS.embedding_model) for one in texts]
    assert embedder.embed([]) == []


@pytest.mark.parametrize(
    ("model", "has_length"),
    [("text-embedding-3-small", True), ("nomic-embed-text", False), ("Qwen/Qwen3-Embedding-8B", True)],
)
def test_a_length_is_wanted_of_models_that_take_one(server, embedder, model, has_length):
    """Of others it is not, and a server that refuses it is asked without it from then on."""
    own = replace(embedder, models=replace(MODELS, embedding_model=model))
    own.embed(["a"])
    assert server.sent[0].get("dimensions") == (MODELS.dimensions if has_length else None)
    server.refuse = lambda body: refusal("does not support matryoshka") if "dimensions" in body else None
    for _ in range(2):
        own.embed(["a"])
    assert len(server.sent) == 3 + has_length


BAD_VECTORS = {
    "fewer": {"data": [{"index": 0, "embedding": [1.0]}]},
    "none": {"data": []},
    "no list": {"data": "x"},
    "texts": {"data": [{"embedding": ["a"]}, {"embedding": ["b"]}]},
    "nothing": {"data": [{"embedding": []}, {"embedding": []}]},
    "of two lengths": {"data": [{"embedding": [1.0]}, {"embedding": [1.0, 2.0]}]},
}


@pytest.mark.parametrize("document", BAD_VECTORS.values(), ids=BAD_VECTORS)
def test_wrong_vectors_are_an_error_of_their_own(server, embedder, document):
    """One vector of one length for each text, or the failure is MODEL_VECTORS_INVALID."""
    server.script = [Raw(200, document)]
    with pytest.raises(errors.ModelVectorsInvalid) as failure:
        embedder.embed(["a", "b"])
    assert failure.value.outcome == "MODEL_VECTORS_INVALID"


def test_a_text_is_cut_until_the_model_takes_it(server, embedder):
    """Models differ in the length that they take, and do not say it before."""
    server.refuse = lambda body: refusal("input is too large") if max(map(len, body["input"])) > 2_000 else None
    assert embedder.embed(["a" * 30_000, "b"])
    assert [len(body["input"][0]) for body in server.sent] == [24_000, 6_000, 1_500]
    server.refuse = lambda _: refusal("input is too large")
    with pytest.raises(errors.ModelOutputTruncated):
        embedder.embed(["a"])


def test_a_bank_may_choose_its_model(server, chat, embedder):
    """A name on the list of allowed models is used, even one that is like a name of Google's."""
    allowed = replace(chat.models, allowed=frozenset({"text-embedding-3-large", "large"}))
    strict = ChatCompletions(chat.server, allowed, chat.retry_policy, chat.dialects)
    for name in ("large", "huge", "models/gemini-2.5-flash"):
        ModelExtractor(strict).extract(ExtractionRequest(REQUEST.turns, model=name))
    replace(embedder, models=allowed).embed(["a"], model="text-embedding-3-large")
    assert [body["model"] for body in server.sent] == ["large", MODELS.model, MODELS.model, "text-embedding-3-large"]


def test_one_pool_serves_many_threads(http):
    """Connections are kept: a second request opens none."""
    assert isinstance(http.pool, urllib3.PoolManager)
    for _ in range(3):
        http.post("/embeddings", {"model": "m", "input": ["a"]})
    [pool] = [http.pool.pools[key] for key in http.pool.pools.keys()]  # noqa: SIM118  a container without iteration
    assert pool.num_connections == 1
