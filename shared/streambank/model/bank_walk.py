"""A job that walks through all that a bank holds: a reindex, or the application of a content policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

# Shard and sort key of an entry in the registry, and the last item of what it names that was handled.
WalkCursor = tuple[int, str, str]


@dataclass(frozen=True, slots=True)
class BankWalk:
    """One such job.

    *run* is the fence: whoever claims the job raises it, and after that an earlier run can record nothing. *cursor* is
    None at the beginning.
    """

    bank: str
    number: int
    started: datetime
    run: int = 0
    cursor: WalkCursor | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    ended: datetime | None = None
    failure: str | None = None

    @property
    def request(self) -> None:
        """Return nothing: such a job has no options."""
