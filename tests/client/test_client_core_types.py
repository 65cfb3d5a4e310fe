"""The shapes of what is taken and answered."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from streambank_client import types
from streambank_client.http.encoding import duration
from streambank_client.types.base import OpenShape, RequestShape
from streambank_client.types.memories import RetrievedMemories
from tests.client.answering import reply, script
from tests.client.samples import SCOPE

INSTANT = "2026-01-02T03:04:05.678Z"
MEMORY = {"name": "b/memories/m", "scope": SCOPE, "createTime": INSTANT, "updateTime": INSTANT}
# The documents of the types that have required fields.
REQUIRED: dict[str, dict[str, Any]] = {
    "ContentPolicyRule": {"action": "REDACT"},
    "ConversationSource": {"events": []},
    "CustomMemoryTopic": {"label": "l", "description": "d"},
    "DirectMemory": {"fact": "f"},
    "Event": {"content": {"parts": [{"text": "t"}]}},
    "ExampleMemory": {"fact": "f"},
    "GenerateMemoriesExample": {"conversationSource": {"events": []}},
    "ManagedMemoryTopic": {"managedTopicEnum": "USER_PREFERENCES"},
    "SchemaConfig": {"id": "s"},
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def test_unknown_fields_are_no_error() -> None:
    """A field that a newer service adds to a reply is left out, at every level."""
    said = {**MEMORY, "fact": "Likes tea.", "new": {"a": 1}, "topics": [{"customMemoryTopicLabel": "t", "new": 1}]}
    found = types.Memory.from_reply(said)
    assert found.topics == [types.Topic(custom_memory_topic_label="t")]
    assert not hasattr(found, "new")


def request_shapes() -> list[type[RequestShape]]:
    exported = (getattr(types, name) for name in types.__all__)
    return [kind for kind in exported if isinstance(kind, type) and issubclass(kind, RequestShape)]


@pytest.mark.parametrize("kind", request_shapes(), ids=lambda kind: kind.__name__)
def test_unknown_fields_of_requests_are_errors(kind: type[RequestShape]) -> None:
    """A misspelled field of an object that a caller constructs is refused; in a reply it is ignored."""
    with pytest.raises(ValidationError, match=f"{kind.__name__} has no idle; it has {next(iter(kind.model_fields))}"):
        kind(idle=1)
    known = REQUIRED.get(kind.__name__, {})
    assert kind.from_reply({**known, "idle": 1}) == kind.model_validate(known)


def test_what_calls_accept_is_checked() -> None:
    """Every type in the signature of a call is a type that refuses unknown fields, and so is what they contain."""
    accepted = {"DirectMemory", "Event", "Content", "GenerationRule", "MemoryBankConfig", "Topic"}
    pending, checked = list(accepted), set[str]()
    while pending:
        name = pending.pop()
        kind = getattr(types, name)
        assert issubclass(kind, RequestShape | OpenShape), name
        checked.add(name)
        inside = {word for field in kind.model_fields.values() for word in re.findall(r"\w+", repr(field.annotation))}
        pending += inside & set(types.__all__) - checked
    assert {"SchemaConfig", "GranularTtlConfig", "ConversationSource", "FunctionCall"} < checked


def test_unknown_fields_inside_objects() -> None:
    """A plain dict inside an object is checked too, and the message names its place."""
    misspelled: Any = {"generation_trigger_config": {"generation_rule": {"idle": 1}}}
    with pytest.raises(ValidationError, match="generation_config\\.generation_trigger_config\\.generation_rule\n"):
        types.MemoryBankConfig(generation_config=misspelled)
    document = {"name": "b", "contextSpec": {"memoryBankConfig": {"generationConfig": {"new": 1, "model": "m"}}}}
    context = types.BankResource.from_reply(document).context_spec
    assert context == types.BankContext(
        memory_bank_config=types.MemoryBankConfig(generation_config=types.GenerationConfig(model="m"))
    )


def test_values_that_a_newer_service_adds_are_kept() -> None:
    """States, verdicts and kinds are texts, so that one that is not known yet is read."""
    told = types.OperationDocument.model_validate(
        {"name": "o", "metadata": {"state": "NEW", "nextTrigger": {"kind": "NEW", "time": INSTANT}}}
    )
    assert (told.metadata.state, told.done) == ("NEW", False)


def test_metadata_is_plain() -> None:
    """Values come without the wrapping that says what they are, each as the type that it was."""
    wrapped = {
        "s": {"stringValue": "2026-01-02T03:04:05Z"},
        "d": {"doubleValue": 1},
        "b": {"boolValue": True},
        "t": {"timestampValue": INSTANT},
    }
    found = types.Memory.model_validate({**MEMORY, "metadata": wrapped})
    assert found.metadata == {
        "s": "2026-01-02T03:04:05Z",
        "d": 1.0,
        "b": True,
        "t": datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC),
    }
    assert [type(value) for value in found.metadata.values()] == [str, float, bool, datetime]
    assert types.Memory.model_validate(found.document()) == found


@given(st.dictionaries(st.text(), JSON))
def test_parts_of_any_kind_are_kept(inside: dict[str, Any]) -> None:
    """What is inside a call's arguments, or of a kind without a field here, comes back as it was."""
    part = {"functionCall": {"name": "f", "args": inside, "newField": 1}, "newKind": {"x_y": inside}}
    assert types.Part.model_validate(part).document() == part


