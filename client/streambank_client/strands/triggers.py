"""Triggers: after each turn of an agent, or after every few turns."""

from __future__ import annotations

from collections.abc import Callable

from streambank_client.strands.agent_events import on_invocation_ended
from streambank_client.strands.hooks import AgentLoop
from streambank_client.strands.types import ExtractionTrigger, ExtractionTriggerContext

DEFAULT_TURNS = 5


class InvocationTrigger(ExtractionTrigger):
    """Saves after each turn."""

    name = "invocation"

    def attach(self, context: ExtractionTriggerContext) -> None:
        """Fire after each turn of the agent."""
        _after_each_turn(context, context.fire)


class IntervalTrigger(ExtractionTrigger):
    """Saves after every *turns* turns, counted for each store and agent.

    Raises:
        ValueError: *turns* is not a whole number of 1 or more.
    """

    name = "interval"

    def __init__(self, turns: int = DEFAULT_TURNS) -> None:
        if isinstance(turns, bool) or not isinstance(turns, int) or turns < 1:
            raise ValueError(f"IntervalTrigger: turns must be a whole number of 1 or more, got {turns!r}")
        self.turns = turns

    def attach(self, context: ExtractionTriggerContext) -> None:
        """Fire after every *turns* turns of the agent."""
        ended = 0

        def count() -> None:
            nonlocal ended
            ended += 1
            if ended % self.turns == 0:
                context.fire()

        _after_each_turn(context, count)


def _after_each_turn(context: ExtractionTriggerContext, callback: Callable[[], None]) -> None:
    if isinstance(context.agent, AgentLoop):
        context.agent.on_invocation_ended(callback)
    else:
        on_invocation_ended(context.agent, callback)
