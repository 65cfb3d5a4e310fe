"""Middleware of LangChain's agents that recalls memories and stores conversations; needs `langchain`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware.types import ModelRequest, ModelResponse, PrivateStateAttr
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage

from streambank_client.agent_memory import AgentMemory
from streambank_client.koog import MemoryRecord

# Where LangChain's own middleware notes that a message of the user's kind is not the user's.
_MADE_BY_MIDDLEWARE = "lc_source"


class MemoryState(AgentState[Any]):
    """The state of an agent, with two fields of the middleware that the model does not see."""

    streambank_recalled: Annotated[str, PrivateStateAttr]
    streambank_delivered: Annotated[str, PrivateStateAttr]


class StreambankMiddleware(AgentMiddleware[MemoryState, Any, Any]):
    """Recalls memories once a run, adds them to the system message of each call, and stores the run's messages.

    The recalled memories are in no message of the state. The texts of the user and of the model are stored, under the
    ids that LangChain gives to messages; a run that fails stores nothing. While the service is away, runs have no
    memory and no error, and a later run of the thread stores the missing messages.

    memory: where memories are; its `scope` and `stream_id` may be functions of LangGraph's `Runtime`. The default of
        the stream is the thread's id.
    """

    state_schema = MemoryState

    def __init__(self, memory: AgentMemory) -> None:
        super().__init__()
        self._memory = memory

    def before_agent(self, state: MemoryState, runtime: Any) -> dict[str, Any]:
        """Recall memories, and note from which message on this run has to store."""
        messages = state["messages"]
        query = next((message.text for message in reversed(messages) if _is_of_user(message)), "")
        recalled = self._memory.recall(runtime, query, [message.text for message in messages])
        return {"streambank_recalled": recalled, "streambank_delivered": _delivered(state)}

    async def abefore_agent(self, state: MemoryState, runtime: Any) -> dict[str, Any]:
        """Do the same in another thread."""
        return await asyncio.to_thread(self.before_agent, state, runtime)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Add the recalled memories to the system message of one call of the model."""
        return handler(_augmented(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Do the same for an awaited call."""
        return await handler(_augmented(request))

    def after_agent(self, state: MemoryState, runtime: Any) -> dict[str, Any] | None:
        """Store the messages that the service does not have yet."""
        messages = state["messages"]
        ids = [message.id for message in messages]
        delivered = state.get("streambank_delivered")
        new = messages[ids.index(delivered) + 1 :] if delivered in ids else messages
        records = [_record(message) for message in new if _is_of_user(message) or _is_of_model(message)]
        thread_id = getattr(getattr(runtime, "execution_info", None), "thread_id", None)
        if not messages or not self._memory.ingest(runtime, records, conversation=thread_id):
            return None
        return {"streambank_delivered": ids[-1] or ""}

    async def aafter_agent(self, state: MemoryState, runtime: Any) -> dict[str, Any] | None:
        """Do the same in another thread."""
        return await asyncio.to_thread(self.after_agent, state, runtime)


def _is_of_user(message: AnyMessage) -> bool:
    is_human = isinstance(message, HumanMessage) and _MADE_BY_MIDDLEWARE not in message.additional_kwargs
    return is_human and bool(message.text.strip())


def _is_of_model(message: AnyMessage) -> bool:
    return isinstance(message, AIMessage) and bool(message.text.strip())


def _record(message: AnyMessage) -> MemoryRecord:
    role = "Assistant" if isinstance(message, AIMessage) else "User"
    return MemoryRecord(str(message.text), message.id, {"messageRole": role})


def _delivered(state: MemoryState) -> str:
    """Return the id of the last message that an earlier run has stored, or that is there from before.

    The state has it if a checkpointer keeps the thread. Else this run's own messages are those at the end that are not
    the model's.
    """
    messages: Sequence[AnyMessage] = state["messages"]
    delivered: str | None = state.get("streambank_delivered")
    if delivered is not None and (delivered == "" or any(message.id == delivered for message in messages)):
        return delivered
    earlier: list[str | None] = [message.id for message in messages if isinstance(message, AIMessage)]
    return (earlier[-1] or "") if earlier else ""


def _augmented(request: ModelRequest[Any]) -> ModelRequest[Any]:
    recalled = request.state.get("streambank_recalled")
    if not recalled:
        return request
    system = request.system_message
    if system is None:
        return request.override(system_message=SystemMessage(recalled))
    content = f"{system.content}\n\n{recalled}" if isinstance(system.content, str) else None
    blocks = content or [*system.content, {"type": "text", "text": recalled}]
    return request.override(system_message=system.model_copy(update={"content": blocks}))
