"""Items of OpenAI's Responses and messages of pydantic-ai, as hypothesis draws them."""

from hypothesis import strategies as st

from tests.client.formats.shape_parts import (
    base64,
    ids,
    json_texts,
    names,
    objects,
    record,
    stamps,
    urls,
    values,
    words,
)

# ---- OpenAI's Responses

_texts = st.sampled_from(["input_text", "output_text", "text"])
_block = st.one_of(
    record({"type": _texts, "text": words}, annotations=st.lists(objects, max_size=1)),
    record({"type": st.just("refusal"), "refusal": words}),
    record({"type": st.just("input_image")}, image_url=urls, file_id=names, detail=st.just("auto")),
    record({"type": st.just("input_file")}, file_data=base64 | urls, file_url=urls, filename=names, file_id=names),
    record(
        {
            "type": st.just("input_audio"),
            "input_audio": record({"data": base64, "format": st.sampled_from(["wav", "mp3"])}),
        }
    ),
    record({"type": st.just("computer_screenshot"), "image_url": urls}),
)
_item_ids = st.sampled_from(["__fake_id__", "msg_1", "", None])
_status = st.sampled_from(["completed", "incomplete"])
_content = words | st.lists(_block, max_size=3)
_roles = st.sampled_from(["user", "assistant", "system", "developer", "narrator"])
_summary = st.lists(record({"type": st.just("summary_text"), "text": words}), max_size=2)
responses = st.one_of(
    record({"type": st.just("message"), "role": _roles, "content": _content}, id=_item_ids, status=_status),
    record({"role": _roles, "content": _content}),
    record({"type": st.just("function_call"), "call_id": ids, "name": names, "arguments": json_texts}, id=_item_ids),
    record({"type": st.just("function_call_output"), "call_id": names, "output": _content}, id=_item_ids),
    record({"type": st.just("custom_tool_call"), "call_id": names, "name": names, "input": words}),
    record({"type": st.just("custom_tool_call_output"), "call_id": names, "output": words}),
    record({"type": st.just("reasoning"), "summary": _summary}, id=_item_ids, encrypted_content=ids, content=_summary),
    record({"type": st.sampled_from(["web_search_call", "file_search_call", "item_reference"])}, id=names),
)

# ---- pydantic-ai

_binary = record({"kind": st.just("binary"), "data": base64, "media_type": st.just("image/png")}, identifier=names)
_media = st.one_of(
    _binary,
    record({"kind": st.just("image-url"), "url": urls}, media_type=st.just("image/png"), force_download=st.booleans()),
    record({"kind": st.just("document-url"), "url": urls}, media_type=st.just("application/pdf")),
    record({"kind": st.just("cache-point"), "ttl": st.just("5m")}),
)


def _part(kind, **fields):
    return record({"part_kind": st.just(kind), **fields})


def _timed(kind, **fields):
    return record({"part_kind": st.just(kind), **fields}, timestamp=stamps)


_request_part = st.one_of(
    _part("system-prompt", content=words, dynamic_ref=ids),
    _timed("user-prompt", content=words | st.lists(words | _media, max_size=3)),
    _timed("tool-return", tool_name=names, content=values, tool_call_id=names, outcome=st.sampled_from(["success"])),
    _timed(
        "tool-return", tool_name=names, content=values, tool_call_id=ids, outcome=st.sampled_from(["failed", "denied"])
    ),
    _timed("retry-prompt", tool_name=ids, content=words | st.lists(objects, max_size=1), tool_call_id=names),
    _part("something"),
)
_response_part = st.one_of(
    _part("text", content=words, id=ids),
    _part("thinking", content=words, signature=ids, provider_name=ids),
    _part("tool-call", tool_name=names, args=st.none() | json_texts | objects, tool_call_id=ids),
    _part("file", content=_binary),
    _part("builtin-tool-call", tool_name=names, args=objects, tool_call_id=names),
    _part("builtin-tool-return", tool_name=names, content=values, tool_call_id=names),
)
pydantic_ai = st.one_of(
    record(
        {"kind": st.just("request"), "parts": st.lists(_request_part, max_size=3)}, instructions=ids, timestamp=stamps
    ),
    record(
        {"kind": st.just("response"), "parts": st.lists(_response_part, max_size=3)},
        usage=objects,
        timestamp=stamps,
        provider_response_id=ids,
    ),
)
