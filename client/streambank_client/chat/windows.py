"""The newest messages of a history, cut so that no tool's result stands without its call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from streambank_client.chat.providers import Message
from streambank_client.chat.shapes import tool_parts, without


def window(messages: Sequence[Message], size: int) -> list[Message]:
    """Return the last *size* messages, without results of calls that were cut off; these may leave fewer.

    Calls and results are paired by id, those without one by the tool's name in their order; one call has one result.
    A message keeps its other parts, and goes if it has none. What is not cut is not touched.
    """
    if size >= len(messages):
        return list(messages)
    open_calls: Counter[tuple[str, str]] = Counter()
    kept = (_answered(message, open_calls) for message in (messages[-size:] if size else ()))
    return [message for message in kept if message is not None]


def _answered(message: Message, open_calls: Counter[tuple[str, str]]) -> Message | None:
    """Return *message* without results that answer none of *open_calls*, which takes note of its calls."""
    orphans = set()
    for part in tool_parts(message):
        if not part.is_result:
            open_calls[part.key] += 1
        elif open_calls[part.key] > 0:
            open_calls[part.key] -= 1
        else:
            orphans.add(part.at)
    return without(message, orphans) if orphans else message
