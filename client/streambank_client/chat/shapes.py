"""Messages of any format: whether one is an instruction, and which calls and results of tools it has."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_SYSTEM_ROLES = frozenset({"system", "developer"})
_SYSTEM_TYPES = ("Message.System", "system", "SystemMessage", "SystemMessageChunk")
_USER_TYPES = ("Message.User", "human", "HumanMessage", "HumanMessageChunk")
_ITEM_TOOLS = ("function", "custom_tool", "computer", "local_shell", "shell", "apply_patch")
_TOOL_TYPES = frozenset({"tool", "ToolMessage", "ToolMessageChunk"})


@dataclass(frozen=True, slots=True)
class ToolPart:
    """A call of a tool, or a result; *at* is its index in the message's parts, or None if it is the whole message.

    Call and result have the same *key*: it is the id, or the name of the tool if there is no id.
    """

    is_result: bool
    key: tuple[str, str]
    at: int | None = None


def is_system(message: Any) -> bool:
    """Return whether a message of any format is an instruction to the model."""
    if not isinstance(message, Mapping):
        return False
    kind = message.get("type")
    is_typed = isinstance(kind, str) and "role" not in message and kind.endswith(_SYSTEM_TYPES)
    return message.get("role") in _SYSTEM_ROLES or is_typed or _has_only_system_parts(message)


def _has_only_system_parts(message: Mapping[str, Any]) -> bool:
    """Return whether a request of pydantic-ai has only instructions."""
    kinds = {str(part.get("part_kind")) for part in _objects(message.get("parts"))}
    return message.get("kind") == "request" and kinds == {"system-prompt"}


def _has_user_prompt(message: Mapping[str, Any]) -> bool:
    """Return whether a message is a request of pydantic-ai with words of the user."""
    return message.get("kind") == "request" and any(
        part.get("part_kind") == "user-prompt" for part in _objects(message.get("parts"))
    )


def is_user_turn(message: Any) -> bool:
    """Return whether a message of any format is a user's, and has more than results of tools."""
    if not isinstance(message, Mapping):
        return False
    kind = message.get("type")
    is_typed = isinstance(kind, str) and "role" not in message and kind.endswith(_USER_TYPES)
    if message.get("role") != "user" and not is_typed and not _has_user_prompt(message):
        return False
    results = {part.at for part in tool_parts(message)}
    return not results or without_parts(message, results) is not None


def tool_parts(message: Any) -> list[ToolPart]:
    """Return the calls and results of a message in their order; a message of no known format has none."""
    if not isinstance(message, Mapping):
        return []
    return [*_whole_message(message), *_openai_calls(message), *_parts(message, "content"), *_parts(message, "parts")]


def without_parts(message: Mapping[str, Any], indexes: Collection[int | None]) -> dict[str, Any] | None:
    """Return a message without the parts at *indexes*, or None if no part is left."""
    if None in indexes:
        return None
    name = "content" if isinstance(message.get("content"), list) else "parts"
    kept = [part for at, part in enumerate(message[name]) if at not in indexes]
    return {**message, name: kept} if kept else None


def _key(call_id: Any, name: Any) -> tuple[str, str]:
    return ("id", call_id) if isinstance(call_id, str) and call_id else ("name", str(name or ""))


# ---- messages that are a call or a result


def _whole_message(message: Mapping[str, Any]) -> Iterator[ToolPart]:
    """Yield the call or result that a whole message is: in Koog 0.8, OpenAI, OpenAI's Responses and LangChain."""
    kind = message.get("type")
    if isinstance(kind, str) and kind in _ITEMS:
        is_result, id_name = _ITEMS[kind]
        yield ToolPart(is_result, _key(message.get(id_name), message.get("name")))
        return
    if isinstance(kind, str) and kind.endswith(("Message.Tool.Call", "Message.Tool.Result")):
        yield ToolPart(kind.endswith("Result"), _key(message.get("id"), message.get("tool")))
    elif message.get("role") in ("tool", "function"):
        yield ToolPart(True, _key(message.get("tool_call_id"), message.get("name")))
    elif isinstance(data := message.get("data"), Mapping):
        yield from _langchain_parts(str(kind), data)


def _langchain_parts(kind: str, data: Mapping[str, Any]) -> Iterator[ToolPart]:
    if kind in _TOOL_TYPES:
        yield ToolPart(True, _key(data.get("tool_call_id"), data.get("name")))
    for call in _objects(data.get("tool_calls")):
        yield ToolPart(False, _key(call.get("id"), call.get("name")))


def _openai_calls(message: Mapping[str, Any]) -> Iterator[ToolPart]:
    """Yield the calls beside an assistant's content, including the older `function_call`."""
    for call in _objects(message.get("tool_calls")):
        yield ToolPart(False, _key(call.get("id"), _object(call.get("function")).get("name")))
    if function := _object(message.get("function_call")):
        yield ToolPart(False, _key(None, function.get("name")))


# ---- parts of a message


def _parts(message: Mapping[str, Any], name: str) -> Iterator[ToolPart]:
    parts = message.get(name)
    for at, part in enumerate(parts if isinstance(parts, list) else ()):
        tool_part = _part(part, at) if isinstance(part, Mapping) else None
        if tool_part:
            yield tool_part


def _part(part: Mapping[str, Any], at: int) -> ToolPart | None:
    """Return the call or result that a part is: by its class in Koog 1, by its field in the other formats."""
    kind = part.get("type")
    if isinstance(kind, str) and kind.endswith(("MessagePart.Tool.Call", "MessagePart.Tool.Result")):
        return ToolPart(kind.endswith("Result"), _key(part.get("id"), part.get("tool")), at)
    part_kind = str(part.get("part_kind"))
    if part_kind in _PYDANTIC_PARTS and part.get("tool_name"):
        return ToolPart(_PYDANTIC_PARTS[part_kind], _key(part.get("tool_call_id"), part["tool_name"]), at)
    for name, (is_result, id_name) in _FIELDS.items():
        if isinstance(inner := part.get(name), Mapping):
            return ToolPart(is_result, _key(inner.get(id_name), inner.get("name")), at)
    return None


# By field: whether it is a result, and the name of its id. Strands, then Google in both spellings.
_FIELDS = {
    "toolUse": (False, "toolUseId"),
    "toolResult": (True, "toolUseId"),
    "functionCall": (False, "id"),
    "functionResponse": (True, "id"),
    "function_call": (False, "id"),
    "function_response": (True, "id"),
}
# By part_kind: whether it is a result. Those of tools that the provider runs are in one message.
_PYDANTIC_PARTS = {"tool-call": False, "tool-return": True, "retry-prompt": True}
# By type: whether it is a result, and the name of the call's id.
_ITEMS = {
    **{f"{name}_call": (False, "call_id") for name in _ITEM_TOOLS},
    **{f"{name}_call_output": (True, "call_id") for name in _ITEM_TOOLS},
    "program": (False, "call_id"),
    "program_output": (True, "call_id"),
    "tool_search_call": (False, "call_id"),
    "tool_search_output": (True, "call_id"),
    "local_shell_call_output": (True, "id"),
    "mcp_approval_request": (False, "id"),
    "mcp_approval_response": (True, "approval_request_id"),
}


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
