"""What erasures, exports, imports, reindexes and replays have in common."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol


class Job(Protocol):
    """Work on a bank that is done in steps, by one run after the other; *counts* are of what was done so far."""

    @property
    def id(self) -> str:
        """Return the id of its operation."""

    @property
    def bank(self) -> str:
        """Return the bank that it works on."""

    @property
    def number(self) -> int:
        """Return its number among the jobs of its kind, from 1."""

    @property
    def request(self) -> object:
        """Return what the caller asked for."""

    @property
    def started(self) -> datetime:
        """Return when it was started."""

    @property
    def ended(self) -> datetime | None:
        """Return when it ended, or None while it is under way."""

    @property
    def counts(self) -> Mapping[str, int]:
        """Return how many things of each kind were done."""
