"""Telling the formats apart by their shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streambank_client.formats.conversion import Format
from streambank_client.formats.koog import PACKAGE

_CHAT_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_OLD_KOOG = ("Message.Tool.Call", "Message.Tool.Result", "Message.Reasoning")


def detect(message: Any) -> Format | None:
    """Return the format of a message, None if it is none of those known.

    A system message of Koog is the same in both generations, and taken for the newer one.
    """
    if not isinstance(message, Mapping):
        return None
    kind = message.get("type")
    if isinstance(kind, str):
        return _typed(kind, message)
    if isinstance(message.get("parts"), list):
        return "google"
    if str(message.get("role")) in _CHAT_ROLES:
        return "strands" if _is_strands(message.get("content")) else "openai"
    return None


def _typed(kind: str, message: Mapping[str, Any]) -> Format | None:
    if kind.startswith(f"{PACKAGE}Message."):
        return _koog(kind.removeprefix(PACKAGE), message.get("parts"))
    return "langchain" if isinstance(message.get("data"), Mapping) else None


def _koog(kind: str, parts: Any) -> Format:
    if kind in _OLD_KOOG:
        return "koog-0.8"
    is_untyped = kind != "Message.System" and isinstance(parts, list) and bool(parts)
    return "koog-0.8" if is_untyped and not any(map(_is_new_part, parts)) else "koog-1"


def _is_new_part(part: Any) -> bool:
    return isinstance(part, Mapping) and str(part.get("type", "")).startswith(f"{PACKAGE}MessagePart.")


def _is_strands(content: Any) -> bool:
    """Strands' blocks are named by their key, OpenAI's by their type."""
    if not isinstance(content, list):
        return False
    return not any(isinstance(block, Mapping) and "type" in block for block in content)
