"""A replay's verdicts beside the recorded ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streambank_client.types import ComparedVerdict, ReplayCost, ReplayResponse
from streambank_console.views import labels, text
from streambank_console.views.labels import Badge


@dataclass(frozen=True, slots=True)
class Side:
    """A verdict, and the fact or what the memory says after it."""

    badge: Badge
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A fact of both answers, or of one of them."""

    recorded: Side | None
    replayed: Side | None


@dataclass(frozen=True, slots=True)
class Compared:
    """Both answers side by side, and what each cost."""

    rows: tuple[ComparedRow, ...]
    costs: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


def compared(response: ReplayResponse) -> Compared:
    """Return both answers: facts of both beside each other, then those that only the replay has."""
    left = list(response.replayed)
    rows = [ComparedRow(_side(one), _side(_take(left, one.fact))) for one in response.recorded]
    rows += [ComparedRow(None, _side(one)) for one in left]
    costs = (("Recorded", _cost(response.recorded_cost)), ("Replayed", _cost(response.replayed_cost)))
    return Compared(tuple(rows), costs, _notes(response))


def _take(verdicts: list[ComparedVerdict], fact: str) -> ComparedVerdict | None:
    """Take the first verdict on *fact* out of the list."""
    index = next((index for index, one in enumerate(verdicts) if one.fact == fact), None)
    return None if index is None else verdicts.pop(index)


def _side(one: ComparedVerdict | None) -> Side | None:
    if one is None:
        return None
    return Side(labels.verdict(one.verdict), text.visible(one.text or one.fact), text.visible(one.reason or ""))


def _cost(cost: ReplayCost | None) -> str:
    one = cost or ReplayCost()
    tokens = text.count(one.input_tokens + one.output_tokens, "token")
    parts: Sequence[str] = (one.model or "", tokens, text.dollars(one.estimated_cost_usd))
    return ", ".join(part for part in parts if part)


def _notes(response: ReplayResponse) -> tuple[str, ...]:
    notes = list[str]()
    if response.memories_from == "NOW":
        notes.append("Some memories are shown as they are now: their earlier texts are not kept any more.")
    if response.missing_memories:
        gone = text.count(response.missing_memories, "memory", "memories")
        notes.append(f"{gone} that the recorded answer was given are gone, and were not shown again.")
    return tuple(notes)