def test_both_spellings_are_taken() -> None:
    """A dictionary in snake_case or in camelCase makes the same shape, which is written in camelCase."""
    for said in ({"event_count": 3, "idle_duration": "60s"}, {"eventCount": 3, "idleDuration": timedelta(minutes=1)}):
        rule = types.GenerationRule.model_validate(said)
        assert rule.idle_duration == timedelta(seconds=60)
        assert rule.document() == {"eventCount": 3, "idleDuration": "60s"}
    assert types.SchemaConfig(id="s", memory_schema={"type": "object"}).document()["schema"] == {"type": "object"}


@given(st.timedeltas(timedelta(0), timedelta(days=36_525)))
def test_spans_survive_the_wire(span: timedelta) -> None:
    """A span is written so that it is read back to the microsecond."""
    written = duration(span)
    assert written.endswith("s")
    assert types.TtlConfig.model_validate({"defaultTtl": written}).default_ttl == span


def test_shapes_are_frozen() -> None:
    """What a reply said cannot be changed by accident."""
    with pytest.raises(ValidationError):
        types.Part(text="a").text = "b"  # type: ignore[misc]


def test_text_of_a_content() -> None:
    """A content's text is that of its parts; thoughts and parts without one say nothing."""
    parts = [types.Part(text="a"), types.Part(text="no", thought=True), types.Part(), types.Part(text="b")]
    assert types.Content(parts=parts).text == "a\nb"


def test_retrieved_memories_are_a_list_with_events_beside_it() -> None:
    """A search's answer is its memories; the events, and what the headers tell, are attributes."""
    event = {
        "event": {"eventTime": INSTANT, "content": {"role": "user", "parts": [{"text": "tea"}]}},
        "streamId": "s",
        "window": 1,
        "sequence": 2,
        "pending": True,
        "distance": 0.5,
    }
    answer = reply(
        {
            "retrievedMemories": [{"memory": MEMORY, "distance": 0.25}],
            "retrievedEvents": [event],
            "historyStartTime": INSTANT,
        },
        x_streambank_effective_top_k="100",
        x_streambank_events_looked_at="5000",
        x_streambank_memories_looked_at="4000",
    )
    bank = script(answer).client().bank()
    found = bank.retrieve_memories(scope=SCOPE, query="tea", top_k=101, include_events=True)
    assert isinstance(found, RetrievedMemories)
    assert isinstance(found, list)
    assert [(one.memory.id, one.distance) for one in found] == [("m", 0.25)]
    assert [(one.event.content.text, one.pending) for one in found.events] == [("tea", True)]
    assert (found.effective_top_k, found.events_looked_at, found.memories_looked_at) == (100, 5_000, 4_000)
    assert found.history_start_time == datetime.fromisoformat(INSTANT)
    plain = script(reply({})).client().bank().retrieve_memories(scope=SCOPE, query="tea")
    assert (plain, plain.events, plain.effective_top_k) == ([], [], None)


def test_every_shape_is_exported() -> None:
    """Each name of `streambank_client.types` is found, and no other is."""
    assert all(getattr(types, name) for name in types.__all__)
    assert set(dir(types)) == set(types.__all__)
    with pytest.raises(AttributeError):
        types.Nonsense  # noqa: B018
