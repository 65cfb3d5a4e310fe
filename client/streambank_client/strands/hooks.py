"""Events of an agent loop, and the callbacks for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from streambank_client.strands.types import AgentMessage


@runtime_checkable
class AgentLoop(Protocol):
    """An agent loop with callbacks for triggers: an `Attachment`, or any agent with these two methods."""

    def on_message_added(self, callback: Callable[[AgentMessage], None]) -> None:
        """Call *callback* with each message that is added to the conversation."""
        ...

    def on_invocation_ended(self, callback: Callable[[], None]) -> None:
        """Call *callback* whenever a turn has ended, also after an error."""
        ...


class AgentHooks:
    """The callbacks of one agent, called in the order of their registration, in the thread of the event."""

    def __init__(self) -> None:
        self._on_message_added: list[Callable[[AgentMessage], None]] = []
        self._on_invocation_ended: list[Callable[[], None]] = []

    def on_message_added(self, callback: Callable[[AgentMessage], None]) -> None:
        """Call *callback* with each message that is added to the conversation."""
        self._on_message_added.append(callback)

    def on_invocation_ended(self, callback: Callable[[], None]) -> None:
        """Call *callback* whenever a turn has ended."""
        self._on_invocation_ended.append(callback)

    def message_added(self, message: AgentMessage) -> None:
        """Report that *message* was added to the conversation."""
        for callback in self._on_message_added:
            callback(message)

    def invocation_ended(self) -> None:
        """Report that a turn has ended, with or without an error."""
        for callback in self._on_invocation_ended:
            callback()
