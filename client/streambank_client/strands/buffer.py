"""The messages of one agent that one store has not accepted yet."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from streambank_client.strands.types import AgentMessage, ExtractionResult


@dataclass(frozen=True)
class BufferedMessage:
    """A message of an agent and its number; the message is the agent's own object, so a later redaction is in it."""

    sequence: int
    message: AgentMessage
    message_id: str | None = None


@dataclass(frozen=True)
class BufferLimits:
    """How many messages of all agents may wait for a store, and how many are saved together."""

    most_waiting: int = 1_000
    most_together: int = 100

    def __post_init__(self) -> None:
        if self.most_waiting < 1 or self.most_together < 1:
            raise ValueError("BufferLimits: both must be 1 or more")


@dataclass(eq=False)
class MessageBuffer:
    """The waiting messages of one run, and the batch that is being saved; a failed batch stays as it is."""

    run_id: str
    most_together: int
    default_model: Any = None
    waiting: deque[BufferedMessage] = field(default_factory=deque)
    batch: tuple[BufferedMessage, ...] = ()
    # Facts that an extractor made of the batch and the store has not accepted yet; None before the extraction.
    entries: Sequence[ExtractionResult] | None = None

    def __len__(self) -> int:
        return len(self.batch) + len(self.waiting)

    def drop(self, *, is_saving: bool) -> int:
        """Drop the batch, or the oldest waiting message if the batch is empty or being saved; return how many."""
        if self.batch and not is_saving:
            dropped = len(self.batch)
            self.clear_batch()
            return dropped
        self.waiting.popleft()
        return 1

    def next_batch(self, until: int) -> tuple[BufferedMessage, ...]:
        """Return the batch that failed, else a new one of waiting messages up to number *until*."""
        batch: list[BufferedMessage] = []
        while not self.batch and self._has_more(len(batch), until):
            batch.append(self.waiting.popleft())
        self.batch = self.batch or tuple(batch)
        return self.batch

    def _has_more(self, batch_size: int, until: int) -> bool:
        return bool(self.waiting) and batch_size < self.most_together and self.waiting[0].sequence <= until

    def clear_batch(self) -> None:
        """Forget the batch: it is saved or dropped."""
        self.batch, self.entries = (), None

    def newest(self) -> int:
        """Return the number of the last message that is not saved, -1 if all are."""
        last = self.waiting[-1] if self.waiting else self.batch[-1] if self.batch else None
        return last.sequence if last else -1

    def unsaved(self, until: int) -> int:
        """Return how many messages up to number *until* are not saved."""
        return len(self.batch) + sum(message.sequence <= until for message in self.waiting)
