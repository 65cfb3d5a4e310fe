"""One agent's messages that one store has not taken yet."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from streambank_client.strands.types import ExtractionResult, Message


@dataclass(frozen=True)
class Said:
    """A message of an agent, in its order; the message itself is the live one, redacted if it was meanwhile."""

    sequence: int
    message: Message
    message_id: str | None = None


@dataclass(frozen=True)
class BufferLimits:
    """How many messages of all agents wait for a store at most, and how many are saved together."""

    most_waiting: int = 1_000
    most_together: int = 100

    def __post_init__(self) -> None:
        if self.most_waiting < 1 or self.most_together < 1:
            raise ValueError("BufferLimits: both must be 1 or more")


@dataclass(eq=False)
class Cursor:
    """Whose the messages are, those that wait, and the batch that is tried: it stays as it is until it is saved."""

    run_id: str
    most_together: int
    default_model: Any = None
    waiting: deque[Said] = field(default_factory=deque)
    batch: tuple[Said, ...] = ()
    # What an extractor found in the batch and the store has not taken yet; None before it was asked.
    entries: Sequence[ExtractionResult] | None = None

    def __len__(self) -> int:
        return len(self.batch) + len(self.waiting)

    def drop(self, *, is_tried: bool) -> int:
        """Give up the batch, or the oldest message while the batch is tried or there is none; return how many went."""
        if self.batch and not is_tried:
            dropped = len(self.batch)
            self.saved()
            return dropped
        self.waiting.popleft()
        return 1

    def next_batch(self, until: int) -> tuple[Said, ...]:
        """Return the batch that failed, else a new one of what was said up to number *until*."""
        taken: list[Said] = []
        while not self.batch and self._has_more(len(taken), until):
            taken.append(self.waiting.popleft())
        self.batch = self.batch or tuple(taken)
        return self.batch

    def _has_more(self, taken: int, until: int) -> bool:
        return bool(self.waiting) and taken < self.most_together and self.waiting[0].sequence <= until

    def saved(self) -> None:
        """Forget the batch."""
        self.batch, self.entries = (), None

    def newest(self) -> int:
        """Return the number of the last message that is not saved, -1 if all are."""
        last = self.waiting[-1] if self.waiting else self.batch[-1] if self.batch else None
        return last.sequence if last else -1

    def unsaved(self, until: int) -> int:
        """Return how many messages up to number *until* are not saved."""
        return len(self.batch) + sum(said.sequence <= until for said in self.waiting)
