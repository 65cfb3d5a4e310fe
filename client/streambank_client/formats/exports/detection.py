"""Detecting the format of an export, or of a message of one, by its shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from streambank_client.formats.conversion import Format
from streambank_client.formats.exports.whatsapp_lines import is_header


def detect_document(document: Any) -> Format | None:
    """Return the format of an export, or None if it is not known; of a list, the first known item decides."""
    if isinstance(document, str):
        return "whatsapp" if is_header(document.lstrip("\r\n ")) else None
    if isinstance(document, Mapping) and isinstance(document.get("events"), list):
        document = document["events"]
    items = document if isinstance(document, list) else [document]
    return next((form for item in items if (form := _detect_item(item))), None)


def _detect_item(item: Any) -> Format | None:
    if not isinstance(item, Mapping):
        return None
    if isinstance(item.get("mapping"), Mapping):
        return "chatgpt"
    if isinstance(item.get("chat_messages"), list):
        return "claude"
    turns = item.get("conversations")
    if isinstance(turns, list) and any(map(_is_sharegpt, turns)):
        return "sharegpt"
    form = detect_message(item)
    return form if form in ("slack", "agentcore") else None


def detect_message(message: Any) -> Format | None:
    """Return the format of a message of an export, or None if it is not known."""
    if isinstance(message, str):
        return "whatsapp" if is_header(message) else None
    if not isinstance(message, Mapping):
        return None
    return next((form for form, is_of_form in _SHAPES.items() if is_of_form(message)), None)


def _is_agentcore(message: Mapping[str, Any]) -> bool:
    return isinstance(message.get("payload"), list) and ("eventId" in message or "eventTimestamp" in message)


def _is_chatgpt(message: Mapping[str, Any]) -> bool:
    return isinstance(message.get("author"), Mapping) and isinstance(message.get("content"), Mapping)


def _is_claude(message: Mapping[str, Any]) -> bool:
    return isinstance(message.get("sender"), str) and "uuid" in message


def _is_slack(message: Mapping[str, Any]) -> bool:
    return message.get("type") == "message" and isinstance(message.get("ts"), str)


def _is_sharegpt(message: Any) -> bool:
    return (
        isinstance(message, Mapping)
        and isinstance(message.get("from"), str)
        and isinstance(message.get("value"), str)
        and "role" not in message
    )


_SHAPES: Mapping[Format, Callable[[Mapping[str, Any]], bool]] = {
    "agentcore": _is_agentcore,
    "chatgpt": _is_chatgpt,
    "claude": _is_claude,
    "slack": _is_slack,
    "sharegpt": _is_sharegpt,
}
