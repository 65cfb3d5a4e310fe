"""The conversation that the demo plays, as its file has it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("conversation.json")
MOST_EVENTS_OF_A_CALL = 3


@dataclass(frozen=True, slots=True)
class Turn:
    """An event: what is sent, and when it is said, counted from the start of the conversation."""

    event_id: str
    offset: timedelta
    content: dict[str, Any]

    @property
    def is_said_by_user(self) -> bool:
        """Whether a person speaks; a tool's response has the user's role too."""
        return self.content["role"] == "user" and "text" in self.content["parts"][0]


@dataclass(frozen=True, slots=True)
class Session:
    """One sitting, and what the client sends again at its start because it does not know what has arrived."""

    number: int
    title: str
    note: str
    offset: timedelta
    turns: tuple[Turn, ...]
    sent_again: tuple[Turn, ...]

    def calls(self) -> Iterator[tuple[Turn, ...]]:
        """Yield the turns as a client sends them: the user's when they speak, the agent's once it has answered."""
        waiting: list[Turn] = []
        for turn in self.turns:
            if waiting and (turn.is_said_by_user or waiting[-1].is_said_by_user):
                yield from _parts(waiting)
                waiting = []
            waiting.append(turn)
        yield from _parts(waiting)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked at the end, and a word that the right memory holds."""

    ask: str
    answer: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """Everything that is played, and what is to be found afterwards."""

    scope: dict[str, str]
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]
    forgotten: str

    @property
    def event_count(self) -> int:
        return sum(len(session.turns) for session in self.sessions)

    @property
    def sent_again_count(self) -> int:
        return sum(len(session.sent_again) for session in self.sessions)


def load(file: Path = FILE) -> Conversation:
    """Return the conversation that *file* holds."""
    document = json.loads(file.read_text("utf-8"))
    questions = tuple(Question(one["ask"], one["answer"]) for one in document["questions"])
    return Conversation(document["scope"], tuple(_sessions(document["sessions"])), questions, document["forgotten"])


def _sessions(documents: list[dict[str, Any]]) -> Iterator[Session]:
    before: tuple[Turn, ...] = ()
    for number, one in enumerate(documents, 1):
        offset = timedelta(days=one["day"])
        turns = tuple(
            Turn(event["eventId"], offset + timedelta(seconds=event["seconds"]), event["content"])
            for event in one["events"]
        )
        again = before[len(before) - one["events_sent_again"] :]
        yield Session(number, one["title"], one["note"], offset, turns, again)
        before = turns


def _parts(turns: list[Turn]) -> Iterator[tuple[Turn, ...]]:
    for start in range(0, len(turns), MOST_EVENTS_OF_A_CALL):
        yield tuple(turns[start : start + MOST_EVENTS_OF_A_CALL])
