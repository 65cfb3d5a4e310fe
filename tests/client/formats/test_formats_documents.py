"""Any document is read or refused, and an export names its format."""

import json
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streambank_client.formats import read_export
from tests.client.formats.export_shapes import EXPORTS

NAMES = ["mapping", "message", "author", "role", "content", "parts", "chat_messages", "sender", "conversations", "from",
         "value", "type", "text", "ts", "payload", "conversational", "id", "parent", "current_node", "uuid", "events",
         "content_type", "attachments", "user", "create_time", "subtype", "thread_ts"]  # fmt: skip
WORDS = ["message", "user", "human", "text", "a", "U1", "1.5", "assistant", "root", "1e999"]
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=3)
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=20,
)
lines = st.text(string.digits + "/.:[], -AnaPM\u200e\n", max_size=60) | st.text(max_size=20)


def assert_whole(conversation):
    contents, dropped = conversation.conversion.contents, conversation.conversion.dropped
    kept, gone = {one.index for one in contents}, [one.index for one in dropped if one.is_message]
    assert len(gone) == len(set(gone))
    assert kept.isdisjoint(gone)
    assert kept | set(gone) == set(range(len(kept) + len(gone)))


@settings(max_examples=200, deadline=None)
@given(document=documents | lines, tag=st.sampled_from([None, *EXPORTS]))
def test_any_document_is_read_or_refused(document, tag):
    """Nothing but a ValueError with a path is raised, and each message is converted or reported."""
    for conversation in read_or_refuse(document, tag):
        assert_whole(conversation)


def read_or_refuse(document, tag):
    try:
        return read_export(document, tag)
    except ValueError as error:
        path, _, problem = str(error).partition(": ")
        if not problem or not path.startswith(("document", "messages")):
            raise AssertionError(f"names no path: {error}") from error
        return []


WRAPPED = {
    "agentcore": lambda messages: {"events": messages},
    "chatgpt": lambda messages: [
        {"mapping": {str(at): {"parent": str(at - 1), "message": message} for at, message in enumerate(messages, 1)}}
    ],
    "claude": lambda messages: [{"chat_messages": messages}],
    "sharegpt": lambda messages: [{"conversations": messages}],
    "slack": lambda messages: messages,
    "whatsapp": "\n".join,
}


@pytest.mark.parametrize("tag", sorted(EXPORTS))
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_an_export_names_its_format(tag, data):
    """A document of a format's messages is detected, and read as with the name of the format."""
    messages = data.draw(st.lists(EXPORTS[tag], min_size=1, max_size=4))
    document = WRAPPED[tag](messages)
    before = json.dumps(document, default=str)
    conversations = read_export(document)
    assert conversations == read_export(document, tag)
    for conversation in conversations:
        assert_whole(conversation)
    assert json.dumps(document, default=str) == before


@pytest.mark.parametrize("document", [None, 5, "hello", [], {}, [{"role": "user", "content": "x"}], "{}"])
def test_what_is_no_export_is_refused(document):
    """The error names the formats that are known."""
    with pytest.raises(ValueError, match=r"^document: must be an export of chatgpt, claude"):
        read_export(document)
    with pytest.raises(ValueError, match=r"^document: must be an export of"):
        read_export(document, "openai")
