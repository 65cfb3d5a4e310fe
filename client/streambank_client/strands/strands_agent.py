"""Hooks into a Strands `Agent`, which are the only code here that imports Strands besides its store."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from streambank_client.strands.memory import Attachment, MemoryManager

if TYPE_CHECKING:
    from strands import Agent


def attach(manager: MemoryManager, agent: Agent) -> Attachment:
    """Attach our memory manager to a Strands agent, in the place of Strands' own.

    Raises:
        ModuleNotFoundError: Strands is not installed.
    """
    from strands.hooks import MessageAddedEvent

    attachment = manager.attach(default_model=getattr(agent, "aux_model", None) or agent.model)
    agent.add_hook(lambda event: attachment.message_added(event.message), MessageAddedEvent)
    on_invocation_ended(agent, attachment.invocation_ended)
    return attachment


def on_invocation_ended(agent: Any, callback: Callable[[], None]) -> None:
    """Call *callback* after each turn of a Strands agent, after the hooks of Strands itself.

    Raises:
        ModuleNotFoundError: Strands is not installed.
    """
    from strands.hooks import AfterInvocationEvent, HookOrder

    agent.add_hook(lambda _: callback(), AfterInvocationEvent, order=HookOrder.SDK_LAST)
