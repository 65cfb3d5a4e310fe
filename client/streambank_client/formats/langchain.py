"""Messages of LangChain, as its `message_to_dict` writes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from streambank_client.formats import arguments, media
from streambank_client.formats.conversion import DEFAULTS, JSON, Conversion, Options, Reason
from streambank_client.formats.draft import Draft, convert
from streambank_client.formats.openai import MEDIA as OPENAI_MEDIA
from streambank_client.formats.openai import media_part
from streambank_client.formats.outputs import Output
from streambank_client.formats.reading import Node, wrong_type
from streambank_client.formats.tool_names import ToolNames

_CHUNKS = {
    "HumanMessageChunk": "human",
    "AIMessageChunk": "ai",
    "SystemMessageChunk": "system",
    "ToolMessageChunk": "tool",
}
_ROLES = {"human": "user", "ai": "model", "tool": "user"}
_MEDIA = {"image": "image", "audio": "audio", "video": "video", "file": "document", "text-plain": "document"}


def to_contents(
    messages: Iterable[Any], *, options: Options = DEFAULTS, tool_names: ToolNames | None = None
) -> Conversion:
    """Return the Contents of LangChain messages; *message_id* is the id that they have, if they have one.

    Raises:
        ValueError: a field is of a wrong type; names message and field.
    """
    return convert(messages, _message, options=options, tool_names=tool_names)


def _message(draft: Draft) -> None:
    kind, data = draft.source.text("type"), draft.source.object("data")
    role = _CHUNKS.get(kind, kind)
    draft.message_id = data.maybe_text("id")
    if not draft.begin(role, _ROLES):
        return
    if role != kind:
        draft.drop(Reason.REWRITTEN, kind=kind)
    draft.leave(draft.source.others("type", "data"))
    if role == "tool":
        _tool(draft, data)
    else:
        _spoken(draft, data)


def _spoken(draft: Draft, data: Node) -> None:
    draft.leave(data.others("type", "id", "content", "tool_calls", "invalid_tool_calls"))
    calls = [*data.nodes("tool_calls"), *data.nodes("invalid_tool_calls")]
    known = {call.maybe_text("id") for call in calls}
    for at, block in enumerate(_blocks(data)):
        _block(draft, at, block, known)
    for at, call in enumerate(calls):
        _call(draft, at, call)


def _blocks(data: Node) -> list[Node]:
    """Return a message's content as blocks; text may also stand in the list by itself."""
    value, path = data.get("content"), f"{data.path}.content"
    if isinstance(value, str):
        value = [value] if value else []
    elif value is not None and not isinstance(value, list):
        raise wrong_type(data, "content", "a string or a list")
    return [
        Node({"type": "text", "text": item} if isinstance(item, str) else item, f"{path}[{at}]")
        for at, item in enumerate(value or [])
    ]


def _block(draft: Draft, at: int, block: Node, known: set[str | None]) -> None:
    kind = block.text("type")
    if kind == "text":
        draft.leave(block.others("type", "text"), at=at, of=kind)
        draft.text(block.text("text"), at=at)
    elif kind in ("reasoning", "thinking", "redacted_thinking"):
        _reasoning(draft, at, block, kind)
    elif kind in ("tool_use", "tool_call"):
        _call_block(draft, at, block, known)
    else:
        _other(draft, at, block, kind)


def _other(draft: Draft, at: int, block: Node, kind: str) -> None:
    if is_media(block):
        draft.media(_media(draft, at, block), at=at, kind=kind)
    else:
        draft.drop(Reason.UNSUPPORTED, kind=kind or "block", at=at)


def _reasoning(draft: Draft, at: int, block: Node, kind: str) -> None:
    """Read reasoning as LangChain writes it, or thinking as Anthropic does."""
    if kind == "redacted_thinking":
        draft.drop(Reason.REASONING, kind=kind, at=at)
        return
    signature = block.maybe_text("signature") or block.object("extras").maybe_text("signature")
    draft.leave(block.others("type", kind, "signature", "extras"), at=at, of=kind)
    draft.leave(block.object("extras").others("signature"), at=at, of="extras")
    if kind == "thinking" or block.get("signature"):
        draft.drop(Reason.REWRITTEN, kind=kind, at=at)
    draft.thought(block.text(kind), signature, at=at, kind=kind)


