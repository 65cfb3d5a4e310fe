"""What a server refuses and what it answers: dialects, and replies that no good server gives."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank import errors
from streambank.llm.openai import chat as chat_module
from tests.bedrock.converse_server import text, tool
from tests.bedrock.requests import GOOD, REQUEST
from tests.openai.chat_server import completion, refusal
from tests.openai.conftest import MODELS

FACTS = tool("record_facts", GOOD)


def call(arguments, name="record_facts"):
    """A tool call as a message holds it."""
    return {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}


def facts_of(extractor):
    return [(one.fact, one.events) for one in extractor.extract(REQUEST).facts]


# ---- dialects


def refusing(**when):
    """Refuse a body that has a field, or a value of a field, with a message."""

    def refuse(body):
        for name, (is_refused, answer) in when.items():
            if name in body and is_refused(body[name]):
                return answer
        return None

    return refuse


def always(_):
    return True


REFUSED = {
    "temperature": (
        refusing(temperature=(always, refusal("Unsupported value", param="temperature", code="unsupported_value"))),
        lambda body: "temperature" not in body,
    ),
    "max_tokens": (
        refusing(max_tokens=(always, refusal("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'."))),
        lambda body: body["max_completion_tokens"] == MODELS.max_output_tokens,
    ),
    "a named tool": (
        refusing(tool_choice=(lambda choice: choice != "required", refusal("Invalid tool_choice type: 'object'."))),
        lambda body: body["tool_choice"] == "required" and body["tools"],
    ),
    "tools": (
        refusing(tools=(always, refusal("registry/gemma:2b does not support tools"))),
        lambda body: body["response_format"]["json_schema"]["name"] == "record_facts" and "tools" not in body,
    ),
    "tools, with 500": (
        refusing(tools=(always, refusal("tools param requires --jinja flag", 500))),
        lambda body: "response_format" in body,
    ),
    "tools and schemas": (
        refusing(tools=(always, refusal("no tools")), response_format=(always, refusal("response_format unknown"))),
        lambda body: "response_format" not in body and '"facts"' in body["messages"][0]["content"],
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_server_refuses_is_left_out_for_good(server, extractor, name):
    """The request is sent again at once without it, and the next request has it no more."""
    server.refuse, is_without = REFUSED[name]
    for _ in range(2):
        assert facts_of(extractor) == [("I keep bees.", (1,))]
    assert len(server.asked) == 2
    assert is_without(server.sent[-1])
    assert is_without(server.sent[-2])


def test_a_refusal_that_nothing_can_be_left_out_for_ends(server, extractor):
    """A server that refuses the same thing for ever is not asked for ever."""
    server.refuse = lambda _: refusal("no temperature, tool_choice or response_format, whatever you send")
    with pytest.raises(errors.ModelRejected):
        extractor.extract(REQUEST)
    assert len(server.sent) <= 6


def test_a_model_that_does_not_call_is_asked_for_json(server, extractor):
    """After a reply without a call the second try wants JSON by a schema; after two such replies the first one does."""
    prose = text("Certainly! What would you like to record?")
    server.script = [prose, text(json.dumps(GOOD)), prose, text(json.dumps(GOOD)), text(json.dumps(GOOD))]
    for _ in range(3):
        assert facts_of(extractor) == [("I keep bees", (1,))]
    assert ["tools" in body for body in server.sent] == [True, False, True, False, False]
    assert [body["temperature"] for body in server.sent] == [0.0, 0.4, 0.0, 0.4, 0.0]


# ---- replies

READABLE = {
    "arguments as an object": {"tool_calls": [call(GOOD)]},
    "the older form of a call": {"function_call": {"name": "record_facts", "arguments": json.dumps(GOOD)}},
    "null for no calls": {"content": json.dumps(GOOD), "tool_calls": None},
    "thoughts": {"content": f'<think>Maybe {{"facts": [{{"fact": "x", "events": [1]}}]}}?</think>\n{json.dumps(GOOD)}'},
    "thoughts whose beginning the template has": {"content": f'{{"facts": []}} hm</think>{json.dumps(GOOD)}'},
    "thoughts that do not end, and a call": {
        "content": "<think>So I should call",
        "tool_calls": [call(json.dumps(GOOD))],
    },
    "parts": {"content": [{"type": "text", "text": json.dumps(GOOD)}]},
    "a call written as text": {
        "content": f"<tool_call>{json.dumps({'name': 'record_facts', 'arguments': GOOD})}</tool_call>"
    },
    "several calls": {"tool_calls": [call('{"facts": []}'), call(json.dumps(GOOD)), call("{}", "other")]},
    "a call that is none beside a good one": {"tool_calls": [None, {}, {"function": "x"}, call(json.dumps(GOOD))]},
    "prose around JSON": {"content": f"Here you are:\n```json\n{json.dumps(GOOD)}\n```\nAnything else?"},
}


@pytest.mark.parametrize("message", READABLE.values(), ids=READABLE)
def test_an_answer_whose_meaning_is_clear_is_used(server, extractor, message):
    """Odd replies are read as they are meant, in one call."""
    server.script = [completion(message)]
    assert facts_of(extractor) == [("I keep bees", (1,))]
    assert len(server.sent) == 1


def test_json_of_another_content_type_is_json(server, extractor):
    """A server may say that its JSON is a text."""
    server.script = [replace(completion({"content": json.dumps(GOOD)}), headers={"content-type": "text/plain"})]
    assert facts_of(extractor) == [("I keep bees", (1,))]


UNUSABLE = {
    "null content": {"content": None},
    "cut arguments": {"tool_calls": [call('{"facts": [{"fact": "I ke')]},
    "thoughts alone": {"content": f"<think>{json.dumps(GOOD)}"},
}


@pytest.mark.parametrize("message", UNUSABLE.values(), ids=UNUSABLE)
def test_an_unusable_reply_is_answered_in_words(server, extractor, message):
    """The model sees its reply as text and what is wrong with it: no message has a broken call."""
    server.script = [completion(message), FACTS]
    assert facts_of(extractor) == [("I keep bees", (1,))]
    again = server.sent[1]["messages"]
    assert [one["role"] for one in again] == ["system", "user", "assistant", "user"]
    assert all(isinstance(one["content"], str) and one["content"] for one in again)
    assert "cannot be used" in again[3]["content"]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "content", "tool_calls", "function", "arguments", "usage", "text"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["choices", "usage", "id"]), values), st.integers(0, 9))
def test_any_document_is_a_reply(document, characters):
    """Whatever a server returns is read as a reply with a text, calls and tokens."""
    reply = chat_module._reply(document, characters, 0)
    assert isinstance(reply.text, str)
    assert reply.content
    assert reply.usage.input_tokens >= 0
