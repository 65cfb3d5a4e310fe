"""Memory for agents of pydantic-ai: a history processor, tools, and ingestion; needs `pydantic-ai-slim`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic_ai import FunctionToolset, ModelMessage, ModelRequest, ModelResponse, RunContext, TextPart, UserPromptPart
from pydantic_ai.capabilities import AbstractCapability

from streambank_client.agent_memory import AgentMemory
from streambank_client.errors import StreambankError
from streambank_client.koog import MemoryRecord
from streambank_client.types.events import Event

# A stream of its own: a flush of it seals no window of the conversations.
REMEMBER_STREAM = "pydantic-ai-remember"
_BLOCK = "<streambank-memory>"


class StreambankMemory(AbstractCapability[Any]):
    """A capability: memories in the prompt, tools for the model, and the messages of each run stored.

    Its parts can be used alone: `process_history` is a history processor, `tools` is a list of functions, and `ingest`
    stores messages. Where the service is away, a run has no memory and no error.

    memory: where memories are; its `scope` and `stream_id` may be functions of the `RunContext`. The default of the
        stream is the id of the conversation.
    recall, tools, ingestion: which parts the capability has.
    """

    def __init__(self, memory: AgentMemory, *, recall: bool = True, tools: bool = True, ingestion: bool = True) -> None:
        self._memory = memory
        self._has_recall = recall
        self._has_tools = tools
        self._has_ingestion = ingestion
        # The last search: the requests of one run repeat it.
        self._recalled: tuple[object, str] = (None, "")

    # ---- the capability

    async def before_model_request(self, ctx: RunContext[Any], request_context: Any) -> Any:
        """Add the recalled memories to the messages of one request; the history stays as it is."""
        if self._has_recall:
            messages = list(request_context.messages)
            request_context.messages = await asyncio.to_thread(self.process_history, ctx, messages)
        return request_context

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """Return the tools."""
        return FunctionToolset(self.tools) if self._has_tools else None

    async def after_run(self, ctx: RunContext[Any], *, result: Any) -> Any:
        """Store the messages of a run that has ended without an error."""
        if self._has_ingestion:
            await asyncio.to_thread(self.ingest, ctx, result.new_messages())
        return result

    # ---- its parts

    def process_history(self, ctx: RunContext[Any], messages: list[ModelMessage]) -> list[ModelMessage]:
        """Return the messages with memories before the last prompt of the user, in a block that is never stored.

        Blocks of earlier runs are taken away.
        """
        cleaned = [_without_block(message) for message in messages]
        at = next((at for at in range(len(cleaned) - 1, -1, -1) if _user_text(cleaned[at]).strip()), None)
        if at is None:
            return cleaned
        texts = [_user_text(message) or _model_text(message) for message in cleaned]
        block = self._block(ctx, texts[at], texts)
        request = cleaned[at]
        if block and isinstance(request, ModelRequest):
            cleaned[at] = replace(request, parts=[UserPromptPart(block), *request.parts])
        return cleaned

    @property
    def tools(self) -> list[Any]:
        """The tools `recall` and `remember`."""
        return [self.recall, self.remember]

    def recall(self, ctx: RunContext[Any], query: str) -> str:
        """Search the memories of the user. Call it before you answer what may depend on earlier conversations.

        Args:
            ctx: The context of the run.
            query: A question or keywords, such as 'Where does the user live?'.
        """
        return self._memory.recall(ctx, query) or "Nothing is remembered about this."

    def remember(self, ctx: RunContext[Any], text: str) -> str:
        """Store what the user wants to be remembered in later conversations, or a fact that will still matter then.

        Args:
            ctx: The context of the run.
            text: Short, complete sentences in the first person of the user, with names and dates.
        """
        event_id = f"{ctx.run_id}-{ctx.tool_call_id}"
        try:
            self._memory.bank.ingest_events(
                scope=self._memory.scope(ctx),
                stream_id=REMEMBER_STREAM,
                events=[Event.from_text(text, event_id=event_id)],
                force_flush=True,
            )
        except (StreambankError, ValueError):
            return "It could not be stored. Tell the user so if it matters."
        return "It is stored."

    def ingest(self, ctx: RunContext[Any], messages: Sequence[ModelMessage]) -> bool:
        """Store the texts of the user and of the model, and return whether the service has them.

        A message's id is that of its run with its number in the run, so a repeat of a run's messages stores nothing. A
        call needs all messages of a run. Messages without a run's id are left out.
        """
        return self._memory.ingest(ctx, _records(messages), conversation=ctx.conversation_id)

    def _block(self, ctx: RunContext[Any], query: str, texts: Sequence[str]) -> str:
        search = (ctx.run_id, query)
        if self._recalled[0] != search:
            self._recalled = search, self._memory.recall(ctx, query, texts)
        return self._recalled[1]


def _records(messages: Sequence[ModelMessage]) -> list[MemoryRecord]:
    numbers: dict[str, int] = {}
    records = list[MemoryRecord]()
    for message in map(_without_block, messages):
        if message.run_id is None:
            continue
        number = numbers[message.run_id] = numbers.get(message.run_id, 0) + 1
        text = _user_text(message) or _model_text(message)
        if text.strip():
            role = "Assistant" if isinstance(message, ModelResponse) else "User"
            time_ms = int(message.timestamp.timestamp() * 1000) if message.timestamp else None
            metadata = {"messageRole": role, "timestampMs": time_ms}
            records.append(MemoryRecord(text, f"{message.run_id}-{number}", metadata))
    return records


def _user_text(message: ModelMessage) -> str:
    """Return what the user wrote in a request; results of tools and instructions are not the user's."""
    parts = message.parts if isinstance(message, ModelRequest) else []
    contents = [part.content for part in parts if isinstance(part, UserPromptPart)]
    texts = [[content] if isinstance(content, str) else content for content in contents]
    return "\n".join(text for items in texts for text in items if isinstance(text, str))


def _model_text(message: ModelMessage) -> str:
    parts = message.parts if isinstance(message, ModelResponse) else []
    return "\n".join(part.content for part in parts if isinstance(part, TextPart))


def _without_block(message: ModelMessage) -> ModelMessage:
    if not isinstance(message, ModelRequest):
        return message
    parts = [part for part in message.parts if not (isinstance(part, UserPromptPart) and _is_block(part.content))]
    return message if len(parts) == len(message.parts) else replace(message, parts=parts)


def _is_block(content: Any) -> bool:
    return isinstance(content, str) and content.startswith(_BLOCK)
