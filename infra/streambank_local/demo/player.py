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
# Longer than every trigger of the conversation, and than the 24 hours after which every window is sealed.
FINAL_ADVANCE = timedelta(hours=25)
TIMEOUT_SECONDS = 30
_LABEL_WIDTH = 10
_TRIGGERS = {"EVENT_COUNT": f"{EVENT_COUNT} events", "IDLE_DURATION": f"{IDLE.seconds // 60} minutes of silence"}


@dataclass(slots=True)
class PlayResult:
    """Counts of the sent events, and the operations of their windows."""

    started: datetime
    sent: int = 0
    accepted: int = 0
    duplicates: int = 0
    open_operations: dict[str, None] = field(default_factory=dict)
    windows: list[Document] = field(default_factory=list)
    generations: list[Document] = field(default_factory=list)
    candidates: list[Document] = field(default_factory=list)

    def day(self, at: datetime) -> int:
        """Return the day of the conversation on which *at* is, counted from 0."""
        return (at - self.started).days

    def add_reply(self, reply: Document, count: int) -> None:
        """Add the reply to a call of *count* events."""
        self.sent += count
        self.accepted += reply["metadata"]["acceptedEvents"]
        self.duplicates += reply["metadata"]["duplicateEvents"]
        if reply["name"] not in {window["name"] for window in self.windows}:
            self.open_operations[reply["name"]] = None


def play(conversation: Conversation, api: Api, screen: Screen) -> PlayResult:
    """Send every event at its time, and return when all windows are done; raises DemoError."""
    player = _Player(conversation, api, screen, PlayResult(api.now()))
    try:
        for session in conversation.sessions:
            player.play(session)
        player.finish()
    finally:
        screen.end_progress()
    return player.result


@dataclass(slots=True)
class _Player:
    conversation: Conversation
    api: Api
    screen: Screen
    result: PlayResult

    def play(self, session: Session) -> None:
        """Move the clock to *session*, send again what the client repeats, then send the session's events."""
        self._move_to(session.offset)
        self.screen.item(f"day {session.offset.days:2}  {session.title}", indent=0, style="bold")
        self.screen.item(session.note, indent=8, style="dim")
        if session.resent:
            self._resend(session)
        for call in session.calls():
            self._move_to(call[-1].offset)
            self._send(session, call)
            self.screen.progress(self.result.accepted, self.conversation.event_count)

    def finish(self) -> None:
        """Let a day pass, and wait for the operations that are still open."""
        self.api.advance(FINAL_ADVANCE)
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while self._check_operations():
            if time.monotonic() > deadline:
                raise DemoError(f"operation {next(iter(self.result.open_operations))} is not done in time")
            time.sleep(0.1)

    def _move_to(self, offset: timedelta) -> None:
        by = self.result.started + offset - self.api.now()
        if by > timedelta(0):
            self.api.advance(by)
        self._check_operations()

    def _resend(self, session: Session) -> None:
        before = self.result.duplicates
        self._send(session, session.resent)
        dropped = self.result.duplicates - before
        self._note(f"the client sends {len(session.resent)} events again: {dropped} dropped as duplicates")

    def _send(self, session: Session, turns: Sequence[Turn]) -> None:
        body = {
            "scope": self.conversation.scope,
            "streamId": STREAM,
            "directContentsSource": {"events": [self._event(turn) for turn in turns]},
            "generationTriggerConfig": {"generationRule": RULE},
            "revisionLabels": {"session": session.title},
        }
        self.result.add_reply(self.api.ingest(body), len(turns))

    def _event(self, turn: Turn) -> Document:
        event_time = self.result.started + turn.offset
        return {"eventId": turn.event_id, "eventTime": event_time.isoformat(), "content": turn.content}

    def _check_operations(self) -> bool:
        """Read the open operations; return whether one is still open."""
        for name in list(self.result.open_operations):
            operation = self.api.get(name)
            if "error" in operation:
                raise DemoError(f"operation {name}: {operation['error']['message']}")
            if operation["done"]:
                self._add_window(operation)
        return bool(self.result.open_operations)

    def _add_window(self, operation: Document) -> None:
        del self.result.open_operations[operation["name"]]
        self.result.windows.append(operation)
        self.result.generations.append(self.api.get(operation["metadata"]["generateMemoriesOperation"]))
        self._note(_summary(operation["metadata"]))
        candidates = self.api.candidates(operation["name"])
        self.result.candidates += candidates
        self._show_candidates(candidates)

    def _show_candidates(self, candidates: Sequence[Document]) -> None:
        """Write each text that the window read something in, and below it what was made of the text."""
        for event_ids, facts in _by_events(candidates).items():
            for turn in map(self.conversation.turn, event_ids):
                self._row(self.conversation.speaker(turn), f'"{turn.text}"', style="bold")
            for verdict, fact in facts:
                self._row(verdict, fact, style="dim" if verdict == "rejected" else "")

    def _row(self, label: str, text: str, *, style: str) -> None:
        self.screen.item(text, label=label.ljust(_LABEL_WIDTH), indent=10, style=style)

    def _note(self, text: str) -> None:
        self.screen.item(text, indent=8)


def _summary(metadata: Document) -> str:
    trigger = _TRIGGERS.get(metadata["trigger"], metadata["trigger"])
    events = metadata["coverage"]["events"]
    return f"window {metadata['window']} ({events} events) is sealed after {trigger}"


def _by_events(candidates: Sequence[Document]) -> dict[tuple[str, ...], list[tuple[str, str]]]:
    """Return the verdicts and facts by the events that they cite, in the order of the events."""
    groups: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for candidate in sorted(candidates, key=lambda candidate: int(candidate["events"][-1]["sequence"])):
        event_ids = tuple(event["eventId"] for event in candidate["events"])
        verdicts = ((verdict["verdict"].lower(), candidate["fact"]) for verdict in candidate["verdicts"])
        groups.setdefault(event_ids, []).extend(verdicts)
    return groups
