"""Messages of every format as hypothesis draws them: their whole declared shapes, odd values among them."""

from datetime import UTC, datetime

from hypothesis import strategies as st

from tests.client.formats import agent_shapes, export_shapes
from tests.client.formats.shape_parts import (
    base64,
    ids,
    json_texts,
    names,
    objects,
    one_of_keys,
    raw,
    record,
    stamps,
    urls,
    values,
    words,
)

PACKAGE = "ai.koog.prompt.message."
# ---- Strands

FORMS = {
    "image": ["png", "jpeg", "gif", "webp"],
    "document": ["pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"],
    "video": ["flv", "mkv", "mov", "mpeg", "mpg", "mp4", "three_gp", "webm", "wmv"],
    "audio": ["mp3", "opus", "wav", "aac", "flac", "mp4", "ogg", "mka", "x-aac", "m4a", "mpeg", "mpga", "pcm", "webm"],
}
_s3 = record({"type": st.just("s3"), "uri": urls}, bucketOwner=names)
_sources = one_of_keys(bytes=raw, location=_s3)


def _strands_media(kind):
    named = {"name": names} if kind == "document" else {}
    return record({"format": st.sampled_from(FORMS[kind]), "source": _sources, **named})


_strands_results = one_of_keys(
    text=words, json=values, image=_strands_media("image"), document=_strands_media("document")
)
_strands_blocks = one_of_keys(
    text=words,
    toolUse=record({"toolUseId": names, "name": names, "input": values | objects}),
    toolResult=record(
        {
            "toolUseId": names,
            "status": st.sampled_from(["success", "error"]),
            "content": st.lists(_strands_results, max_size=2),
        }
    ),
    reasoningContent=one_of_keys(reasoningText=record({"text": words}, signature=words), redactedContent=raw),
    citationsContent=record({"citations": st.lists(objects, max_size=1), "content": st.lists(record({"text": words}))}),
    cachePoint=record({"type": st.just("default")}),
    guardContent=objects,
    **{kind: _strands_media(kind) for kind in FORMS},
)
strands = record(
    {"role": st.sampled_from(["user", "assistant", "system"]), "content": st.lists(_strands_blocks, max_size=4)},
    tracking_id=names,
    metadata=objects,
)

# ---- Koog

_classes = {"Image": ["png", "jpg"], "Video": ["mp4", "3gp"], "Audio": ["mp3", "wav"], "File": ["pdf", "md", "docx"]}
_contents = st.one_of(
    record({"type": st.just(f"{PACKAGE}AttachmentContent.Binary.Base64"), "base64": base64}),
    record({"type": st.just(f"{PACKAGE}AttachmentContent.Binary.Bytes"), "data": st.lists(st.integers(-128, 127))}),
    record({"type": st.just(f"{PACKAGE}AttachmentContent.URL"), "url": urls}),
    record({"type": st.just(f"{PACKAGE}AttachmentContent.PlainText"), "text": words}),
)
_mimes = st.sampled_from(["image/png", "image/jpeg", "application/pdf", "text/markdown", "audio/mpeg"])


def _attachments(family):
    return st.one_of(
        *(
            record(
                {
                    "type": st.just(f"{PACKAGE}{family}.{name}"),
                    "content": _contents,
                    "format": st.sampled_from(forms),
                    **({"mimeType": _mimes} if name == "File" else {}),
                },
                fileName=names,
                **({} if name == "File" else {"mimeType": _mimes}),
            )
            for name, forms in _classes.items()
        )
    )


_metas = record(
    {"timestamp": stamps},
    metadata=record({}, **{"agentcore.eventId": names, "other": values}),
    totalTokensCount=st.integers(0, 9),
)
_plain = record({"text": words})


def _koog(kind, **fields):
    return record({"type": st.just(f"{PACKAGE}Message.{kind}"), "metaInfo": _metas, **fields})


_koog_0_8_parts = st.lists(record({"type": st.just("text"), "text": words}) | _attachments("ContentPart"), max_size=3)
koog_0_8 = st.one_of(
    _koog("User", parts=_koog_0_8_parts),
    _koog("Assistant", parts=_koog_0_8_parts, finishReason=ids),
    _koog("System", parts=st.lists(_plain, max_size=2)),
    _koog("Tool.Call", id=ids, tool=names, parts=st.lists(record({"text": json_texts}), max_size=2)),
    _koog("Tool.Result", id=ids, tool=names, parts=st.lists(_plain, max_size=2)),
    _koog("Reasoning", id=ids, encrypted=ids, parts=st.lists(_plain, max_size=2), summary=st.none() | st.lists(_plain)),
)


def _part(kind, **fields):
    return record({"type": st.just(f"{PACKAGE}MessagePart.{kind}"), **fields})


