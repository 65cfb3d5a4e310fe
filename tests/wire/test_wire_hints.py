"""Refusals name what is allowed, and for common mistakes what was probably meant."""

from __future__ import annotations

import string
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.errors import InvalidArgument
from streambank.wire import hints, query
from streambank.wire.generate import GenerateMemoriesRequest
from streambank.wire.ingest import ingest_call
from streambank.wire.memory_requests import CreateMemoryRequest, RetrieveRequest, UpdateMemoryRequest

SCOPE = {"scope": {"user_id": "u1"}}
EVENT = {"content": {"role": "user", "parts": [{"text": "I ski"}]}}


def refusal(body, read=lambda body: ingest_call(body, bank="b", idempotency_key=None)):
    with pytest.raises(InvalidArgument) as error:
        read(body)
    return error.value.field, error.value.problem


def with_event(event):
    return {**SCOPE, "directContentsSource": {"events": [event]}}


def with_rule(**rule):
    return {**SCOPE, "generationTriggerConfig": {"generationRule": rule}}


EVENT_PATH = "directContentsSource.events[0]"
RULE_PATH = "generationTriggerConfig.generationRule"


@pytest.mark.parametrize(
    ("body", "field", "hint"),
    [
        ({**SCOPE, "events": [EVENT]}, "events", '"directContentsSource": {"events"'),
        ({**SCOPE, "messages": [EVENT]}, "messages", "streambank_client.formats"),
        ({"user_id": "u1"}, "user_id", '{"scope": {"user_id": "123"}}'),
        ({"scope": "u1"}, "scope", '{"user_id": "123"}'),
        ({**SCOPE, "forceflush": True}, "forceflush", "did you mean forceFlush?"),
        ({**SCOPE, "stream": "s"}, "stream", "did you mean streamId?"),
        ({**SCOPE, "steam_id": "s"}, "steam_id", "did you mean stream_id?"),
        ({**SCOPE, "ttl": "60s"}, "ttl", "did you mean revisionTtl?"),
        ({**SCOPE, "idle_duration": "60s"}, "idle_duration", "generationTriggerConfig.generationRule"),
        (with_event({"role": "user", "content": "I ski"}), f"{EVENT_PATH}.role", '"parts": [{"text": "..."}]'),
        (with_event({"text": "I ski"}), f"{EVENT_PATH}.text", '"parts": [{"text": "..."}]'),
        (with_event({"content": "I ski"}), f"{EVENT_PATH}.content", '{"role": "user", "parts"'),
        (with_event({"content": {"text": "I ski"}}), f"{EVENT_PATH}.content.text", '{"parts": [{"text": "..."}]}'),
        (with_event({"content": {"parts": "I ski"}}), f"{EVENT_PATH}.content.parts", 'such as [{"text": "..."}]'),
        (with_event({"content": {"parts": ["hi"]}}), f"{EVENT_PATH}.content.parts[0]", 'such as {"text": "..."}'),
        (with_event({"content": {"role": "assistant"}}), f"{EVENT_PATH}.content.role", 'of a model is "model"'),
        (with_event({"content": {"role": "system"}}), f"{EVENT_PATH}.content.role", "leave the event out"),
        (with_event({"content": {"role": "tool"}}), f"{EVENT_PATH}.content.role", "functionResponse"),
        (with_event({**EVENT, "id": "e1"}), f"{EVENT_PATH}.id", "did you mean eventId?"),
        (with_rule(idleDuration=60), f"{RULE_PATH}.idleDuration", 'did you mean "60s"?'),
        (with_rule(idleDuration="60"), f"{RULE_PATH}.idleDuration", 'did you mean "60s"?'),
        (with_rule(eventcount=3), f"{RULE_PATH}.eventcount", "did you mean eventCount?"),
    ],
)
def test_a_common_mistake_is_told_what_was_meant(body, field, hint):
    """The field is named as the caller spelled it, and the problem has the remedy."""
    named, problem = refusal(body)
    assert named == field
    assert hint in problem


@pytest.mark.parametrize(
    ("read", "body", "field", "hint"),
    [
        (CreateMemoryRequest.parse, {**SCOPE, "fact": "I ski", "ttl": 60}, "ttl", 'did you mean "60s"?'),
        (CreateMemoryRequest.parse, {**SCOPE, "text": "I ski"}, "text", "did you mean fact?"),
        (CreateMemoryRequest.parse, {"userId": "u1", "fact": "I ski"}, "userId", '{"scope": {"user_id": "123"}}'),
        (UpdateMemoryRequest.parse, {"display_nam": "x"}, "display_nam", "did you mean display_name?"),
        (GenerateMemoriesRequest.parse, {**SCOPE, "events": [EVENT]}, "events", '"directContentsSource": {"events"'),
        (RetrieveRequest.parse, {**SCOPE, "query": "tea"}, "query", "similaritySearchParams"),
    ],
)
def test_the_other_routes_say_the_same(read, body, field, hint):
    """Bodies that models read have the same hints."""
    named, problem = refusal(body, read)
    assert named == field
    assert hint in problem


def test_an_unknown_field_is_told_the_fields_there_are():
    """Each field of the object is listed."""
    assert refusal({**SCOPE, "directContentsSource": {"x": 1}}) == (
        "directContentsSource.x",
        "unknown field; the fields are events",
    )


@given(name=st.text(max_size=80), fields=st.sets(st.text(string.ascii_letters, min_size=1, max_size=70), max_size=30))
def test_a_hint_is_bounded_and_never_fails(name, fields):
    """Whatever a field is called, its refusal is short, and lists all fields or the first of them."""
    problem = hints.unknown_field(name, fields)
    assert len(problem) < 1_200
    assert problem.startswith("unknown field; the ")


NAMES = "pageSize page_size alt $alt key $key fields $fields prettyPrint $prettyPrint quotaUser $.xgafv X-Amz-Date"


@pytest.mark.parametrize("name", NAMES.split())
def test_a_parameter_of_the_route_or_of_the_system_is_taken(name):
    """A route takes its own parameters in either spelling, and Google's system parameters."""
    query.check({name: "1"}, ["pageSize"])


@pytest.mark.parametrize(
    ("parameters", "field", "problem"),
    [
        ({"pagesize": "1"}, "pagesize", "did you mean pageSize?"),
        ({"pageSize": "1", "page_token": "t", "limit": "3"}, "limit", "the route takes pageSize, pageToken"),
        ({"page_size": "1", "pageSize": "2"}, "pageSize", "given twice, in two spellings"),
        ({"": "1"}, "", "unknown query parameter"),
    ],
)
def test_other_parameters_are_refused(parameters, field, problem):
    """The refusal names the parameter as it was spelled, and those that the route takes."""
    with pytest.raises(InvalidArgument) as error:
        query.check(parameters, ["pageToken", "pageSize"])
    assert error.value.field == field
    assert problem in error.value.problem


def test_the_function_ingest_loads_no_hints():
    """What only refusals need is not part of the cold start of the function `Ingest`."""
    program = (
        "import sys, streambank.api.ingest\n"
        "print({'difflib', 'streambank.wire.hints', 'streambank.wire.json_errors'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