# ---- tools


def _call(draft: Draft, at: int, call: Node) -> None:
    """Keep a call; the arguments of an invalid one are text."""
    draft.leave(call.others("id", "name", "args", "type"), at=at, of="tool_calls")
    args = call.value.get("args", {})
    given = (arguments.of_text(args)[0], False) if isinstance(args, str) else arguments.of_value(args)
    draft.call(call.text("name"), given, call.maybe_text("id"), at=at, kind="tool_calls")


def _call_block(draft: Draft, at: int, block: Node, known: set[str | None]) -> None:
    """Keep a call that stands in the content, unless it is among the message's calls, where it stands as a rule."""
    call_id, kind = block.maybe_text("id"), block.text("type")
    if call_id in known:
        draft.drop(Reason.REPEATED, kind=kind, at=at)
        return
    draft.leave(block.others("id", "name", "args", "input", "type"), at=at, of=kind)
    draft.drop(Reason.REWRITTEN, kind=kind, at=at)
    given = arguments.of_value(block.value.get("args", block.value.get("input", {})))
    draft.call(block.text("name"), given, call_id, at=at, kind=kind)


def _tool(draft: Draft, data: Node) -> None:
    draft.leave(data.others("type", "id", "content", "tool_call_id", "name", "status"))
    output = Output(draft, at=None, kind="tool")
    for block in _blocks(data):
        kind = block.text("type")
        if kind == "text":
            output.text(block.text("text"))
        elif kind == "json":
            output.json(block.get("json"))
        elif is_media(block):
            output.media(_media(draft, None, block))
        else:
            draft.drop(Reason.UNSUPPORTED, kind=kind or "block")
    call_id, is_error = data.maybe_text("tool_call_id"), data.text("status") == "error"
    draft.result(
        data.text("name"), output.value(), call_id, at=None, kind="tool", is_error=is_error, parts=output.parts
    )


# ---- media


def is_media(block: Node) -> bool:
    return block.text("type") in (*_MEDIA, *OPENAI_MEDIA)


def _media(draft: Draft, at: int | None, block: Node) -> JSON | None:
    """Read media in the spellings there are: OpenAI's, LangChain's two, Anthropic's."""
    kind = block.text("type")
    if kind in block.value and kind in OPENAI_MEDIA:
        return media_part(draft, at, block)
    source = block.node("source") or block
    draft.leave(source.others(*_MEDIA_FIELDS), at=at, of=kind)
    if source is not block or not _is_plain(source, kind):
        draft.drop(Reason.REWRITTEN, kind=kind, at=at)
    return _from_source(draft, at, kind, source)


def _is_plain(block: Node, kind: str) -> bool:
    """Tell whether the way back would write a block like this one."""
    is_own = kind in ("audio", "video", "file") and not block.others("type", "base64", "url", "mime_type")
    mime = block.text("mime_type")
    return is_own and bool(mime) and media.kind_and_format(mime)[0] == _MEDIA[kind]


_MEDIA_FIELDS = ("type", "source_type", "mime_type", "media_type", "base64", "data", "url", "text", "file_id", "id")


def _from_source(draft: Draft, at: int | None, kind: str, source: Node) -> JSON | None:
    url = source.text("url")
    mime = source.text("mime_type") or source.text("media_type") or media.guessed(url, _MEDIA.get(kind))
    data = source.get("base64") or source.get("data")
    text = source.text("text")
    if data or text:
        value = data or text.encode(errors="surrogatepass")
        return draft.inline(value, mime if data else "text/plain", at=at, kind=kind)
    if url:
        return draft.linked(url, mime, at=at, kind=kind)
    has_id = source.get("file_id") or source.get("id")
    draft.drop(Reason.NO_ADDRESS if has_id else Reason.MALFORMED, kind=kind, at=at)
    return None
