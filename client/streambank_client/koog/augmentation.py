"""How what is remembered gets into a prompt: for one call of the model, and into nothing that is kept."""

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
    """Return what the user said last; None if that is nothing."""
    said = (message.text for message in reversed(messages) if message.role == "user" and message.text.strip())
    return next(said, None)


@dataclass(frozen=True)
class SystemPromptAugmenter:
    """Adds what was found to the first system message; a prompt without one stays as it is."""

    def __call__(self, messages: Sequence[PromptMessage], results: Sequence[SearchResult]) -> list[Any]:
        """Return the messages to send."""
        places = [at for at, message in enumerate(messages) if message.role == "system"]
        return _told(messages, results, places[:1])


@dataclass(frozen=True)
class UserPromptAugmenter:
    """Adds what was found to the last user message."""

    def __call__(self, messages: Sequence[PromptMessage], results: Sequence[SearchResult]) -> list[Any]:
        """Return the messages to send."""
        places = [at for at, message in enumerate(messages) if message.role == "user" and message.text.strip()]
        return _told(messages, results, places[-1:])


def _told(messages: Sequence[PromptMessage], results: Sequence[SearchResult], places: Sequence[int]) -> list[Any]:
    block = render_memories(result.document.content for result in results)
    sent = [message.raw for message in messages]
    return [with_text(raw, block) if at in places and block else raw for at, raw in enumerate(sent)]


def with_text(message: Any, text: str) -> Any:
    """Return a copy of *message*, a dict or an object of pydantic's, with *text* added to what it says.

    Raises:
        TypeError: it is neither, or its content is of no known shape.
    """
    if not isinstance(message, Mapping):
        if not hasattr(message, "model_copy"):
            raise TypeError(f"nothing can be added to a message of type {type(message).__name__}")
        return message.model_copy(update={"content": _longer(message.content, text)})
    if "data" in message:
        return {**message, "data": with_text(message["data"], text)}
    name = "parts" if "parts" in message else "content"
    return {**message, name: _longer(message.get(name), text)}


def _longer(content: Any, text: str) -> Any:
    if content is None or content == "":
        return text
    if isinstance(content, str):
        return f"{content}\n\n{text}"
    if isinstance(content, list | tuple):
        return [*content, _block(content, text)]
    raise TypeError(f"nothing can be added to a content of type {type(content).__name__}")


def _block(content: Sequence[Any], text: str) -> Any:
    """Return *text* as a block like those that are there."""
    blocks = [block for block in content if isinstance(block, Mapping)]
    like = next((block for block in reversed(blocks) if isinstance(block.get("text"), str)), None)
    if like is not None:
        return {name: value for name, value in like.items() if name == "type"} | {"text": text}
    return {"type": "text", "text": text} if any("type" in block for block in blocks) else {"text": text}
