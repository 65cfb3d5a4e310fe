"""What each bank must hold, in plain dicts: streams, memories, and the words that may be shown."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count

from tests.blackbox.words import fact_of, words_in

Scope = tuple[tuple[str, str], ...]
_steps = count(1)


def scope_of(value: dict[str, str]) -> Scope:
    return tuple(sorted(value.items()))


@dataclass
class Event:
    """An accepted event; its text is None once an erasure has removed its fingerprint."""

    id: str | None
    text: str | None
    operation: str
    number: int
    is_erased: bool = False


@dataclass
class Moment:
    """A time of the service that is known from both sides of a call."""

    earliest: datetime
    latest: datetime


@dataclass
class Stream:
    scope: Scope
    id: str
    rule: dict[str, object] | None = None
    events: list[Event] = field(default_factory=list)
    pending: list[Event] = field(default_factory=list)
    first: Moment | None = None
    """When the first event arrived; None where a tick cannot be foreseen."""
    oldest: Moment | None = None
    newest: Moment | None = None
    is_due: bool = False
    has_overlap: bool = False
    is_imported: bool = False

    def event(self, event_id: str) -> Event | None:
        return next((event for event in self.events if event.id == event_id), None)

    def due(self, now: datetime) -> bool | None:
        """Return whether the pending events must be in a sealed window by *now*; None if both are right."""
        if not self.pending or self.is_due:
            return bool(self.pending)
        assert self.newest
        assert self.oldest
        waits = [(self.newest, timedelta(hours=24))]
        rule = self.rule or {}
        if "idleDuration" in rule:
            waits.append((self.newest, _duration(rule["idleDuration"])))
        if "fixedInterval" in rule:
            interval = _duration(rule["fixedInterval"])
            if self.first is None:
                return None if now >= self.oldest.earliest else False
            waits += [(self.oldest, _until_tick(self.first, self.oldest, interval))]
        answers = [_is_over(since, wait, now) for since, wait in waits]
        return True if True in answers else None if None in answers else False


@dataclass
class Memory:
    """One memory; *origin* is the same wherever an import has brought it."""

    origin: int
    scope: Scope
    facts: list[str]
    """By revision."""
    changed: int
    name: str | None = None
    operation: str | None = None
    deleted: datetime | None = None
    is_pinned: bool = False

    @property
    def fact(self) -> str:
        return self.facts[-1]


@dataclass
class Chat:
    text: str
    changed: int


@dataclass
class Bank:
    """Everything that a bank must hold."""

    path: str
    operator: str = ""
    writer: str = ""
    reader: str = ""
    bound_reader: str = ""
    bound_scope: Scope = ()
    streams: dict[tuple[Scope, str], Stream] = field(default_factory=dict)
    memories: dict[int, Memory] = field(default_factory=dict)
    words: dict[str, Scope] = field(default_factory=dict)
    windows: set[str] = field(default_factory=set)
    """Operations of windows that were generated here."""
    chats: dict[str, Chat] = field(default_factory=dict)
    export: Export | None = None
    is_paused: bool = False
    """The bank has no budget, so that its sealed windows wait."""

    @property
    def id(self) -> str:
        return self.path.rsplit("/", 1)[1]

    def stream(self, scope: Scope, stream_id: str) -> Stream:
        return self.streams.setdefault((scope, stream_id), Stream(scope, stream_id))

    def writer_of(self, scope: Scope) -> str:
        """Return a key that may write to *scope*, the weakest that there is."""
        return self.writer if set(self.bound_scope) <= set(scope) else self.operator

    def live(self) -> list[Memory]:
        return [memory for memory in self.memories.values() if memory.deleted is None]

    def remember(self, scope: Scope, fact: str, *, name: str | None = None, operation: str | None = None) -> Memory:
        memory = Memory(next(_steps), scope, [fact], next(_steps), name, operation)
        self.memories[memory.origin] = memory
        self.show(fact, scope)
        return memory

    def change(self, memory: Memory, fact: str) -> None:
        memory.facts.append(fact)
        memory.changed = next(_steps)
        self.show(fact, memory.scope)

    def delete(self, memory: Memory, now: datetime) -> None:
        memory.facts.append("")
        memory.changed, memory.deleted = next(_steps), now

    def restore(self, memory: Memory, fact: str) -> None:
        memory.deleted = None
        self.change(memory, fact)

    def pin(self, memory: Memory, *, pinned: bool) -> None:
        memory.is_pinned, memory.changed = pinned, next(_steps)

    def show(self, text: str, scope: Scope) -> None:
        self.words.update(dict.fromkeys(words_in(text), scope))

    def put_chat(self, chat: str, text: str) -> None:
        self.drop_chat(chat)
        self.chats[chat] = Chat(text, next(_steps))
        self.show(text, _of_chat(chat))

    def drop_chat(self, chat: str) -> None:
        self.chats.pop(chat, None)
        self.words = {word: owner for word, owner in self.words.items() if owner != _of_chat(chat)}

    def flush(self, stream: Stream) -> None:
        """The pending events are generated: each is a memory of the stream's scope."""
        for event in stream.pending:
            assert event.text
            fact = fact_of(event.text)
            if not any((memory.fact, memory.scope) == (fact, stream.scope) for memory in self.live()):
                self.remember(stream.scope, fact, operation=event.operation)
            self.windows.add(event.operation)
        stream.pending.clear()
        stream.is_due = False

    def move(self, scope: Scope, target: Scope, operations: dict[str, str]) -> None:
        """Give all of *scope* to *target*, which has nothing yet; the names of moved *operations* are new."""
        for stream in [one for one in self.streams.values() if one.scope == scope and one.events]:
            moved = copy.copy(stream)
            moved.scope, moved.events = target, [copy.copy(event) for event in stream.events]
            moved.pending = [moved.events[event.number - 1] for event in stream.pending]
            for event in moved.events:
                event.operation = operations.get(event.operation, event.operation)
            self.streams[target, stream.id] = moved
            for event in stream.events:
                event.text, event.is_erased = None, True
            stream.pending, stream.is_due, stream.first = [], False, None
        for memory in [one for one in self.memories.values() if one.scope == scope]:
            del self.memories[memory.origin]
            memory.origin, memory.scope = next(_steps), target
            self.memories[memory.origin] = memory
        self.words = {word: target if owner == scope else owner for word, owner in self.words.items()}
        self.windows = {operations.get(name, name) for name in self.windows}

    def erase(self, scope: Scope | None = None) -> None:
        """Forget all data of *scope*, or of the bank; ids of events stay."""
        for stream in self.streams.values():
            if scope in (None, stream.scope):
                for event in stream.events:
                    event.text, event.is_erased = None, True
                stream.pending.clear()
                stream.is_due, stream.first = False, None
        self.memories = {origin: m for origin, m in self.memories.items() if scope not in (None, m.scope)}
        self.words = {word: owner for word, owner in self.words.items() if scope not in (None, owner)}
        if scope is None:
            self.chats.clear()


@dataclass
class Export:
    source: str
    streams: dict[tuple[Scope, str], list[Event]]
    rules: dict[tuple[Scope, str], dict[str, object] | None]
    memories: list[Memory]
    chats: dict[str, Chat]


def _of_chat(chat: str) -> Scope:
    """Return what stands for a scope in the words of a conversation, which has none."""
    return (("conversation", chat),)


def _duration(value: object) -> timedelta:
    return timedelta(seconds=int(str(value).removesuffix("s")))


def _is_over(since: Moment, wait: timedelta | None, now: datetime) -> bool | None:
    if wait is None:
        return None
    if now >= since.latest + wait:
        return True
    return False if now < since.earliest + wait else None


def _until_tick(first: Moment, arrival: Moment, interval: timedelta) -> timedelta | None:
    """Return how long after *arrival* the next tick is, or None where it is too near to say."""
    earliest = (arrival.earliest - first.latest) % interval
    latest = (arrival.latest - first.earliest) % interval
    if arrival is first:
        return interval
    return None if latest < earliest else interval - latest
