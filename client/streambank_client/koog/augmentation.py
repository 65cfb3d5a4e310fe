"""Adds memories to a prompt, for one call of the model: the messages that are stored stay unchanged."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from streambank_client.formats import render_memories
from streambank_client.koog.messages import PromptMessage
from streambank_client.koog.records import SearchResult

Augmenter: TypeAlias = Callable[
    [Sequence[PromptMessage], Sequence[SearchResult]], Sequence[Any] | Awaitable[Sequence[Any]]
]


def last_user_message(messages: Sequence[PromptMessage]) -> str | None:
    """Return the text of the last user message, or None if there is no text."""
    texts = (message.text for message in reversed(messages) if message.role == "user" and message.text.strip())
    return next(texts, None)


@dataclass(frozen=True)
class SystemPromptAugmenter:
    """Adds the memories to the first system message; a prompt without one is not changed."""

    def __call__(self, messages: Sequence[PromptMessage], results: Sequence[SearchResult]) -> list[Any]:
        """Return the messages to send."""
        places = [at for at, message in enumerate(messages) if message.role == "system"]
        return _augmented(messages, results, places[:1])


@dataclass(frozen=True)
class UserPromptAugmenter:
    """Adds the memories to the last user message."""

    def __call__(self, messages: Sequence[PromptMessage], results: Sequence[SearchResult]) -> list[Any]:
        """Return the messages to send."""
        places = [at for at, message in enumerate(messages) if message.role == "user" and message.text.strip()]
        return _augmented(messages, results, places[-1:])


def _augmented(messages: Sequence[PromptMessage], results: Sequence[SearchResult], places: Sequence[int]) -> list[Any]:
    block = render_memories(result.document.content for result in results)
    raws = [message.raw for message in messages]
    return [with_text(raw, block) if at in places and block else raw for at, raw in enumerate(raws)]


def with_text(message: Any, text: str) -> Any:
    """Return a copy of *message*, a dict or a pydantic object, with *text* added to its content.

    Raises:
        TypeError: it is neither, or the shape of its content is unknown.
    """
    if not isinstance(message, Mapping):
        if not hasattr(message, "model_copy"):
            raise TypeError(f"text cannot be added to a message of type {type(message).__name__}")
        return message.model_copy(update={"content": _extended(message.content, text)})
    if "data" in message:
        return {**message, "data": with_text(message["data"], text)}
    name = "parts" if "parts" in message else "content"
    return {**message, name: _extended(message.get(name), text)}


def _extended(content: Any, text: str) -> Any:
    if content is None or content == "":
        return text
    if isinstance(content, str):
        return f"{content}\n\n{text}"
    if isinstance(content, list | tuple):
        return [*content, _block(content, text)]
    raise TypeError(f"text cannot be added to content of type {type(content).__name__}")


def _block(content: Sequence[Any], text: str) -> Any:
    """Return *text* as a block like those of *content*."""
    blocks = [block for block in content if isinstance(block, Mapping)]
    text_block = next((block for block in reversed(blocks) if isinstance(block.get("text"), str)), None)
    if text_block is not None:
        return {name: value for name, value in text_block.items() if name == "type"} | {"text": text}
    return {"type": "text", "text": text} if any("type" in block for block in blocks) else {"text": text}
