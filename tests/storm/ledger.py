"""What callers sent and were answered, in order: which events must be there in the end, and which must be gone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from streambank.model.ids import OperationId
from tests.storm.streets import scope_of


class EventKey(NamedTuple):
    """An event with an id: its bank, stream and id."""

    bank: str
    stream: str
    event_id: str

    @property
    def scope(self) -> tuple[str, str]:
        """Return its bank and its user."""
        return self.bank, scope_of(int(self.stream[1:]))


@dataclass(frozen=True)
class Told:
    """A call that was acknowledged: the ids of its events in their stream, and the operation."""

    bank: str
    stream: str
    ids: tuple[str, ...]
    operation: OperationId
    forced: bool

    @property
    def events(self) -> tuple[EventKey, ...]:
        return tuple(EventKey(self.bank, self.stream, one) for one in self.ids)


@dataclass
class ErasureCall:
    """A call that erases a scope; it has joined the erasure that was under way *before* if that is its *number*."""

    scope: tuple[str, str]
    before: int | None
    began: int
    number: int | None = None
    answered: int | None = None
    failed: int | None = None


@dataclass
class Ledger:
    """Moments are numbers that only grow: what has the lower one was over before the other began."""

    told: list[Told] = field(default_factory=list)
    erasures: list[ErasureCall] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    moved: dict[str, bool] = field(default_factory=dict)
    """The users whose scopes were moved, and whether the last move was answered as done."""
    pins: dict[str, set[bool]] = field(default_factory=dict)
    """The pins that a memory may have in the end: that of the last answer, and those of calls beside or after it."""
    _pinned: dict[str, int] = field(default_factory=dict)
    _moment: int = 0
    _sent: dict[EventKey, int] = field(default_factory=dict)
    _answered: dict[EventKey, int] = field(default_factory=dict)

    def now(self) -> int:
        """Return a moment that is later than all before it."""
        self._moment += 1
        return self._moment

    def send(self, events: Iterable[EventKey]) -> None:
        """Note that *events* are about to be sent, perhaps again."""
        moment = self.now()
        for one in events:
            self._sent.setdefault(one, moment)

    def answer(self, told: Told) -> None:
        """Note that a call was acknowledged."""
        self.told.append(told)
        moment = self.now()
        for one in told.events:
            self._answered.setdefault(one, moment)

    def begin_pin(self, memory: str, *, is_pinned: bool) -> int:
        """Note that a memory is about to be pinned, or unpinned, and return the moment."""
        self.pins.setdefault(memory, {False}).add(is_pinned)
        self._pinned[memory] = self.now()
        return self._pinned[memory]

    def end_pin(self, memory: str, begun: int, *, is_pinned: bool) -> None:
        """Note that the call that began then was answered; it is the last unless another one began meanwhile."""
        if self._pinned[memory] == begun:
            self.pins[memory] = {is_pinned}
        else:
            self.pins[memory].add(is_pinned)

    def unanswered_erasures(self) -> set[tuple[str, str]]:
        """Return the scopes in which an erasure may have begun, and nobody knows how far it came."""
        return {call.scope for call in self.erasures if self._end(call) is None}

    def must_stay(self) -> set[EventKey]:
        """Return the events that were acknowledged, and first sent when each erasure of their scope was answered."""
        open_scopes, last = self.unanswered_erasures(), self._last_answers()
        return {
            one
            for one in self._answered
            if one.bank not in self.deleted
            and one.scope not in open_scopes
            and last.get(one.scope, 0) < self._sent[one]
        }

    def must_go(self) -> set[EventKey]:
        """Return the events that were acknowledged before an erasure of their scope, or in a bank that was deleted."""
        return {
            one
            for one, moment in self._answered.items()
            if one.bank in self.deleted or any(self._erases(call, one, moment) for call in self.erasures)
        }

    def _last_answers(self) -> dict[tuple[str, str], int]:
        last: dict[tuple[str, str], int] = {}
        for call in self.erasures:
            last[call.scope] = max(last.get(call.scope, 0), self._end(call) or 0)
        return last

    def _end(self, call: ErasureCall) -> int | None:
        """Return when an erasure takes nothing newer any more: at its first reply, or that of a later call."""
        of_scope = [one for one in self.erasures if one.scope == call.scope and one.answered]
        if call.answered:
            return min(one.answered for one in of_scope if one.answered and one.number == call.number)
        later = (one.answered for one in of_scope if one.answered and call.failed and one.began > call.failed)
        return min(later, default=None)

    @staticmethod
    def _erases(call: ErasureCall, event: EventKey, moment: int) -> bool:
        has_joined = call.number == call.before
        return bool(call.scope == event.scope and call.answered and not has_joined and moment < call.began)

    def all_answered(self) -> set[EventKey]:
        """Return every event that was acknowledged."""
        return set(self._answered)
