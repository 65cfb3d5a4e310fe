"""A sealed window: the events of one generation, its outbox and its operation record in one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from streambank.model.rule import Reason, TriggerRule, WindowSettings
from streambank.model.stream import StreamId
from streambank.model.validity import OPEN, Validity


class WindowState(StrEnum):
    """The states of a sealed window."""

    SEALED = "SEALED"
    DONE = "DONE"
    PARKED = "PARKED"
    ERASED = "ERASED"


@dataclass(frozen=True, slots=True)
class DirectMemory:
    """A fact that a caller states; it is stored verbatim."""

    fact: str
    topics: tuple[str, ...] = ()
    validity: Validity = OPEN


@dataclass(frozen=True, slots=True)
class Window:
    """*attempt* is the fence of its executions, *failures* counts tries, *cursor* the candidates committed.

    *due* is when the sweep handles it next. *is_expiry_suspended* tells that the expiry of its events is suspended
    until it is done, for some of them at least; *is_suspension_complete* that it is so for all of them. *is_awaited*
    tells that the next window of the stream waits off index `due`, so that the end of this one must make it due. *call*
    is the fingerprint of the direct call that made it under an idempotency key.
    """

    stream: StreamId
    number: int
    first_seq: int
    last_seq: int
    reason: Reason
    sealed: datetime
    last_arrival: datetime
    rule: TriggerRule | None = None
    settings: WindowSettings = field(default_factory=WindowSettings)
    state: WindowState = WindowState.SEALED
    attempt: int = 0
    failures: int = 0
    cursor: int = 0
    due: datetime | None = None
    began: datetime | None = None
    ended: datetime | None = None
    is_expiry_suspended: bool = False
    is_suspension_complete: bool = False
    is_awaited: bool = False
    failure: str | None = None
    provider_error: str | None = None
    outcome: dict[str, Any] = field(default_factory=dict)
    direct: tuple[DirectMemory, ...] = ()
    call: bytes = b""

    @property
    def count(self) -> int:
        """Return how many events are in it."""
        return self.last_seq - self.first_seq + 1

    def missing_seqs(self, stored: Iterable[int]) -> set[int]:
        """Return the numbers of its events that are not among the *stored* ones."""
        return set(range(self.first_seq, self.last_seq + 1)) - set(stored)

    @property
    def has_ended(self) -> bool:
        """Tell whether the next window of the stream may be generated."""
        return self.state is not WindowState.SEALED


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to generate one window: the input of every state of the state machine."""

    bank: str
    sid: str
    window: int
    attempt: int
