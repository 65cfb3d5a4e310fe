"""Contents as messages of LangChain, for its `messages_from_dict`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from streambank_client.formats import media
from streambank_client.formats.conversion import JSON, Converted, Reason, Restored
from streambank_client.formats.openai_back import as_text
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
    signature,
)


def from_contents(contents: Iterable[Converted | Mapping[str, Any]]) -> Restored:
    """Return Contents as LangChain's message dicts, and what of them these cannot say.

    A Content with results of tools becomes a message for each of them; the first message has the id.

    Raises:
        ValueError: a field is of a wrong type; names Content and field.
    """
    return restore(contents, _messages, keeps=("message_id",))


def _messages(content: Readable) -> list[JSON]:
    messages = _ai(content) if content.role == "model" else _human(content)
    if messages and content.message_id:
        messages[0]["data"]["id"] = content.message_id
    return messages


def _ai(content: Readable) -> list[JSON]:
    blocks: list[JSON] = []
    calls: list[JSON] = []
    for at, part in enumerate(content.parts):
        if kind_of(part.value) == "functionCall":
            calls += _call(content, at, part)
            continue
        found = _block(content, at, part)
        if found and calls:
            content.drop(Reason.REWRITTEN, kind="order", at=at)
        blocks += found
    said = {"content": _said(blocks), **({"tool_calls": calls} if calls else {})}
    return [{"type": "ai", "data": said}] if blocks or calls else []


def _human(content: Readable) -> list[JSON]:
    messages: list[JSON] = []
    run: list[JSON] = []
    for at, part in enumerate(content.parts):
        if kind_of(part.value) == "functionResponse":
            messages += [*_spoken(run), *_tool(content, at, part)]
            run = []
        else:
            run += _block(content, at, part)
    return [*messages, *_spoken(run)]


def _spoken(run: list[JSON]) -> list[JSON]:
    return [{"type": "human", "data": {"content": _said(run)}}] if run else []


def _said(blocks: list[JSON]) -> Any:
    is_plain = len(blocks) == 1 and blocks[0]["type"] == "text"
    return blocks[0]["text"] if is_plain else blocks or ""


def _call(content: Readable, at: int, part: Node) -> list[JSON]:
    found = call(content, at, part)
    if not found.id:
        content.drop(Reason.NO_ID, kind="functionCall", at=at)
        return []
    return [{"name": found.name, "args": found.args, "id": found.id, "type": "tool_call"}]


def _tool(content: Readable, at: int, part: Node) -> list[JSON]:
    found = outcome(content, at, part, is_named=True)
    if not found.id:
        content.drop(Reason.NO_ID, kind="functionResponse", at=at)
        return []
    text = as_text(content, at, found.output)
    shown = [one for media_part in found.parts for one in _block(content, at, media_part)]
    blocks = [*([{"type": "text", "text": text}] if text else []), *shown]
    status = "error" if found.is_error else "success"
    named = {"name": found.name} if found.name else {}
    return [{"type": "tool", "data": {"content": _said(blocks), "tool_call_id": found.id, "status": status, **named}}]


def _block(content: Readable, at: int, part: Node) -> list[JSON]:
    kind = kind_of(part.value)
    if kind == "text":
        return [_reasoning(content, at, part) if part.get("thought") else _text(content, at, part)]
    if kind in MEDIA:
        return [_media(content, at, media_of(content, at, part))]
    content.drop(Reason.UNSUPPORTED, kind=kind, at=at)
    return []


def _text(content: Readable, at: int, part: Node) -> JSON:
    leave_rest(content, at, part)
    return {"type": "text", "text": part.text("text")}


def _reasoning(content: Readable, at: int, part: Node) -> JSON:
    leave_rest(content, at, part, "thoughtSignature")
    signed = signature(content, at, part)
    return {
        "type": "reasoning",
        "reasoning": part.text("text"),
        **({"extras": {"signature": signed}} if signed else {}),
    }


def _media(content: Readable, at: int, found: Media) -> JSON:
    """Return media as the blocks that most integrations read: images as OpenAI's, all else as LangChain's own."""
    kind, _ = media.kind_and_format(found.mime)
    content.ledger.leave(["displayName"] if found.name else [], at=at, of=found.kind)
    if kind == "image":
        url = found.uri or media.data_url(found.mime, found.base64)
        return {"type": "image_url", "image_url": {"url": url}}
    where = {"url": found.uri} if found.uri else {"base64": found.base64}
    return {"type": "file" if kind == "document" else kind, **where, "mime_type": found.mime}
