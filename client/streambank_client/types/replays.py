"""Replays: the verdicts of two configurations side by side."""

from __future__ import annotations

from streambank_client.types.base import Shape


class ReplayCost(Shape):
    """What an answer cost; *model* is its model's name, where that is known."""

    model: str | None = None
    model_calls: int | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    estimated_cost_usd: float = 0.0


class ComparedVerdict(Shape):
    """A verdict on a fact; *text* is what the memory said after it, if that changed. A new memory has no name."""

    fact: str
    verdict: str
    reason: str | None = None
    memory: str | None = None
    text: str | None = None


class WindowDifference(Shape):
    """A window whose verdicts differ, and the facts that only one of both answers has."""

    operation: str
    differing_verdicts: int = 0
    only_recorded: list[str] = []
    only_replayed: list[str] = []
    omitted_facts: int | None = None


class ReplaySummary(Shape):
    """What the replay of a bank has found so far; the windows that differ are listed once it has ended."""

    replayed: int = 0
    skipped: int = 0
    failed: int = 0
    different: int = 0
    recorded_verdicts: dict[str, int] = {}
    replayed_verdicts: dict[str, int] = {}
    only_recorded_facts: int = 0
    only_replayed_facts: int = 0
    recorded_cost: ReplayCost = ReplayCost()
    replayed_cost: ReplayCost = ReplayCost()
    differences: list[WindowDifference] = []


class ReplayResponse(Shape):
    """The verdicts of one window, as recorded and as replayed; or the summary of a bank's replay.

    *memories_from* is BEFORE_WINDOW, or NOW where an earlier text of a memory is not kept any more.
    """

    operation: str | None = None
    memories_from: str | None = None
    missing_memories: int | None = None
    recorded: list[ComparedVerdict] = []
    replayed: list[ComparedVerdict] = []
    omitted_verdicts: int | None = None
    recorded_cost: ReplayCost | None = None
    replayed_cost: ReplayCost | None = None
    summary: ReplaySummary | None = None
