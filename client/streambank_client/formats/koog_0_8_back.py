"""Contents as messages of Koog 0.7 and 0.8."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from streambank_client.formats import arguments
from streambank_client.formats.conversion import JSON, Converted, Reason, Restored
from streambank_client.formats.koog import PACKAGE, attachment_of, meta_of
from streambank_client.formats.openai_back import as_text
from streambank_client.formats.parts import kind_of
from streambank_client.formats.reading import Node
from streambank_client.formats.restoring import (
    MEDIA,
    Readable,
    call,
    leave_rest,
    media_of,
    outcome,
    restore,
    signature,
)

_OWN = ("functionCall", "functionResponse", "thought")


def from_contents(contents: Iterable[Converted | Mapping[str, Any]]) -> Restored:
    """Return Contents as Koog's messages, and what of them these cannot say.

    Calls, results and thoughts become messages of their own, in the order of the parts. Where no time is known, the
    timestamp is Koog's own for that; the first message of a Content has its id.

    Raises:
        ValueError: a field is of a wrong type; names Content and field.
    """
    return restore(contents, _messages, keeps=("message_id", "time"))


def _messages(content: Readable) -> list[JSON]:
    messages: list[JSON] = []
    for _, run in groupby(enumerate(content.parts), key=lambda pair: _own(*pair)):
        messages += _run(content, list(run))
    return [
        {**message, "metaInfo": meta_of(content.time, None if place else content.message_id)}
        for place, message in enumerate(messages)
    ]


def _own(at: int, part: Node) -> int:
    """Return what tells runs apart: parts that are a message of their own, each by its place, and all others."""
    return at if _kind(part) in _OWN else -1


def _kind(part: Node) -> str:
    kind = kind_of(part.value)
    return "thought" if kind == "text" and part.get("thought") else kind


def _run(content: Readable, run: list[tuple[int, Node]]) -> list[JSON]:
    at, part = run[0]
    kind = _kind(part)
    if kind == "functionCall":
        return [_call(content, at, part)]
    if kind == "functionResponse":
        return [_result(content, at, part)]
    if kind == "thought":
        return [_thought(content, at, part)]
    parts = [found for at, part in run if (found := _part(content, at, part))]
    name = "Assistant" if content.role == "model" else "User"
    return [{"type": f"{PACKAGE}Message.{name}", "parts": parts}] if parts else []


def _part(content: Readable, at: int, part: Node) -> JSON | None:
    kind = kind_of(part.value)
    if kind == "text":
        leave_rest(content, at, part)
        return {"type": "text", "text": part.text("text")}
    if kind in MEDIA:
        found = attachment_of(content, at, media_of(content, at, part))
        return {"type": f"{PACKAGE}ContentPart.{found[0]}", **found[1]} if found else None
    content.drop(Reason.UNSUPPORTED, kind=kind, at=at)
    return None


def _call(content: Readable, at: int, part: Node) -> JSON:
    found = call(content, at, part)
    text = {"text": arguments.text(found.args)}
    return {"type": f"{PACKAGE}Message.Tool.Call", "id": found.id, "tool": found.name, "parts": [text]}


def _result(content: Readable, at: int, part: Node) -> JSON:
    found = outcome(content, at, part, is_named=True)
    if found.is_error:
        content.drop(Reason.REWRITTEN, kind="functionResponse.error", at=at)
    if found.parts:
        content.drop(Reason.UNSUPPORTED, kind="functionResponse.parts", at=at)
    text = as_text(content, at, found.output)
    parts = [{"text": text}] if text else []
    return {"type": f"{PACKAGE}Message.Tool.Result", "id": found.id, "tool": found.name, "parts": parts}


def _thought(content: Readable, at: int, part: Node) -> JSON:
    leave_rest(content, at, part, "thoughtSignature")
    signed = signature(content, at, part)
    said = {"encrypted": signed} if signed else {}
    return {"type": f"{PACKAGE}Message.Reasoning", **said, "parts": [{"text": part.text("text")}]}
