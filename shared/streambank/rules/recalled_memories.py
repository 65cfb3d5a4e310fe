"""Memories that a client put back into the conversation: marked, so that nobody remembers them again."""

from __future__ import annotations

import re

_BLOCK_TAG = re.compile(r"<(/?)streambank-memory\b[^<>]{0,200}>", re.IGNORECASE)


def remove_recalled(text: str) -> str:
    """Return *text* without its <streambank-memory> blocks; an unclosed one reaches to the end."""
    kept, depth, position = [], 0, 0
    for tag in _BLOCK_TAG.finditer(text):
        if depth == 0:
            kept.append(text[position : tag.start()])
        depth = max(depth - 1, 0) if tag[1] else depth + 1
        position = tag.end()
    return "\n".join([*kept, text[position:] if depth == 0 else ""])
