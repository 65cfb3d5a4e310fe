"""Callbacks for the events of a Strands `Agent`; Strands is imported when one is registered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streambank_client.strands.types import AgentMessage


def on_message_added(agent: Any, callback: Callable[[AgentMessage], None]) -> None:
    """Call *callback* with each message that is added to the conversation of a Strands agent.

    Raises:
        ModuleNotFoundError: Strands is not installed.
    """
    from strands.hooks import MessageAddedEvent

    agent.add_hook(lambda event: callback(event.message), MessageAddedEvent)


def on_invocation_ended(agent: Any, callback: Callable[[], None]) -> None:
    """Call *callback* after each turn of a Strands agent, after the hooks of Strands itself.

    Raises:
        ModuleNotFoundError: Strands is not installed.
    """
    from strands.hooks import AfterInvocationEvent, HookOrder

    agent.add_hook(lambda _: callback(), AfterInvocationEvent, order=HookOrder.SDK_LAST)
