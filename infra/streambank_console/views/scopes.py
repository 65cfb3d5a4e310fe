"""Scopes and filters as a reader types them."""

from __future__ import annotations

import re

_SEPARATOR = re.compile(r"[,\n]")
_OPERATOR = re.compile(r"[=<>:~]|\b(AND|OR|NOT)\b")


def read_typed_scope(typed: str) -> dict[str, str]:
    """Return the scope of `user_id=ada, app=shop`.

    Raises:
        ValueError: it is not like that.
    """
    pairs = [part.strip().partition("=") for part in _SEPARATOR.split(typed) if part.strip()]
    scope = {key.strip(): value.strip() for key, _, value in pairs}
    if not scope or not all(key and value for key, value in scope.items()) or len(scope) < len(pairs):
        raise ValueError("A scope is like user_id=ada, or user_id=ada, app=shop.")
    return scope


def as_filter(typed: str) -> str | None:
    """Return what a reader typed as a filter of the API: words are looked for in the fact."""
    words = typed.strip()
    if not words:
        return None
    if _OPERATOR.search(words):
        return words
    escaped = words.replace("\\", "\\\\").replace('"', '\\"')
    return f'fact:"{escaped}"'
