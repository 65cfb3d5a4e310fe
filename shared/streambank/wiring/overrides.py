"""What stands in the place of a deployment's own clock and models; set before functions are loaded."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from streambank.llm.ports import ModelProvider


class Clock(Protocol):
    """Tells the time, with its zone."""

    def now(self) -> datetime: ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the time in UTC."""
        return datetime.now(UTC)


class Overrides:
    """The clock that rules timers, TTLs, backoff and tokens; and models, or None for the configured provider's."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.models: ModelProvider | None = None


# Local mode's clock can be moved, and its model needs no network. This is the only seam for both.
current = Overrides(SystemClock())
