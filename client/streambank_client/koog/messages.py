"""Messages of any framework, read as a role and a text."""

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

# Media are not text to remember, and encoding them before each call would take long. A text of any length is read: the
# storage refuses what is too long for it.
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
    """A message of a prompt: *role* is system, user, assistant or tool; *raw* is the caller's own object.

    *message_id* and *time* are None if the message does not have them.
    """

    role: str
    text: str
    raw: Any = None
    message_id: str | None = None
    time: datetime | None = None


@dataclass(frozen=True, slots=True)
class ConversationMessage:
    """A message for extraction; *id* is the same whenever the same message is delivered again."""

    role: str
    text: str
    id: str
    time: datetime
    raw: Any = None


def digest(text: str) -> str:
    """Return a short hash of a text, to be used together with other parts of an id."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:8]


def read_messages(messages: Sequence[Any], message_format: Format) -> list[PromptMessage]:
    """Return all *messages*, dicts or objects of a framework, in their order.

    Raises:
        ValueError: a field has a wrong type; the error names message and field, and quotes nothing.
    """
    documents = [_document(message, message_format) for message in messages]
    contents = formats.to_contents(documents, message_format, options=_OPTIONS).contents
    by_index = {content.index: content for content in contents}
    return [_prompt_message(message, documents[at], by_index.get(at)) for at, message in enumerate(messages)]


def _prompt_message(message: Any, document: Mapping[str, Any], converted: Converted | None) -> PromptMessage:
    role = _role(document)
    if converted is None:
        return PromptMessage(role, "", message, _own_id(document))
    message_id = converted.message_id or _own_id(document)
    return PromptMessage(role, _text(converted.content, role), message, message_id, converted.time)


def read_reply(reply: Any, message_format: Format) -> list[PromptMessage]:
    """Return the messages of a model's reply: a text, a message, several messages, or OpenAI's whole reply.

    Raises:
        ValueError: it is none of these.
    """
    if reply is None:
        return []
    if isinstance(reply, str):
        return [PromptMessage("assistant", reply, reply)]
    choices = _field(reply, "choices")
    if choices:
        return read_messages([_field(choices[0], "message")], message_format)
    return read_messages(list(reply) if isinstance(reply, list | tuple) else [reply], message_format)


def read_frame(frame: Any) -> str:
    """Return the text of a frame of a stream: a string, a chunk of OpenAI, or an object with a text as its content.

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
    raise TypeError(f"a frame of type {type(frame).__name__} is unknown: give LongTermMemory a frame_text")


def _document(message: Any, message_format: Format) -> Any:
    """Return a message as a dict; most frameworks use pydantic objects."""
    document = message.model_dump(exclude_none=True) if hasattr(message, "model_dump") else message
    if message_format == "langchain" and isinstance(document, Mapping) and "data" not in document:
        return {"type": document.get("type"), "data": document}
    return document


def _own_id(document: Mapping[str, Any]) -> str | None:
    """Return the `id` of a message with a role; without a role it may be the id of a tool call."""
    own_id = document.get("id") if "role" in document else None
    return own_id if isinstance(own_id, str) and own_id else None


def _role(document: Mapping[str, Any]) -> str:
    """Return the role of a message, as OpenAI names it; Koog has the names of classes."""
    role = str(document.get("role") or document.get("type") or "user")
    name = role.rpartition(".")[2].lower().removesuffix("messagechunk")
    return _ROLES.get(name, name)


def _text(content: Mapping[str, Any], role: str) -> str:
    """Return the text of a Content, one part a line; a tool's message includes the tool's response."""
    parts = [part for part in content["parts"] if not part.get("thought")]
    texts = [part["text"] for part in parts if part.get("text")]
    if role == "tool":
        texts += map(_tool_text, (part["functionResponse"]["response"] for part in parts if "functionResponse" in part))
    return "\n".join(texts)


def _tool_text(response: Mapping[str, Any]) -> str:
    output = response.get("output", response)
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
