"""Messages of exports, as hypothesis draws them."""

from hypothesis import strategies as st

from tests.client.formats.shape_parts import ids, names, objects, record, stamps, urls, values, words

_seconds = st.none() | st.floats(allow_nan=False) | st.integers() | stamps

# ---- AgentCore

_turn = record({"role": st.sampled_from(["USER", "ASSISTANT", "TOOL", "OTHER"]), "content": record({"text": words})})
agentcore = record(
    {"payload": st.lists(record({"conversational": _turn}) | record({"blob": values}), max_size=4), "eventId": names},
    eventTimestamp=_seconds,
    sessionId=names,
)

# ---- ChatGPT

_chatgpt_part = words | record({"content_type": st.sampled_from(["image_asset_pointer", "x"])}, text=words)
_chatgpt_content = st.one_of(
    record({"content_type": st.just("text"), "parts": st.lists(_chatgpt_part, max_size=3)}),
    record({"content_type": st.sampled_from(["code", "execution_output"]), "text": words}),
    record({"content_type": st.just("thoughts"), "thoughts": st.lists(record({"content": words}), max_size=2)}),
    record({"content_type": st.just("reasoning_recap"), "content": words}),
    record({"content_type": st.just("user_editable_context"), "user_profile": words}),
)
_author = record({"role": st.sampled_from(["system", "user", "assistant", "tool", "critic"])}, name=ids)
chatgpt = record(
    {"author": _author, "content": _chatgpt_content},
    id=names,
    create_time=_seconds,
    recipient=st.sampled_from(["all", "python"]),
    metadata=objects,
)

# ---- Claude

_items = words | st.lists(record({"type": st.just("text"), "text": words}), max_size=2)
_claude_block = st.one_of(
    record({"type": st.just("text"), "text": words}, citations=st.lists(objects, max_size=1)),
    record({"type": st.just("thinking"), "thinking": words}, summaries=st.lists(objects, max_size=1)),
    record({"type": st.just("tool_use"), "name": names, "input": values}, id=ids),
    record({"type": st.just("tool_result"), "content": _items}, tool_use_id=ids, name=names, is_error=st.booleans()),
    record({"type": st.just("token_budget")}),
)
claude = record(
    {"uuid": names, "sender": st.sampled_from(["human", "assistant", "nobody"]), "text": words},
    content=st.lists(_claude_block, max_size=3),
    created_at=stamps,
    attachments=st.lists(record({"file_name": names}, extracted_content=words), max_size=2),
    files=st.lists(record({"file_name": names}), max_size=1),
)

# ---- ShareGPT

_calls = st.sampled_from(['{"name": "f", "arguments": {"a": 1}}', '{"name": "f", "arguments": "{}"}', "[]"])
sharegpt = record(
    {
        "from": st.sampled_from(["human", "gpt", "system", "function_call", "observation", "bing"]),
        "value": words | _calls,
    },
    weight=st.integers(),
)

# ---- Slack

_slack_texts = words | st.sampled_from(["<@U1> hi", "<https://a.example|a> &lt;b&gt;", "<!here>", "<#C1|general>"])
slack = record(
    {"type": st.just("message"), "text": _slack_texts, "ts": st.sampled_from(["1678612502.123459", "x", "1e400", ""])},
    user=st.sampled_from(["U1", "U2"]),
    subtype=st.sampled_from(["channel_join", "bot_message", "file_share"]),
    bot_id=names,
    thread_ts=st.just("1678612502.123459"),
    user_profile=record({}, real_name=words, display_name=words),
    files=st.lists(record({}, url_private=urls, name=names), max_size=2),
)

# ---- WhatsApp

_dates = st.tuples(st.integers(0, 33), st.integers(0, 33), st.sampled_from([23, 2023, 0]))
_headers = st.sampled_from(
    ["[{}.{}.{}, 10:15:02] ", "{}/{}/{}, 10:15 - ", "\u200e[{}/{}/{}, 1:05:00\u202fPM] ", "{}/{}/{}, 29:15 - "]
)
whatsapp = st.builds(
    lambda header, date, author, text: header.format(*date) + author + text,
    _headers,
    _dates,
    st.sampled_from(["Ana: ", "Ben: ", "~\u202fEva: ", ""]),
    words | st.sampled_from(["<Media omitted>", "\u200eimage omitted", "two\nlines", "new \u200e<edited>"]),
)

EXPORTS = {
    "agentcore": agentcore,
    "chatgpt": chatgpt,
    "claude": claude,
    "sharegpt": sharegpt,
    "slack": slack,
    "whatsapp": whatsapp,
}
