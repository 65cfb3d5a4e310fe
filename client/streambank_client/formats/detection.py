"""Detecting the format of a message by its shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streambank_client.formats.conversion import Format
from streambank_client.formats.exports.detection import detect_message
from streambank_client.formats.koog.metadata import PACKAGE
from streambank_client.formats.openai_responses.item_types import has_item_blocks, is_item

_CHAT_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_KOOG_0_8_CLASSES = ("Message.Tool.Call", "Message.Tool.Result", "Message.Reasoning")


def detect(message: Any) -> Format | None:
    """Return the format of a message, or None if it is not known.

    A system message of Koog looks the same in both versions and is detected as the newer one.
    """
    if form := detect_message(message):
        return form
    if not isinstance(message, Mapping):
        return None
    kind = message.get("type")
    if isinstance(kind, str):
        return _detect_by_type(kind, message)
    if isinstance(message.get("parts"), list):
        return "pydantic-ai" if message.get("kind") in ("request", "response") else "google"
    if str(message.get("role")) in _CHAT_ROLES:
        return _detect_by_content(message.get("content"))
    return None


def _detect_by_content(content: Any) -> Format:
    if has_item_blocks(content):
        return "openai-responses"
    return "strands" if _is_strands(content) else "openai"


def _detect_by_type(kind: str, message: Mapping[str, Any]) -> Format | None:
    if kind.startswith(f"{PACKAGE}Message."):
        return _detect_koog(kind.removeprefix(PACKAGE), message.get("parts"))
    if isinstance(message.get("data"), Mapping):
        return "langchain"
    return "openai-responses" if is_item(kind, message) else None


def _detect_koog(kind: str, parts: Any) -> Format:
    if kind in _KOOG_0_8_CLASSES:
        return "koog-0.8"
    has_untyped_parts = kind != "Message.System" and isinstance(parts, list) and bool(parts)
    return "koog-0.8" if has_untyped_parts and not any(map(_is_koog_1_part, parts)) else "koog-1"


def _is_koog_1_part(part: Any) -> bool:
    return isinstance(part, Mapping) and str(part.get("type", "")).startswith(f"{PACKAGE}MessagePart.")


def _is_strands(content: Any) -> bool:
    """Return whether the content has blocks named by their key, as Strands', not by their type, as OpenAI's."""
    if not isinstance(content, list):
        return False
    return not any(isinstance(block, Mapping) and "type" in block for block in content)
