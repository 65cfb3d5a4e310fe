"""Strands' session manager on a bank: one service holds a conversation and what is learnt from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from strands.hooks import AfterInvocationEvent, HookRegistry
from strands.session.repository_session_manager import RepositorySessionManager
from strands.types.session import SessionMessage

from streambank_client.banks import Bank
from streambank_client.chat.feeding import Feed
from streambank_client.chat.new_messages import LoadedMessages
from streambank_client.http.drivers import run
from streambank_client.http.encoding import JsonObject
from streambank_client.strands.session_repository import StreambankSessionRepository
from streambank_client.types.events import GenerationRule

# Blocks of which nothing is learnt.
_TOOL_BLOCKS = frozenset({"toolUse", "toolResult"})


class StreambankSessionManager(RepositorySessionManager):
    """Keeps an agent's conversation and state in a bank, and with a *scope* also sends its turns to a stream.

    The service makes memories of the stream, by *generation_rule*. A turn is sent when the invocation has ended, so a
    message that a guardrail redacted is sent as it was redacted. Its id is the message's `tracking_id`; tool calls and
    results are left out. Messages from before the manager was attached are not sent.

    Raises:
        ValueError: an argument could never work.
        StreambankError: the session can be neither read nor created.
    """

    def __init__(
        self,
        session_id: str,
        bank: Bank,
        *,
        scope: Mapping[str, str] | None = None,
        generation_rule: GenerationRule | Mapping[str, Any] | None = None,
        ttl_seconds: float | None = None,
    ) -> None:
        self.repository = StreambankSessionRepository(bank, ttl_seconds=ttl_seconds)
        self.feed: Feed | None = None
        if scope is not None:
            self.feed = Feed(bank, scope=scope, stream_id=session_id, format="strands", generation_rule=generation_rule)
        self._turns: defaultdict[str, list[SessionMessage]] = defaultdict(list)
        super().__init__(session_id, self.repository)

    def register_hooks(self, registry: HookRegistry, **more: Any) -> None:
        """Register Strands' own callbacks, and one that sends the turn."""
        super().register_hooks(registry, **more)
        registry.add_callback(AfterInvocationEvent, lambda event: self._end_turn(event.agent.agent_id))

    def append_message(self, message: Any, agent: Any, **more: Any) -> None:
        """Append a message to the agent's session."""
        super().append_message(message, agent, **more)
        appended = self._latest_agent_message[agent.agent_id]
        if self.feed and appended:
            self._turns[agent.agent_id].append(appended)

    def flush(self) -> int:
        """Try the writes that wait, and return how many still do; never raises StreambankError."""
        return self.repository.flush()

    def _end_turn(self, agent_id: str) -> None:
        turn = self._turns.pop(agent_id, [])
        messages = [one for one in map(_without_tools, turn) if one["content"]]
        if self.feed and messages:
            # Only messages of old releases of Strands lack an id.
            run_id = f"{agent_id} {turn[0].message_id} {turn[0].created_at}"
            to = self.feed.destination(self.session_id, scope=None, run_id=run_id)
            run(self.feed.send(messages, loaded=LoadedMessages(), to=to))


def _without_tools(stored: SessionMessage) -> JsonObject:
    message = stored.to_message()
    return {**message, "content": [block for block in message["content"] if not _TOOL_BLOCKS & block.keys()]}
