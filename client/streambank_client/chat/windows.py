"""Windows: the newest messages of a history, without results of tools whose calls are cut off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from streambank_client.chat.providers import ChatMessage
from streambank_client.chat.shapes import tool_parts, without_parts


def window(messages: Sequence[ChatMessage], size: int) -> list[ChatMessage]:
    """Return the last *size* messages, or fewer, without results of calls that were cut off.

    Calls and results are paired by id, or without an id by the tool's name in their order; a call has one result.
    A message keeps its other parts, and is removed if it has none. If nothing is cut off, no message is changed.
    """
    if size >= len(messages):
        return list(messages)
    open_calls: Counter[tuple[str, str]] = Counter()
    kept = (_without_orphans(message, open_calls) for message in (messages[-size:] if size else ()))
    return [message for message in kept if message is not None]


def _without_orphans(message: ChatMessage, open_calls: Counter[tuple[str, str]]) -> ChatMessage | None:
    """Return *message* without results that belong to none of *open_calls*; add its own calls to these."""
    orphans = set()
    for part in tool_parts(message):
        if not part.is_result:
            open_calls[part.key] += 1
        elif open_calls[part.key] > 0:
            open_calls[part.key] -= 1
        else:
            orphans.add(part.at)
    return without_parts(message, orphans) if orphans else message
