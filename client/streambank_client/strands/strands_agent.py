"""Attaches the memory manager to a Strands `Agent`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streambank_client.strands.agent_events import on_invocation_ended, on_message_added
from streambank_client.strands.memory import Attachment, StreambankMemoryManager

if TYPE_CHECKING:
    from strands import Agent


def attach(manager: StreambankMemoryManager, agent: Agent) -> Attachment:
    """Attach the memory manager to a Strands agent, instead of Strands' own memory manager.

    Raises:
        ModuleNotFoundError: Strands is not installed.
    """
    attachment = manager.attach(default_model=getattr(agent, "aux_model", None) or agent.model)
    on_message_added(agent, attachment.message_added)
    on_invocation_ended(agent, attachment.invocation_ended)
    return attachment
