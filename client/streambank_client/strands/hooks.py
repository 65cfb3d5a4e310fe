"""What an agent loop tells us, and what a trigger may ask of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from streambank_client.strands.types import Message


@runtime_checkable
class AgentLoop(Protocol):
    """What a trigger hooks into: an `Attachment` is one, and so is any agent with these two methods."""

    def on_message_added(self, callback: Callable[[Message], None]) -> None:
        """Call *callback* with each message that joins the conversation."""
        ...

    def on_invocation_ended(self, callback: Callable[[], None]) -> None:
        """Call *callback* whenever a turn has ended, also one that failed."""
        ...


class Hooks:
    """The callbacks of one agent, called in the order in which they came, in the thread that tells of the event."""

    def __init__(self) -> None:
        self._on_message_added: list[Callable[[Message], None]] = []
        self._on_invocation_ended: list[Callable[[], None]] = []

    def on_message_added(self, callback: Callable[[Message], None]) -> None:
        """Call *callback* with each message that joins the conversation."""
        self._on_message_added.append(callback)

    def on_invocation_ended(self, callback: Callable[[], None]) -> None:
        """Call *callback* whenever a turn has ended."""
        self._on_invocation_ended.append(callback)

    def message_added(self, message: Message) -> None:
        """Tell that *message* joined the conversation."""
        for callback in self._on_message_added:
            callback(message)

    def invocation_ended(self) -> None:
        """Tell that a turn has ended, well or not."""
        for callback in self._on_invocation_ended:
            callback()