_koog_1_text = _part("Text", text=words)
_koog_1_attachment = _part("Attachment", source=_attachments("AttachmentSource"))
_koog_1_user = st.one_of(
    _koog_1_text,
    _koog_1_attachment,
    _part(
        "Tool.Result",
        id=ids,
        tool=names,
        parts=st.lists(_koog_1_text | _koog_1_attachment, max_size=2),
        isError=st.booleans(),
    ),
)
_koog_1_assistant = st.one_of(
    _koog_1_text,
    _koog_1_attachment,
    _part("Tool.Call", id=ids, tool=names, args=json_texts),
    _part("Reasoning", content=st.lists(words, max_size=2), encrypted=ids),
)
koog_1 = st.one_of(
    _koog("User", parts=st.lists(_koog_1_user, max_size=3)),
    _koog("Assistant", parts=st.lists(_koog_1_assistant, max_size=3), finishReason=ids),
    _koog("System", parts=st.lists(_plain, max_size=2)),
)

# ---- OpenAI

_text_block = record({"type": st.just("text"), "text": words})
_image_url = record({"type": st.just("image_url"), "image_url": record({"url": urls}, detail=st.just("low"))})
_openai_blocks = st.one_of(
    _text_block,
    _image_url,
    record(
        {
            "type": st.just("input_audio"),
            "input_audio": record({"data": base64, "format": st.sampled_from(["wav", "mp3"])}),
        }
    ),
    record(
        {
            "type": st.just("file"),
            "file": one_of_keys(file_id=names) | record({"file_data": base64 | urls}, filename=names),
        }
    ),
)
_openai_content = words | st.none() | st.lists(_openai_blocks, max_size=3)
openai = st.one_of(
    record({"role": st.sampled_from(["system", "developer"]), "content": words | st.lists(_text_block, max_size=2)}),
    record({"role": st.just("user"), "content": _openai_content}, name=names),
    record(
        {"role": st.just("assistant"), "content": _openai_content},
        refusal=words,
        tool_calls=st.lists(
            record(
                {
                    "id": names,
                    "type": st.just("function"),
                    "function": record({"name": names, "arguments": json_texts}),
                }
            ),
            max_size=2,
        ),
    ),
    record({"role": st.just("tool"), "content": words | st.lists(_text_block, max_size=2), "tool_call_id": names}),
)

# ---- LangChain

_langchain_blocks = st.one_of(
    words,
    _text_block,
    _image_url,
    record({"type": st.sampled_from(["image", "audio", "video", "file"]), "base64": base64, "mime_type": _mimes}),
    record({"type": st.sampled_from(["image", "audio", "video", "file"]), "url": urls}, mime_type=_mimes),
    record({"type": st.just("image"), "source_type": st.just("base64"), "data": base64, "mime_type": _mimes}),
    record(
        {
            "type": st.just("image"),
            "source": record({"type": st.just("base64"), "media_type": _mimes, "data": base64}),
        }
    ),
    record({"type": st.just("file"), "file_id": names}),
    record({"type": st.just("reasoning"), "reasoning": words}, extras=record({}, signature=words, more=words)),
    record({"type": st.just("thinking"), "thinking": words, "signature": words}),
    record({"type": st.just("tool_use"), "id": names, "name": names, "input": objects}),
    record({"type": st.just("non_standard"), "value": objects}),
)
_langchain_content = words | st.lists(_langchain_blocks, max_size=3)
_calls = st.lists(record({"name": names, "args": objects, "id": ids, "type": st.just("tool_call")}), max_size=2)
_invalid = st.lists(record({"name": ids, "args": st.none() | words, "id": ids, "error": ids}), max_size=1)


def _langchain(kind, **fields):
    data = record(
        {"content": _langchain_content, **fields}, id=ids, response_metadata=objects, additional_kwargs=objects
    )
    return record({"type": st.just(kind), "data": data})


langchain = st.one_of(
    _langchain("human"),
    _langchain("system"),
    _langchain("ai", tool_calls=_calls, invalid_tool_calls=_invalid),
    _langchain("AIMessageChunk", tool_calls=_calls),
    _langchain("tool", tool_call_id=names, name=names, status=st.sampled_from(["success", "error"])),
)

# ---- Google

_blobs = record({"mimeType": _mimes, "data": base64}, displayName=names)
_files = record({"mimeType": _mimes, "fileUri": urls})
_google_parts = st.one_of(
    record({"text": words}, thought=st.booleans(), thoughtSignature=base64, partMetadata=objects),
    record({"functionCall": record({"name": names, "args": objects}, id=names)}, thoughtSignature=base64),
    record(
        {
            "functionResponse": record(
                {"name": names, "response": objects},
                id=names,
                parts=st.lists(one_of_keys(inlineData=_blobs, fileData=_files), min_size=1, max_size=2),
            )
        }
    ),
    record({"inlineData": _blobs}, videoMetadata=record({}, fps=st.integers(1, 9))),
    record({"fileData": _files}),
    record({"executableCode": record({"code": words, "language": st.just("PYTHON")})}),
    record({"codeExecutionResult": record({"outcome": st.just("OUTCOME_OK"), "output": words})}),
)
google = record({"role": st.sampled_from(["user", "model"]), "parts": st.lists(_google_parts, max_size=4)})

SHAPES = {
    "strands": strands,
    "koog-0.8": koog_0_8,
    "koog-1": koog_1,
    "openai": openai,
    "langchain": langchain,
    "google": google,
    "openai-responses": agent_shapes.responses,
    "pydantic-ai": agent_shapes.pydantic_ai,
    **export_shapes.EXPORTS,
}
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
