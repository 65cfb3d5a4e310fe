"""Memories that a client put into the conversation; tags mark them, so that they are not remembered again."""

from __future__ import annotations

import re

_BLOCK_TAG = re.compile(r"<(/?)streambank-memory\b[^<>]{0,200}>", re.IGNORECASE)


def remove_recalled(text: str) -> str:
    """Return *text* without its <streambank-memory> blocks; an unclosed block ends with the text."""
    outside, depth, position = [], 0, 0
    for tag in _BLOCK_TAG.finditer(text):
        if depth == 0:
            outside.append(text[position : tag.start()])
        depth = max(depth - 1, 0) if tag[1] else depth + 1
        position = tag.end()
    return "\n".join([*outside, text[position:] if depth == 0 else ""])
