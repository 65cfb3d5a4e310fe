"""What windows must know of a message in any format: whether it instructs, and which tools it calls or answers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_SYSTEM_ROLES = frozenset({"system", "developer"})
_SYSTEM_TYPES = ("Message.System", "system", "SystemMessage", "SystemMessageChunk")
_TOOL_TYPES = frozenset({"tool", "ToolMessage", "ToolMessageChunk"})


@dataclass(frozen=True, slots=True)
class ToolPart:
    """A call of a tool, or a result; *at* is its place in the message's list of parts, None where it is all of it.

    Ids and names never meet in a *key*: what has an id is paired by the id, what has none by the tool's name.
    """

    is_result: bool
    key: tuple[str, str]
    at: int | None = None


def is_system(message: Any) -> bool:
    """Tell whether a message is an instruction to the model, in any of the formats."""
    if not isinstance(message, Mapping):
        return False
    kind = message.get("type")
    is_typed = isinstance(kind, str) and "role" not in message and kind.endswith(_SYSTEM_TYPES)
    return message.get("role") in _SYSTEM_ROLES or is_typed


def tool_parts(message: Any) -> list[ToolPart]:
    """Return a message's calls and results in their order; none of what is in no known format."""
    if not isinstance(message, Mapping):
        return []
    return [*_whole(message), *_openai(message), *_listed(message, "content"), *_listed(message, "parts")]


def without(message: Mapping[str, Any], places: Collection[int | None]) -> dict[str, Any] | None:
    """Return a message without the parts at *places*, or None if nothing is left of it."""
    if None in places:
        return None
    name = "content" if isinstance(message.get("content"), list) else "parts"
    left = [part for at, part in enumerate(message[name]) if at not in places]
    return {**message, name: left} if left else None


def _key(call_id: Any, name: Any) -> tuple[str, str]:
    return ("id", call_id) if isinstance(call_id, str) and call_id else ("name", str(name or ""))


# ---- messages that are a call or a result


def _whole(message: Mapping[str, Any]) -> Iterator[ToolPart]:
    """Yield what a message is by its role or class: Koog 0.8's, OpenAI's and LangChain's results."""
    kind = message.get("type")
    if isinstance(kind, str) and kind.endswith(("Message.Tool.Call", "Message.Tool.Result")):
        yield ToolPart(kind.endswith("Result"), _key(message.get("id"), message.get("tool")))
    elif message.get("role") in ("tool", "function"):
        yield ToolPart(True, _key(message.get("tool_call_id"), message.get("name")))
    elif isinstance(data := message.get("data"), Mapping):
        yield from _langchain(str(kind), data)


def _langchain(kind: str, data: Mapping[str, Any]) -> Iterator[ToolPart]:
    if kind in _TOOL_TYPES:
        yield ToolPart(True, _key(data.get("tool_call_id"), data.get("name")))
    for call in _objects(data.get("tool_calls")):
        yield ToolPart(False, _key(call.get("id"), call.get("name")))


def _openai(message: Mapping[str, Any]) -> Iterator[ToolPart]:
    """Yield the calls beside an assistant's content, the single one of old included."""
    for call in _objects(message.get("tool_calls")):
        yield ToolPart(False, _key(call.get("id"), _object(call.get("function")).get("name")))
    if function := _object(message.get("function_call")):
        yield ToolPart(False, _key(None, function.get("name")))


# ---- parts of a message


def _listed(message: Mapping[str, Any], name: str) -> Iterator[ToolPart]:
    listed = message.get(name)
    for at, part in enumerate(listed if isinstance(listed, list) else ()):
        found = _part(part) if isinstance(part, Mapping) else None
        if found:
            yield ToolPart(found[0], found[1], at)


def _part(part: Mapping[str, Any]) -> tuple[bool, tuple[str, str]] | None:
    """Return whether a part is a result, and its key: Koog 1's by its class, the others' by the field that they are."""
    kind = part.get("type")
    if isinstance(kind, str) and kind.endswith(("MessagePart.Tool.Call", "MessagePart.Tool.Result")):
        return kind.endswith("Result"), _key(part.get("id"), part.get("tool"))
    for name, (is_result, id_name) in _FIELDS.items():
        if isinstance(inner := part.get(name), Mapping):
            return is_result, _key(inner.get(id_name), inner.get("name"))
    return None


# Strands', then Google's in both spellings.
_FIELDS = {
    "toolUse": (False, "toolUseId"),
    "toolResult": (True, "toolUseId"),
    "functionCall": (False, "id"),
    "functionResponse": (True, "id"),
    "function_call": (False, "id"),
    "function_response": (True, "id"),
}


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
