"""The conversation that the demo plays, read from conversation.json."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("conversation.json")
MAX_EVENTS_PER_CALL = 3


@dataclass(frozen=True, slots=True)
class Turn:
    """An event, with its time counted from the start of the conversation."""

    event_id: str
    offset: timedelta
    content: dict[str, Any]

    @property
    def is_user_text(self) -> bool:
        """Whether this is text of the user; a tool's response has the user's role too."""
        return self.content["role"] == "user" and "text" in self.content["parts"][0]

    @property
    def text(self) -> str:
        """Return the text of the turn; a turn of a tool has none."""
        return " ".join(part["text"] for part in self.content["parts"] if "text" in part)


@dataclass(frozen=True, slots=True)
class Session:
    """One session, and the turns that the client sends again at its start: it does not know what has arrived."""

    number: int
    title: str
    note: str
    offset: timedelta
    turns: tuple[Turn, ...]
    resent: tuple[Turn, ...]

    def calls(self) -> Iterator[tuple[Turn, ...]]:
        """Yield the turns as a client sends them: each text of the user alone, the agent's turns after its reply."""
        pending: list[Turn] = []
        for turn in self.turns:
            if pending and (turn.is_user_text or pending[-1].is_user_text):
                yield from _chunks(pending)
                pending = []
            pending.append(turn)
        yield from _chunks(pending)


@dataclass(frozen=True, slots=True)
class Question:
    """A question that is searched at the end, and a word that the right memory contains."""

    text: str
    expected_word: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """The sessions to play, and what the service must remember and forget."""

    scope: dict[str, str]
    user: str
    agent: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]
    forgotten_word: str

    @property
    def event_count(self) -> int:
        return sum(len(session.turns) for session in self.sessions)

    @property
    def resent_count(self) -> int:
        return sum(len(session.resent) for session in self.sessions)

    def turn(self, event_id: str) -> Turn:
        """Return the turn that was sent with *event_id*."""
        return next(turn for session in self.sessions for turn in session.turns if turn.event_id == event_id)

    def speaker(self, turn: Turn) -> str:
        """Return the name of who speaks in *turn*."""
        return self.user if turn.content["role"] == "user" else self.agent


def load(file: Path = FILE) -> Conversation:
    """Return the conversation that *file* holds."""
    document = json.loads(file.read_text("utf-8"))
    questions = tuple(Question(one["question"], one["expected_word"]) for one in document["questions"])
    return Conversation(
        document["scope"],
        document["user"],
        document["agent"],
        tuple(_sessions(document["sessions"])),
        questions,
        document["forgotten_word"],
    )


def _sessions(documents: list[dict[str, Any]]) -> Iterator[Session]:
    previous: tuple[Turn, ...] = ()
    for number, one in enumerate(documents, 1):
        offset = timedelta(days=one["day"])
        turns = tuple(
            Turn(event["eventId"], offset + timedelta(seconds=event["seconds"]), event["content"])
            for event in one["events"]
        )
        resent = previous[len(previous) - one["resent_event_count"] :]
        yield Session(number, one["title"], one["note"], offset, turns, resent)
        previous = turns


def _chunks(turns: list[Turn]) -> Iterator[tuple[Turn, ...]]:
    for start in range(0, len(turns), MAX_EVENTS_PER_CALL):
        yield tuple(turns[start : start + MAX_EVENTS_PER_CALL])
