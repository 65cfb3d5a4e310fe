"""Which parts of an event a model reads, and as what."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from streambank.model.event import Event, StoredEvent
from streambank.model.turn import TurnRole
from streambank.rules.recalled_memories import remove_recalled

# Of the arguments of a call, or of a result: a page that a tool read is no conversation.
MAX_TOOL_CHARACTERS = 2_000


class PartKind(StrEnum):
    """What a part is for a prompt."""

    TEXT = "text"
    TOOL = "tool"
    OTHER = "other"
    """A thought, media, code, or a text without characters."""


def part_kind(part: Mapping[str, Any]) -> PartKind:
    """Return what *part* is; its fields may have either spelling."""
    if part.get("thought"):
        return PartKind.OTHER
    if _tool_field(part) is not None:
        return PartKind.TOOL
    return PartKind.TEXT if part.get("text") else PartKind.OTHER


def is_prompted(part: Mapping[str, Any], *, include_tool_traffic: bool) -> bool:
    """Return whether a model reads *part*."""
    kind = part_kind(part)
    return kind is PartKind.TEXT or (kind is PartKind.TOOL and include_tool_traffic)


def prompt_text(event: StoredEvent) -> str:
    """Return the words of *event* for a prompt: without thoughts, and without memories that the client recalled.

    The parts of a content are one text, joined as they stand.
    """
    texts = (part["text"] for part in event.event.parts if part_kind(part) is PartKind.TEXT)
    return remove_recalled("".join(texts)).strip()


def prompt_turns(event: StoredEvent, *, include_tool_traffic: bool) -> list[tuple[TurnRole, str]]:
    """Return role and text of the turns of *event*: its words, and its tool traffic if that is included."""
    words = prompt_text(event)
    turns: list[tuple[TurnRole, str]] = [(event.event.role, words)] if words else []
    traffic = _tool_text(event.event, include_tool_traffic=include_tool_traffic)
    return [*turns, ("tool", traffic)] if traffic else turns


def _tool_text(event: Event, *, include_tool_traffic: bool) -> str:
    """Return the tool calls and results of *event*, one a line, as JSON that is cut if it is long."""
    tools = (
        part
        for part in event.parts
        if part_kind(part) is PartKind.TOOL and is_prompted(part, include_tool_traffic=include_tool_traffic)
    )
    return remove_recalled("\n".join(_lines(tools))).strip()


def _lines(parts: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    for part in parts:
        field, tool = _tool_field(part) or ("", {})
        values = tool.get("args") if field == "functionCall" else tool.get("response")
        verb = "call" if field == "functionCall" else "result"
        text = f"{verb} {tool.get('name') or ''} {_json(values)}"
        yield text if len(text) <= MAX_TOOL_CHARACTERS else text[: MAX_TOOL_CHARACTERS - 1] + "\u2026"


def _tool_field(part: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
    """Return the call or the result that *part* is, with its name in camelCase."""
    for field, other in (("functionCall", "function_call"), ("functionResponse", "function_response")):
        tool = part.get(field) or part.get(other)
        if isinstance(tool, Mapping):
            return field, tool
    return None


def _json(value: Any) -> str:
    return json.dumps({} if value is None else value, ensure_ascii=False)
