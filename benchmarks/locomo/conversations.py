"""LoCoMo's conversations, as turns and questions."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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

    @property
    def sessions(self) -> dict[str, int]:
        """Return the session of each turn."""
        return {turn.id: turn.session for turn in self.turns}


def load(path: Path, joined: int = 1) -> list[Conversation]:
    """Return the conversations of LoCoMo's file; each *joined* consecutive turns of a session are one."""
    return [_conversation(one, joined) for one in json.loads(path.read_text(encoding="utf-8"))]


def _conversation(one: dict[str, Any], joined: int) -> Conversation:
    parts = [
        session[first : first + joined]
        for session in _sessions(one["conversation"])
        for first in range(0, len(session), joined)
    ]
    places = {turn.id: part[0].id for part in parts for turn in part}
    questions = (Question(qa["question"], _cited(qa["evidence"], places)) for qa in one["qa"] if _is_answerable(qa))
    observed = _cited(json.dumps(one["observation"]), places)
    return Conversation(
        tuple(map(_joined, parts)), tuple(question for question in questions if question.evidence), observed
    )


def _joined(turns: Sequence[Turn]) -> Turn:
    return replace(turns[0], text="\n".join(turn.text for turn in turns))


def _is_answerable(qa: dict[str, Any]) -> bool:
    return qa["category"] in _ANSWERABLE


def _cited(value: Any, places: Mapping[str, str]) -> frozenset[str]:
    """Return the turns that *value* cites; *places* has the turn that each of LoCoMo's turns is in."""
    return frozenset(places[one] for one in _TURN_ID.findall(str(value)) if one in places)


def _sessions(conversation: dict[str, Any]) -> list[list[Turn]]:
    numbers = sorted(int(name.split("_")[1]) for name in conversation if re.fullmatch(r"session_\d+", name))
    return [_session(conversation, number) for number in numbers]


def _session(conversation: dict[str, Any], number: int) -> list[Turn]:
    begun = datetime.strptime(conversation[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    return [
        Turn(line["dia_id"], number, begun + timedelta(seconds=second), f"{line['speaker']}: {line['text']}")
        for second, line in enumerate(conversation[f"session_{number}"])
    ]
