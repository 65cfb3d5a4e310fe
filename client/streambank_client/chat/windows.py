"""Windows: the newest messages of a history, without results of tools whose calls are cut off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from streambank_client.chat.providers import ChatMessage
from streambank_client.chat.shapes import is_system, is_user_turn, tool_parts, without_parts


def window(messages: Sequence[ChatMessage], size: int | None, *, begin_with_user: bool = False) -> list[ChatMessage]:
    """Return the last *size* messages, all for None, or fewer, without results of calls that were cut off.

    Calls and results are paired by id, or without an id by the tool's name in their order; a call has one result.
    A message keeps its other parts, and is removed if it has none. If nothing is cut off, no message is changed.
    With *begin_with_user* the messages before the first one of a user are cut off too, except instructions.
    """
    kept = list(messages) if size is None or size >= len(messages) else list(messages[-size:] if size else ())
    if begin_with_user:
        first = next((at for at, message in enumerate(kept) if is_user_turn(message)), len(kept))
        kept = [message for at, message in enumerate(kept) if at >= first or is_system(message)]
    if len(kept) == len(messages):
        return kept
    open_calls: Counter[tuple[str, str]] = Counter()
    whole = (_without_orphans(message, open_calls) for message in kept)
    return [message for message in whole if message is not None]


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
