"""A model for Strands agents that answers by a script."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from typing import Any

from strands.models.model import Model

Block = dict[str, Any]
Answer = Callable[[Sequence[Any]], list[Block]]


def answering(prompts: Sequence[Any]) -> list[Block]:
    """Answer the last question, `q1` with `a1`."""
    question = next(block["text"] for block in prompts[-1]["content"] if "text" in block)
    return [{"text": "a" + question[1:]}]


class Scripted(Model):
    """Streams the blocks that *answer* makes of the prompt, and keeps every prompt."""

    def __init__(self, answer: Answer = answering) -> None:
        self.answer = answer
        self.prompts: list[list[Any]] = []

    def update_config(self, **_: Any) -> None:
        """There is nothing to configure."""

    def get_config(self) -> dict[str, Any]:
        return {}

    def structured_output(self, *_: Any, **__: Any) -> AsyncGenerator[dict[str, Any], None]:
        raise NotImplementedError

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncIterator[Any]:
        self.prompts.append([dict(message) for message in messages])
        blocks = self.answer(messages)
        yield {"messageStart": {"role": "assistant"}}
        for block in blocks:
            for event in _streamed(block):
                yield event
        uses_tool = any("toolUse" in block for block in blocks)
        yield {"messageStop": {"stopReason": "tool_use" if uses_tool else "end_turn"}}
        usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
        yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 1}}}


def _streamed(block: Block) -> list[dict[str, Any]]:
    start: dict[str, Any] = {}
    delta: dict[str, Any] = {"text": block.get("text", "")}
    if "toolUse" in block:
        start = {"toolUse": {"toolUseId": block["toolUse"]["toolUseId"], "name": block["toolUse"]["name"]}}
        delta = {"toolUse": {"input": "{}"}}
    if "reasoning" in block:
        delta = {"reasoningContent": {"text": block["reasoning"]}}
    return [
        {"contentBlockStart": {"start": start}},
        {"contentBlockDelta": {"delta": delta}},
        {"contentBlockStop": {}},
    ]
