"""Messages of OpenAI's chat completions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from streambank_client.formats import arguments, media
from streambank_client.formats.conversion import DEFAULTS, JSON, Conversion, Options, Reason
from streambank_client.formats.draft import Draft, convert
from streambank_client.formats.outputs import Output
from streambank_client.formats.reading import Node, wrong_type
from streambank_client.formats.tool_names import ToolNames

_ROLES = {"user": "user", "assistant": "model", "tool": "user"}


def to_contents(
    messages: Iterable[Any], *, options: Options = DEFAULTS, tool_names: ToolNames | None = None
) -> Conversion:
    """Return the Contents of chat messages; they have neither ids nor times.

    Raises:
        ValueError: a field is of a wrong type; names message and field.
    """
    return convert(messages, _message, options=options, tool_names=tool_names)


def _message(draft: Draft) -> None:
    source = draft.source
    if not draft.begin(source.text("role"), _ROLES):
        return
    if source.text("role") == "tool":
        _tool(draft)
        return
    draft.leave(source.others("role", "content", "tool_calls", "refusal"))
    for at, block in enumerate(blocks(source)):
        _block(draft, at, block)
    if source.text("refusal"):
        _refusal(draft, None, source)
    for at, call in enumerate(source.nodes("tool_calls")):
        _call(draft, at, call)


def blocks(source: Node, name: str = "content") -> list[Node]:
    """Return a message's content as blocks: text alone is one, null and `""` are none."""
    value = source.get(name)
    if isinstance(value, str):
        return [Node({"type": "text", "text": value}, f"{source.path}.{name}")] if value else []
    if value is not None and not isinstance(value, list):
        raise wrong_type(source, name, "a string or a list")
    return source.nodes(name)


def _block(draft: Draft, at: int, block: Node) -> None:
    kind = block.text("type")
    if kind == "text":
        draft.leave(block.others("type", "text"), at=at, of=kind)
        draft.text(block.text("text"), at=at)
    elif kind == "refusal":
        _refusal(draft, at, block)
    elif kind in MEDIA:
        draft.media(media_part(draft, at, block), at=at, kind=kind)
    else:
        draft.drop(Reason.UNSUPPORTED, kind=kind or "block", at=at)


def _refusal(draft: Draft, at: int | None, holder: Node) -> None:
    draft.drop(Reason.REWRITTEN, kind="refusal", at=at)
    draft.text(holder.text("refusal"), at=at, kind="refusal")


# ---- tools


def _call(draft: Draft, at: int, call: Node) -> None:
    function = call.node("function")
    if function is None:
        draft.drop(Reason.UNSUPPORTED, kind=call.text("type") or "tool_calls", at=at)
        return
    draft.leave(call.others("id", "type", "function"), at=at, of="tool_calls")
    given = arguments.of_text(function.text("arguments"))
    draft.call(function.text("name"), given, call.maybe_text("id"), at=at, kind="tool_calls")


def _tool(draft: Draft) -> None:
    source = draft.source
    draft.leave(source.others("role", "content", "tool_call_id", "name"))
    output = Output(draft, at=None, kind="tool")
    for block in blocks(source):
        kind = block.text("type")
        if kind == "text":
            output.text(block.text("text"))
        elif kind in MEDIA:
            output.media(media_part(draft, None, block))
        else:
            draft.drop(Reason.UNSUPPORTED, kind=kind or "block")
    call_id = source.maybe_text("tool_call_id")
    draft.result(source.text("name"), output.value(), call_id, at=None, kind="tool", parts=output.parts)


# ---- media


def media_part(draft: Draft, at: int | None, block: Node) -> JSON | None:
    """Return a block of media as a part, or None and a note."""
    kind = block.text("type")
    draft.leave(block.others("type", kind), at=at, of=kind)
    return MEDIA[kind](draft, at, block)


def _image(draft: Draft, at: int | None, block: Node) -> JSON | None:
    """Read an image: an object with a URL, or the URL itself, as LangChain allows."""
    if isinstance(block.get("image_url"), str):
        url = block.text("image_url")
        draft.drop(Reason.REWRITTEN, kind="image_url", at=at)
    else:
        image = block.object("image_url")
        draft.leave(image.others("url"), at=at, of="image_url")
        url = image.text("url")
    if media.is_data_url(url):
        if not url[5:].startswith("image/"):
            draft.drop(Reason.REWRITTEN, kind="image_url", at=at)
        return draft.opened(url, at=at, kind="image_url")
    return draft.linked(url, media.guessed(url, "image"), at=at, kind="image_url")


def _audio(draft: Draft, at: int | None, block: Node) -> JSON | None:
    audio = block.object("input_audio")
    form = audio.text("format")
    if not media.comes_back("audio", form):
        draft.drop(Reason.REWRITTEN, kind="input_audio.format", at=at)
    draft.leave(audio.others("data", "format"), at=at, of="input_audio")
    return draft.inline(audio.text("data"), media.mime_type("audio", form), at=at, kind="input_audio")


def _file(draft: Draft, at: int | None, block: Node) -> JSON | None:
    """Read a file: its data as a data: URL, or as bare base64; one that is only an id has no address."""
    file = block.object("file")
    name, data = file.maybe_text("filename"), file.text("file_data")
    if not data:
        has_id = bool(file.text("file_id"))
        draft.drop(Reason.NO_ADDRESS if has_id else Reason.MALFORMED, kind="file", at=at)
        return None
    draft.leave(file.others("file_data", "filename"), at=at, of="file")
    is_url = media.is_data_url(data)
    if not is_url or (not name and data[5:].startswith(("image/", "audio/"))):
        draft.drop(Reason.REWRITTEN, kind="file", at=at)
    if is_url:
        return draft.opened(data, at=at, kind="file", name=name)
    return draft.inline(data, media.guessed(name or ""), at=at, kind="file", name=name)


MEDIA: dict[str, Callable[[Draft, int | None, Node], JSON | None]] = {
    "image_url": _image,
    "input_audio": _audio,
    "file": _file,
}
