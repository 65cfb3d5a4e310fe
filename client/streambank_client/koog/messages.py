"""Messages of any framework as memory sees them: who spoke, and what."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from streambank_client import formats
from streambank_client.formats import Converted, Format, Options

# A prompt's media are no words to remember, and encoding them before each call would take long. A text of any length is
# read: the storage says what is too long for it.
_OPTIONS = Options(include_system=True, system_prefix="", max_inline_bytes=0, max_content_bytes=sys.maxsize)
_ROLES = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "call": "assistant",
    "reasoning": "assistant",
    "developer": "system",
    "function": "tool",
    "result": "tool",
}


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """A message as it was read: *role* is system, user, assistant or tool; *raw* is the caller's own object.

    *message_id* and *time* are there where the message has them itself.
    """

    role: str
    text: str
    raw: Any = None
    message_id: str | None = None
    time: datetime | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """A message as extraction sees it; *id* is the same whenever the same message is delivered again."""

    role: str
    text: str
    id: str
    time: datetime
    raw: Any = None


def digest(text: str) -> str:
    """Return a few digits that stand for a text beside what else tells it apart."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:8]


def read(messages: Sequence[Any], form: Format) -> list[PromptMessage]:
    """Return *messages*, dicts or the objects of a framework, in order and each of them.

    Raises:
        ValueError: a field is of a wrong type; names message and field, and quotes nothing.
    """
    documents = [_document(message, form) for message in messages]
    converted = formats.to_contents(documents, form, options=_OPTIONS).contents
    found = {one.index: one for one in converted}
    return [_read(message, documents[at], found.get(at)) for at, message in enumerate(messages)]


def _read(message: Any, document: Mapping[str, Any], converted: Converted | None) -> PromptMessage:
    role = _role(document)
    if converted is None:
        return PromptMessage(role, "", message, _own_id(document))
    message_id = converted.message_id or _own_id(document)
    return PromptMessage(role, _text(converted.content, role), message, message_id, converted.time)


def read_reply(reply: Any, form: Format) -> list[PromptMessage]:
    """Return what a model answered: a text, a message, several, or OpenAI's whole reply.

    Raises:
        ValueError: it is none of these.
    """
    if reply is None:
        return []
    if isinstance(reply, str):
        return [PromptMessage("assistant", reply, reply)]
    choices = _field(reply, "choices")
    if choices:
        return read([_field(choices[0], "message")], form)
    return read(list(reply) if isinstance(reply, list | tuple) else [reply], form)


def read_frame(frame: Any) -> str:
    """Return the text of one frame of a stream: a string, a chunk of OpenAI's, or one with a text as its content.

    Raises:
        TypeError: it is none of these.
    """
    if isinstance(frame, str):
        return frame
    choices = _field(frame, "choices")
    if choices is not None:
        return _field(_field(choices[0], "delta"), "content") or "" if choices else ""
    content = _field(frame, "content")
    if isinstance(content, str):
        return content
    raise TypeError(f"a frame of type {type(frame).__name__} is not known: give LongTermMemory a frame_text")


def _document(message: Any, form: Format) -> Any:
    """Return a message as a dict: pydantic's objects, which most frameworks use, say how they are one."""
    document = message.model_dump(exclude_none=True) if hasattr(message, "model_dump") else message
    if form == "langchain" and isinstance(document, Mapping) and "data" not in document:
        return {"type": document.get("type"), "data": document}
    return document


def _own_id(document: Mapping[str, Any]) -> str | None:
    """Return the id that an application gave a message with a role; the `id` of other messages may be a tool call's."""
    given = document.get("id") if "role" in document else None
    return given if isinstance(given, str) and given else None


def _role(document: Mapping[str, Any]) -> str:
    """Return who speaks, as OpenAI names them; Koog's names are those of classes."""
    said = str(document.get("role") or document.get("type") or "user")
    name = said.rpartition(".")[2].lower().removesuffix("messagechunk")
    return _ROLES.get(name, name)


def _text(content: Mapping[str, Any], role: str) -> str:
    """Return what a Content says, one part a line; what a tool answered only where it speaks itself."""
    parts = [part for part in content["parts"] if not part.get("thought")]
    texts = [part["text"] for part in parts if part.get("text")]
    if role == "tool":
        texts += map(_answer, (part["functionResponse"]["response"] for part in parts if "functionResponse" in part))
    return "\n".join(texts)


def _answer(response: Mapping[str, Any]) -> str:
    output = response.get("output", response)
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
