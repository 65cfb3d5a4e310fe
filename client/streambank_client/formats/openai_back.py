"""Contents as messages of OpenAI's chat completions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from streambank_client.formats import arguments, media
from streambank_client.formats.conversion import JSON, Converted, Reason, Restored
from streambank_client.formats.parts import kind_of
from streambank_client.formats.reading import Node
from streambank_client.formats.restoring import (
    MEDIA,
    Media,
    Readable,
    call,
    leave_rest,
    media_of,
    outcome,
    restore,
)


def from_contents(contents: Iterable[Converted | Mapping[str, Any]]) -> Restored:
    """Return Contents as chat messages, and what of them such messages cannot say.

    A Content with results of tools becomes a message for each of them.

    Raises:
        ValueError: a field is of a wrong type; names Content and field.
    """
    return restore(contents, _messages)


def _messages(content: Readable) -> list[JSON]:
    return _assistant(content) if content.role == "model" else _user(content)


def _assistant(content: Readable) -> list[JSON]:
    blocks: list[JSON] = []
    calls: list[JSON] = []
    for at, part in enumerate(content.parts):
        if kind_of(part.value) == "functionCall":
            calls += _call(content, at, part)
            continue
        found = block(content, at, part)
        if found and calls:
            content.drop(Reason.REWRITTEN, kind="order", at=at)
        blocks += found
    if not blocks and not calls:
        return []
    return [{"role": "assistant", "content": said(blocks), **({"tool_calls": calls} if calls else {})}]


def _user(content: Readable) -> list[JSON]:
    messages: list[JSON] = []
    run: list[JSON] = []
    for at, part in enumerate(content.parts):
        if kind_of(part.value) == "functionResponse":
            messages += [*_spoken(run), *_tool(content, at, part)]
            run = []
        else:
            run += block(content, at, part)
    return [*messages, *_spoken(run)]


def _spoken(run: list[JSON]) -> list[JSON]:
    return [{"role": "user", "content": said(run)}] if run else []


def said(blocks: list[JSON]) -> Any:
    """Return content as it is usually written: one text as a string, none as null, else the blocks."""
    is_plain = len(blocks) == 1 and blocks[0]["type"] == "text"
    return blocks[0]["text"] if is_plain else blocks or None


def _call(content: Readable, at: int, part: Node) -> list[JSON]:
    found = call(content, at, part)
    if not found.id:
        content.drop(Reason.NO_ID, kind="functionCall", at=at)
        return []
    function = {"name": found.name, "arguments": arguments.text(found.args)}
    return [{"id": found.id, "type": "function", "function": function}]


def _tool(content: Readable, at: int, part: Node) -> list[JSON]:
    found = outcome(content, at, part, is_named=False)
    if not found.id:
        content.drop(Reason.NO_ID, kind="functionResponse", at=at)
        return []
    if found.is_error:
        content.drop(Reason.REWRITTEN, kind="functionResponse.error", at=at)
    shown = [one for media_part in found.parts for one in block(content, at, media_part)]
    text = as_text(content, at, found.output)
    blocks = [*([{"type": "text", "text": text}] if text else []), *shown]
    return [{"role": "tool", "tool_call_id": found.id, "content": said(blocks) or ""}]


def as_text(content: Readable, at: int, output: Any) -> str:
    """Return a tool's output as text; JSON cannot be told from text any more."""
    if isinstance(output, str):
        return output
    content.drop(Reason.REWRITTEN, kind="functionResponse", at=at)
    return arguments.text(output)


def block(content: Readable, at: int, part: Node) -> list[JSON]:
    """Return a part as a block of a message, or nothing and a note."""
    kind = kind_of(part.value)
    if kind == "text" and not part.get("thought"):
        leave_rest(content, at, part)
        return [{"type": "text", "text": part.text("text")}]
    found = _media(media_of(content, at, part)) if kind in MEDIA else None
    if found is None:
        content.drop(Reason.UNSUPPORTED, kind="thought" if part.get("thought") else kind, at=at)
        return []
    return [found]


def _media(found: Media) -> JSON | None:
    kind, form = media.kind_and_format(found.mime)
    if kind == "image" and not found.name:
        url = found.uri or media.data_url(found.mime, found.base64)
        return {"type": "image_url", "image_url": {"url": url}}
    if not found.base64:
        return None
    if form in ("wav", "mp3") and not found.name:
        return {"type": "input_audio", "input_audio": {"data": found.base64, "format": form}}
    named = {"filename": found.name} if found.name else {}
    return {"type": "file", "file": {"file_data": media.data_url(found.mime, found.base64), **named}}
