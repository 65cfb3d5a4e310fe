"""Exports of chat applications."""

from datetime import UTC, datetime

import pytest

from streambank_client import formats
from streambank_client.formats import Options, Reason, read_export
from tests.client.formats.checks import texts

# ---- ChatGPT


def node(key, parent, role="user", text=None, **fields):
    content = {"content_type": "text", "parts": [text or key]}
    message = {"id": f"m-{key}", "author": {"role": role}, "content": content, "create_time": 1678612502.5, **fields}
    return {"id": key, "parent": parent, "children": [], "message": message}


def chatgpt(*nodes, current=None):
    mapping = {"root": {"id": "root", "parent": None, "message": None}, **{one["id"]: one for one in nodes}}
    return {"conversation_id": "c1", "title": "Graz", "mapping": mapping, "current_node": current}


def test_chatgpt_the_current_branch_is_read():
    """An edited question is in another branch; ids, times, title and order are kept."""
    nodes = [node("a", "root"), node("b", "a", "assistant"), node("b2", "a", "assistant"), node("c", "b")]
    [conversation] = read_export([chatgpt(*nodes, current="c")])
    assert (conversation.id, conversation.title, texts(conversation)) == ("c1", "Graz", ["a", "b", "c"])
    first = conversation.conversion.contents[0]
    assert (first.message_id, first.time) == ("m-a", datetime(2023, 3, 12, 9, 15, 2, 500000, tzinfo=UTC))
    assert [(one.index, one.reason) for one in conversation.conversion.dropped] == [(3, Reason.OTHER_BRANCH)]


def test_chatgpt_without_a_current_node_the_newest_leaf_counts():
    """The last message without an answer is the end of the conversation."""
    nodes = [node("a", "root"), node("b", "a", "assistant"), node("b2", "a", "assistant")]
    [conversation] = read_export(chatgpt(*nodes))
    assert texts(conversation) == ["a", "b2"]


