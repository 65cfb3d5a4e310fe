"""Conversion of items of OpenAI's Responses to Contents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from streambank_client.formats import media, tool_arguments
from streambank_client.formats.content_builder import ContentBuilder, convert
from streambank_client.formats.conversion import DEFAULTS, JSON, Conversion, Options, Reason
from streambank_client.formats.node import Node, wrong_type
from streambank_client.formats.openai.media_blocks import read_media_block
from streambank_client.formats.openai_responses.item_types import CALLS, OUTPUTS, unique_id
from streambank_client.formats.tool_names import ToolNames
from streambank_client.formats.tool_output import ToolOutput

_ROLES = {"user": "user", "assistant": "model"}
_TEXTS = frozenset({"input_text", "output_text", "text"})
_MEDIA = frozenset({"input_image", "input_file", "input_audio"})


def to_contents(
    messages: Iterable[Any], *, options: Options = DEFAULTS, tool_names: ToolNames | None = None
) -> Conversion:
    """Return the Contents of items; *message_id* is the item's id, if it is its own.

    Raises:
        ValueError: a field is of a wrong type; names message and field.
    """
    return convert(messages, _convert_item, options=options, tool_names=tool_names)


def _convert_item(builder: ContentBuilder) -> None:
    item = builder.message
    kind = item.text("type") or "message"
    item.optional_text("id"), item.optional_text("call_id")
    builder.message_id = unique_id(item.value)
    if kind == "message":
        _add_message(builder)
    elif kind == "reasoning":
        _add_reasoning(builder)
    elif kind in CALLS:
        _add_call(builder, kind)
    elif kind in OUTPUTS:
        _add_output(builder, kind)
    else:
        builder.drop(Reason.UNKNOWN, kind=kind)


def _drop_other_fields(builder: ContentBuilder, *known: str) -> None:
    item = builder.message
    known = (*known, "status") if item.get("status") == "completed" else known
    known = known if item.get("id") and not builder.message_id else (*known, "id")
    builder.drop_fields(item.other_fields("type", *known))


# ---- messages


def _add_message(builder: ContentBuilder) -> None:
    if not builder.set_role(builder.message.text("role"), _ROLES):
        return
    _drop_other_fields(builder, "role", "content")
    for at, block in enumerate(_blocks(builder.message, "content")):
        _add_block(builder, at, block)


def _blocks(item: Node, name: str) -> list[Node]:
    """Return a content as blocks: a string is one text block; null and `""` are no blocks."""
    value = item.get(name)
    if isinstance(value, str):
        return [Node({"type": _text_type(item), "text": value}, f"{item.path}.{name}")] if value else []
    if value is not None and not isinstance(value, list):
        raise wrong_type(item, name, "a string or a list")
    return item.objects(name)


def _text_type(item: Node) -> str:
    return "output_text" if item.get("role") == "assistant" else "input_text"


def _add_block(builder: ContentBuilder, at: int, block: Node) -> None:
    kind = block.text("type")
    if kind in _TEXTS:
        builder.drop_fields(block.other_fields("type", "text"), at=at, of=kind)
        if kind != _text_type(builder.message):
            builder.drop(Reason.REWRITTEN, kind=kind, at=at)
        builder.add_text(block.text("text"), at=at, kind=kind)
    elif kind == "refusal":
        builder.drop(Reason.REWRITTEN, kind=kind, at=at)
        builder.add_text(block.text("refusal"), at=at, kind=kind)
    elif kind in _MEDIA:
        builder.add_media(_read_media(builder, at, block, kind), at=at, kind=kind)
    else:
        builder.drop(Reason.UNSUPPORTED, kind=kind or "block", at=at)


def _read_media(builder: ContentBuilder, at: int | None, block: Node, kind: str) -> JSON | None:
    if kind == "input_audio":
        return read_media_block(builder, at, block)
    names = ("image_url",) if kind == "input_image" else ("file_data", "file_url")
    field = next((name for name in names if block.text(name)), "")
    name = block.optional_text("filename") if kind == "input_file" else None
    if not field:
        has_id = bool(block.text("file_id"))
        builder.drop(Reason.NO_ADDRESS if has_id else Reason.MALFORMED, kind=kind, at=at)
        return None
    known = (field, "filename") if kind == "input_file" else (field,)
    builder.drop_fields(block.other_fields("type", *known), at=at, of=kind)
    part = _address_part(builder, at, block.text(field), kind, field, name)
    if part and not _is_restored(part, kind, name):
        builder.drop(Reason.REWRITTEN, kind=kind, at=at)
    return part


def _address_part(
    builder: ContentBuilder, at: int | None, address: str, kind: str, field: str, name: str | None
) -> JSON | None:
    """Return a file as a part: its address is a data: URL, base64 or a URL."""
    if media.is_data_url(address):
        if field == "file_url":
            builder.drop(Reason.REWRITTEN, kind=kind, at=at)
        return builder.data_url_part(address, at=at, kind=kind, name=name)
    if field == "file_data":
        builder.drop(Reason.REWRITTEN, kind=kind, at=at)
        return builder.inline_part(address, media.guess_mime_type(name or ""), at=at, kind=kind, name=name)
    mime = media.guess_mime_type(address, "image" if kind == "input_image" else None)
    return builder.url_part(address, mime, at=at, kind=kind, name=name)


def _is_restored(part: JSON, kind: str, name: str | None) -> bool:
    """Return whether `from_contents` makes the same kind of block of a part of media."""
    [blob] = part.values()
    main, format_name = media.kind_and_format(blob["mimeType"])
    is_image = main == "image" and not name
    is_audio = "data" in blob and format_name in ("wav", "mp3") and not name
    return is_image if kind == "input_image" else not is_image and not is_audio


# ---- reasoning and tools


def _add_reasoning(builder: ContentBuilder) -> None:
    item, builder.role = builder.message, "model"
    _drop_other_fields(builder, "summary", "content", "encrypted_content")
    blocks = [*item.objects("summary"), *item.objects("content")]
    texts = [block.text("text") for block in blocks if block.text("text").strip()]
    if len(blocks) > 1 or item.objects("content"):
        builder.drop(Reason.REWRITTEN, kind="reasoning")
    builder.add_thought("\n".join(texts), item.optional_text("encrypted_content"), at=None, kind="reasoning")


def _add_call(builder: ContentBuilder, kind: str) -> None:
    item, builder.role = builder.message, "model"
    field = "arguments" if kind == "function_call" else "input"
    _drop_other_fields(builder, "call_id", "name", field)
    args, is_exact = tool_arguments.from_text(item.text(field))
    arguments = args, is_exact and kind == "function_call"
    builder.add_call(item.text("name"), arguments, item.optional_text("call_id"), at=None, kind=kind)


def _add_output(builder: ContentBuilder, kind: str) -> None:
    item, builder.role = builder.message, "user"
    _drop_other_fields(builder, "call_id", "output")
    if kind != "function_call_output":
        builder.drop(Reason.REWRITTEN, kind=kind)
    output = ToolOutput(builder, at=None, kind=kind)
    for block in _blocks(item, "output"):
        block_kind = block.text("type")
        if block_kind in _TEXTS:
            output.add_text(block.text("text"))
        elif block_kind in _MEDIA:
            output.add_media(_read_media(builder, None, block, block_kind))
        else:
            builder.drop(Reason.UNSUPPORTED, kind=block_kind or "block")
    call_id = item.optional_text("call_id")
    builder.add_result("", output.value(), call_id, at=None, kind=kind, parts=output.parts)
