"""Moves: the memories and streams of one scope become those of another, step by step."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from streambank.model import ids
from streambank.model.stream import StreamId

_JOB = re.compile(r"move-([a-z2-7]{26})-([1-9][0-9]{0,11})")

# The phase of a move, and how far it has come there.
MoveCursor: TypeAlias = tuple[str | int, ...]


class MovePhase(StrEnum):
    """The parts of a move, in their order: what was forgotten is known in the target before anything else is there."""

    TOMBSTONES = "TOMBSTONES"
    STREAMS = "STREAMS"
    REVISIONS = "REVISIONS"
    MEMORIES = "MEMORIES"
    REVIEWS = "REVIEWS"
    REMAINS = "REMAINS"


@dataclass(frozen=True, slots=True)
class Move:
    """One move of all that *scope* has to the scope *target*; *counts* are of what was moved so far.

    Until it has ended both scopes are closed to every writer of memories.
    """

    bank: str
    cid: str
    number: int
    started: datetime
    scope: dict[str, str]
    target: dict[str, str]
    cursor: MoveCursor = (MovePhase.TOMBSTONES,)
    counts: Mapping[str, int] = field(default_factory=dict)
    ended: datetime | None = None

    @property
    def id(self) -> str:
        """Return the id of its operation."""
        return f"move-{self.cid}-{self.number}"

    @property
    def request(self) -> dict[str, str]:
        """Return the target, which is all that a caller asks for."""
        return self.target

    @property
    def target_cid(self) -> str:
        return ids.scope_id(self.target)

    def advanced(self, cursor: MoveCursor, counts: Mapping[str, int]) -> Move:
        """Return it with *cursor*, and with *counts* added to its own."""
        return replace(self, cursor=cursor, counts=dict(Counter(self.counts) + Counter(counts)))


@dataclass(frozen=True, slots=True)
class MoveId:
    """The operation of a move."""

    cid: str
    number: int

    @classmethod
    def parse(cls, text: str) -> MoveId | None:
        """Return the move that *text* names, or None if it names none."""
        match = _JOB.fullmatch(text)
        return cls(match[1], int(match[2])) if match else None


@dataclass(frozen=True, slots=True)
class StreamMove:
    """A stream that a move takes to *target*, with its events up to *seq* and its windows up to *window*.

    *markers* is the stream in which the ids of its events are known from then on.
    """

    sid: str
    target: StreamId
    markers: str
    seq: int
    window: int

    @property
    def is_renamed(self) -> bool:
        """Tell whether the target had a stream with the name of this one."""
        return self.markers != self.target.sid
