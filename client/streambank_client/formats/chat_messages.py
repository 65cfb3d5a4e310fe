"""Splitting a Content into the messages of a chat, where each tool result is a message (OpenAI, LangChain)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from streambank_client.formats.content_reader import ContentReader
from streambank_client.formats.conversion import JSON, Reason
from streambank_client.formats.node import Node
from streambank_client.formats.parts import main_field

PartConverter: TypeAlias = Callable[[ContentReader, int, Node], list[JSON]]


def split_calls(
    content: ContentReader, *, to_blocks: PartConverter, to_calls: PartConverter
) -> tuple[list[JSON], list[JSON]]:
    """Return the blocks and the tool calls of a Content; a block after a call changes the order."""
    blocks: list[JSON] = []
    calls: list[JSON] = []
    for at, part in enumerate(content.parts):
        if main_field(part.value) == "functionCall":
            calls += to_calls(content, at, part)
            continue
        part_blocks = to_blocks(content, at, part)
        if part_blocks and calls:
            content.drop(Reason.REWRITTEN, kind="order", at=at)
        blocks += part_blocks
    return blocks, calls


def split_results(
    content: ContentReader,
    *,
    to_blocks: PartConverter,
    to_results: PartConverter,
    to_user_message: Callable[[list[JSON]], JSON],
) -> list[JSON]:
    """Return a message for each tool result of a Content, and a user's message for the blocks between them."""
    messages: list[JSON] = []
    blocks: list[JSON] = []
    for at, part in enumerate(content.parts):
        if main_field(part.value) == "functionResponse":
            messages += [to_user_message(blocks)] if blocks else []
            messages += to_results(content, at, part)
            blocks = []
        else:
            blocks += to_blocks(content, at, part)
    return [*messages, to_user_message(blocks)] if blocks else messages


def message_content(blocks: list[JSON]) -> Any:
    """Return a single text as a string, no blocks as None, anything else as the list of blocks."""
    is_text = len(blocks) == 1 and blocks[0]["type"] == "text"
    return blocks[0]["text"] if is_text else blocks or None
