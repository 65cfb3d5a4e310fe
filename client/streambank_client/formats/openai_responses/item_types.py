"""The types of OpenAI's items, and which ids are ids of items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CALLS = frozenset({"function_call", "custom_tool_call"})
OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})
# Items of tools that OpenAI runs itself, and of other tools; they have no text of the conversation.
_OTHERS = frozenset(
    {
        "additional_tools",
        "apply_patch_call",
        "apply_patch_call_output",
        "code_interpreter_call",
        "compaction",
        "compaction_trigger",
        "computer_call",
        "computer_call_output",
        "configuration_update",
        "file_search_call",
        "image_generation_call",
        "item_reference",
        "local_shell_call",
        "local_shell_call_output",
        "mcp_approval_request",
        "mcp_approval_response",
        "mcp_call",
        "mcp_list_tools",
        "program",
        "program_output",
        "shell_call",
        "shell_call_output",
        "tool_search_call",
        "tool_search_output",
        "web_search_call",
    }
)
_ITEMS = CALLS | OUTPUTS | _OTHERS | {"reasoning"}
# "input_audio" is also a block of chat completions.
_BLOCKS = frozenset({"input_text", "output_text", "input_image", "input_file"})
# The Agents SDK gives this id to every item of a model that gives none.
_SHARED_ID = "__fake_id__"


def is_item(kind: str, message: Mapping[str, Any]) -> bool:
    """Return whether a message of type *kind* is an item of OpenAI's Responses."""
    return kind in _ITEMS or (kind == "message" and isinstance(message.get("role"), str))


def has_item_blocks(content: Any) -> bool:
    """Return whether the content of a message without a type has blocks of OpenAI's Responses."""
    blocks = content if isinstance(content, list) else []
    return any(isinstance(block, Mapping) and str(block.get("type")) in _BLOCKS for block in blocks)


def unique_id(item: Mapping[str, Any]) -> str | None:
    """Return the id of an item, or None if it has none that is its own; `call_id` is the id of a call."""
    item_id = item.get("id")
    is_own = isinstance(item_id, str) and item_id not in ("", _SHARED_ID, item.get("call_id"))
    return item_id if is_own else None
