"""Slack's markup: mentions, channels and links in angle brackets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape

_REFERENCE = re.compile(r"<([^<>]*)>")


def plain_text(text: str, names: Mapping[str, str]) -> str:
    """Return *text* with the names of mentioned people and channels, and links as they read."""
    # Entities are decoded last, so that an escaped bracket is no reference.
    return unescape(_REFERENCE.sub(lambda match: _reference(match[1], names), text))


def _reference(target: str, names: Mapping[str, str]) -> str:
    address, _, label = target.partition("|")
    sign, name = address[:1], address[1:]
    if sign == "@":
        return f"@{names.get(name) or label or name}"
    if sign == "#":
        return f"#{label or name}"
    if sign == "!":
        return label or f"@{name.partition('^')[0]}"
    return f"{label} ({address})" if label and label not in address else address