def test_chatgpt_calls_of_tools():
    """A message to a tool is a call; the tool's message is its result."""
    code = {"content_type": "code", "text": "print(1)"}
    output = {"content_type": "execution_output", "text": "1"}
    nodes = [
        node("a", "root", "assistant", content=code, recipient="python"),
        {**node("b", "a"), "message": {"author": {"role": "tool", "name": "python"}, "content": output}},
    ]
    [conversation] = read_export(chatgpt(*nodes, current="b"))
    assert [one.content for one in conversation.conversion.contents] == [
        {"role": "model", "parts": [{"functionCall": {"name": "python", "args": {"_raw": "print(1)"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "python", "response": {"output": "1"}}}]},
    ]


def test_chatgpt_a_circle_of_parents_is_refused():
    """A message that is its own ancestor has no first message."""
    with pytest.raises(ValueError, match=r"^document\[0\].mapping: must not have a message"):
        read_export([chatgpt(node("a", "b"), node("b", "a"), current="a")])


# ---- Claude


def claude(uuid, sender="human", **fields):
    return {"uuid": uuid, "sender": sender, "text": uuid, "created_at": "2025-01-02T03:04:05.678901Z", **fields}


def test_claude_messages_with_ids_and_times():
    """Blocks are read, attached texts are files, and a file that is only named is reported."""
    content = [{"type": "text", "text": "hello", "start_timestamp": "2025-01-02T03:04:05Z"}]
    attachment = {"file_name": "a.txt", "extracted_content": "words", "file_size": 5}
    first = claude("u1", content=content, attachments=[attachment], files=[{"file_name": "b.png"}])
    document = [{"uuid": "c1", "name": "Graz", "chat_messages": [first, claude("u2", "assistant")]}]
    [conversation] = read_export(document)
    assert (conversation.id, conversation.title, texts(conversation)) == ("c1", "Graz", ["hello", "u2"])
    converted = conversation.conversion.contents[0]
    assert (converted.message_id, converted.time) == ("u1", datetime(2025, 1, 2, 3, 4, 5, 678901, tzinfo=UTC))
    assert converted.content["parts"][1]["inlineData"]["displayName"] == "a.txt"
    assert [one.reason for one in conversation.conversion.dropped] == [Reason.NO_ADDRESS]


@pytest.mark.parametrize(("leaf", "read"), [({}, ["a", "b2"]), ({"current_leaf_message_uuid": "b1"}, ["a", "b1"])])
def test_claude_the_current_branch_is_read(leaf, read):
    """Where a message has two answers, the current or the last one counts."""
    messages = [claude("a"), *(claude(uuid, "assistant", parent_message_uuid="a") for uuid in ("b1", "b2"))]
    [conversation] = read_export([{"uuid": "c1", "chat_messages": messages, **leaf}])
    assert texts(conversation) == read
    assert [one.reason for one in conversation.conversion.dropped] == [Reason.OTHER_BRANCH]


# ---- ShareGPT


def test_sharegpt_turns():
    """System text is instructions; calls and observations are tool traffic."""
    turns = [
        {"from": "system", "value": "Be brief."},
        {"from": "human", "value": "weather?"},
        {"from": "function_call", "value": '{"name": "weather", "arguments": {"city": "Graz"}}'},
        {"from": "observation", "value": "sunny"},
        {"from": "gpt", "value": "Sunny."},
    ]
    [conversation] = read_export([{"id": "x", "conversations": turns}])
    assert conversation.id == "x"
    assert [one.content for one in conversation.conversion.contents] == [
        {"role": "user", "parts": [{"text": "weather?"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "weather", "args": {"city": "Graz"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "weather", "response": {"output": "sunny"}}}]},
        {"role": "model", "parts": [{"text": "Sunny."}]},
    ]


# ---- Slack


def slack(ts, text, user="U1", **fields):
    return {"type": "message", "user": user, "text": text, "ts": ts, **fields}


def test_slack_speakers_threads_and_bots():
    """Texts name their speakers, mentions read as names, bots have the model's role, a thread is a conversation."""
    document = [
        slack("1678612502.123456", "Hi <@U2> &amp; <https://a.example|all>", user_profile={"real_name": "Ana"}),
        slack("1678612503.0", "<@U2> joined", "U2", subtype="channel_join", user_profile={"display_name": "Ben"}),
        slack("1678612504.0", "lunch?", "U2", thread_ts="1678612504.0"),
        slack("1678612505.0", "yes", thread_ts="1678612504.0"),
        {
            "type": "message",
            "subtype": "bot_message",
            "bot_id": "B1",
            "username": "Deploy",
            "text": "done",
            "ts": "1.5",
        },
    ]
    channel, thread = read_export(document)
    assert (channel.id, texts(channel)) == (None, ["Ana: Hi @Ben & all (https://a.example)", "Deploy: done"])
    assert (thread.id, texts(thread)) == ("1678612504.0", ["Ben: lunch?", "Ana: yes"])
    first, bot = channel.conversion.contents
    assert (first.message_id, first.time) == (
        "1678612502.123456",
        datetime(2023, 3, 12, 9, 15, 2, 123456, tzinfo=UTC),
    )
    assert bot.content["role"] == "model"
    assert [(one.index, one.reason) for one in channel.conversion.dropped] == [(1, Reason.NOTICE)]


@pytest.mark.parametrize("user", ["U1", "Ana"])
def test_slack_the_user_is_not_named(user):
    """The memories are of the user, whose texts stay as they are; names may come from users.json."""
    options = Options(user=user, names={"U1": "Ana", "U2": "Ben"})
    [channel] = read_export([slack("1.5", "a"), slack("2.5", "b", "U2")], options=options)
    assert texts(channel) == ["a", "Ben: b"]


# ---- AgentCore


def test_agentcore_an_event_of_several_speakers():
    """Each run of one speaker is a Content with an id of its own; the reply of AgentCore has the newest first."""

    def item(role, text):
        return {"conversational": {"role": role, "content": {"text": text}}}

    newer = {"eventId": "e2", "eventTimestamp": "2026-05-01T12:00:01Z", "payload": [item("USER", "c")]}
    older = {
        "eventId": "e1",
        "eventTimestamp": datetime(2026, 5, 1, 12, tzinfo=UTC),
        "payload": [item("USER", "a"), item("ASSISTANT", "b"), {"blob": "x"}],
    }
    [conversation] = read_export({"events": [newer, older]})
    contents = conversation.conversion.contents
    assert [(one.message_id, one.index, one.content["parts"][0]["text"]) for one in contents] == [
        ("e1", 0, "a"),
        ("e1-1", 0, "b"),
        ("e2", 1, "c"),
    ]
    assert {one.time.second for one in contents} == {0, 1}
    assert [(one.part, one.kind, one.reason) for one in conversation.conversion.dropped] == [
        (2, "blob", Reason.UNSUPPORTED)
    ]


def test_a_message_of_an_export_is_converted_alone():
    """The messages themselves have formats too."""
    assert formats.detect(slack("1.5", "a")) == "slack"
    assert formats.to_contents([slack("1.5", "a")], "slack").contents[0].content["parts"] == [{"text": "U1: a"}]
