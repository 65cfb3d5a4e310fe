"""LoCoMo's conversations, as turns and questions."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

# Category 5 asks about things that the conversation does not mention.
_ANSWERABLE = (1, 2, 3, 4)
_TURN_ID = re.compile(r"D\d+:\d+")


@dataclass(frozen=True, slots=True)
class Turn:
    """One line of a conversation, as an event's text."""

    id: str
    session: int
    at: datetime
    text: str

    @property
    def line(self) -> str:
        """Return the text of the turn in a search."""
        return f"[{self.at.date().isoformat()}] {self.text}"


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the turns that answer it."""

    text: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns in order, questions, and the turns that LoCoMo's own observations cite."""

    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]
    observed: frozenset[str]


def load(path: Path) -> list[Conversation]:
    """Return the conversations of LoCoMo's file."""
    return [_conversation(one) for one in json.loads(path.read_text(encoding="utf-8"))]


def _conversation(one: dict[str, Any]) -> Conversation:
    turns = tuple(_turns(one["conversation"]))
    turn_ids = {turn.id for turn in turns}
    questions = (Question(qa["question"], _cited(qa["evidence"]) & turn_ids) for qa in one["qa"] if _is_answerable(qa))
    observed = _cited(json.dumps(one["observation"])) & turn_ids
    return Conversation(turns, tuple(question for question in questions if question.evidence), observed)


def _is_answerable(qa: dict[str, Any]) -> bool:
    return qa["category"] in _ANSWERABLE


def _cited(value: Any) -> frozenset[str]:
    return frozenset(_TURN_ID.findall(str(value)))


def _turns(conversation: dict[str, Any]) -> list[Turn]:
    numbers = sorted(int(name.split("_")[1]) for name in conversation if re.fullmatch(r"session_\d+", name))
    return [turn for number in numbers for turn in _session(conversation, number)]


def _session(conversation: dict[str, Any], number: int) -> list[Turn]:
    begun = datetime.strptime(conversation[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    return [
        Turn(line["dia_id"], number, begun + timedelta(seconds=second), f"{line['speaker']}: {line['text']}")
        for second, line in enumerate(conversation[f"session_{number}"])
    ]
