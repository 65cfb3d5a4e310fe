"""Plays a conversation through the service, turn by turn, and watches its windows."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from streambank_local.demo.api import Api, DemoError, Document
from streambank_local.demo.conversation import Conversation, Session, Turn
from streambank_local.demo.screen import Screen

EVENT_COUNT = 12
IDLE = timedelta(minutes=10)
OVERLAP = 2
STREAM = "chat"
RULE = {"eventCount": EVENT_COUNT, "idleDuration": f"{IDLE.seconds}s", "overlapEventCount": OVERLAP}
# Longer than any trigger of the conversation, and than the 24 hours after which every window is sealed.
AFTERWARDS = timedelta(hours=25)
PATIENCE_SECONDS = 30
_VERDICTS = "CREATED UPDATED DELETED UNCHANGED REJECTED"
_TRIGGERS = {"EVENT_COUNT": f"{EVENT_COUNT} events", "IDLE_DURATION": f"{IDLE.seconds // 60} minutes of silence"}


@dataclass(slots=True)
class Played:
    """What was sent, what the service said to it, and the operations that it answered with."""

    started: datetime
    sent: int = 0
    accepted: int = 0
    duplicates: int = 0
    open: dict[str, None] = field(default_factory=dict)
    windows: list[Document] = field(default_factory=list)
    generations: list[Document] = field(default_factory=list)

    def day(self, at: datetime) -> int:
        """Return the day of the conversation on which *at* is, counted from 0."""
        return (at - self.started).days

    def receive(self, answer: Document, count: int) -> None:
        """Take the answer to a call of *count* events into account."""
        self.sent += count
        self.accepted += answer["metadata"]["acceptedEvents"]
        self.duplicates += answer["metadata"]["duplicateEvents"]
        if answer["name"] not in {window["name"] for window in self.windows}:
            self.open[answer["name"]] = None


def play(conversation: Conversation, api: Api, screen: Screen) -> Played:
    """Send every event at its time, and return when all windows are done. Raises DemoError."""
    player = _Player(conversation, api, screen, Played(api.now()))
    try:
        for session in conversation.sessions:
            player.play(session)
        player.finish()
    finally:
        screen.end_progress()
    return player.played


@dataclass(slots=True)
class _Player:
    conversation: Conversation
    api: Api
    screen: Screen
    played: Played

    def play(self, session: Session) -> None:
        """Move to the day of *session*, repeat what the client repeats, and say what is new."""
        self._move_to(session.offset)
        self.screen.line(f"day {session.offset.days:2}  {session.title}", style="bold")
        self.screen.item(session.note, indent=8, style="dim")
        if session.sent_again:
            self._send_again(session)
        for call in session.calls():
            self._move_to(call[-1].offset)
            self._send(session, call)
            self.screen.progress(self.played.accepted, self.conversation.event_count)

    def finish(self) -> None:
        """Let a day pass and wait for what is still open."""
        self.api.advance(AFTERWARDS)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self._watch():
            if time.monotonic() > deadline:
                raise DemoError(f"operation {next(iter(self.played.open))} does not get done")
            time.sleep(0.1)

    def _move_to(self, offset: timedelta) -> None:
        by = self.played.started + offset - self.api.now()
        if by > timedelta(0):
            self.api.advance(by)
        self._watch()

    def _send_again(self, session: Session) -> None:
        before = self.played.duplicates
        self._send(session, session.sent_again)
        dropped = self.played.duplicates - before
        self._note(f"the client sends {len(session.sent_again)} events again: {dropped} dropped as duplicates")

    def _send(self, session: Session, turns: Sequence[Turn]) -> None:
        body = {
            "scope": self.conversation.scope,
            "streamId": STREAM,
            "directContentsSource": {"events": [self._event(turn) for turn in turns]},
            "generationTriggerConfig": {"generationRule": RULE},
            "revisionLabels": {"session": session.title},
        }
        self.played.receive(self.api.ingest(body), len(turns))

    def _event(self, turn: Turn) -> Document:
        said = self.played.started + turn.offset
        return {"eventId": turn.event_id, "eventTime": said.isoformat(), "content": turn.content}

    def _watch(self) -> bool:
        """Look at the open operations; return whether one is still open."""
        for name in list(self.played.open):
            operation = self.api.get(name)
            if "error" in operation:
                raise DemoError(f"operation {name}: {operation['error']['message']}")
            if operation["done"]:
                self._close(operation)
        return bool(self.played.open)

    def _close(self, operation: Document) -> None:
        del self.played.open[operation["name"]]
        self.played.windows.append(operation)
        self.played.generations.append(self.api.get(operation["metadata"]["generateMemoriesOperation"]))
        self._note(_told(operation["metadata"]))

    def _note(self, text: str) -> None:
        self.screen.line(f"        {text}")


def _told(metadata: Document) -> str:
    trigger = _TRIGGERS.get(metadata["trigger"], metadata["trigger"])
    events = metadata["coverage"]["events"]
    counts = sorted(metadata["verdictCounts"].items(), key=lambda pair: (_VERDICTS.find(pair[0]), pair[0]))
    verdicts = ", ".join(f"{count} {verdict.lower()}" for verdict, count in counts)
    return f"window {metadata['window']} ({events} events) after {trigger}: {verdicts or 'nothing to remember'}"
