"""How long a store that fails is left alone."""

from __future__ import annotations

from dataclasses import dataclass

# 2 ** 30 seconds are 34 years, and no float overflows.
_MOST_DOUBLINGS = 30


@dataclass(frozen=True)
class Backoff:
    """Full jitter: any time up to *base_seconds*, doubled with each failure in a row, at most *most_seconds*.

    Raises:
        ValueError: a number is negative.
    """

    base_seconds: float = 1.0
    most_seconds: float = 300.0

    def __post_init__(self) -> None:
        if self.base_seconds < 0 or self.most_seconds < 0:
            raise ValueError("Backoff: seconds must not be negative")

    def delay_seconds(self, failures: int, *, share: float, asked_seconds: float = 0.0) -> float:
        """Return the pause after *failures* in a row; *share* (0 to 1) is the jitter, *asked_seconds* a wish."""
        span = min(self.most_seconds, self.base_seconds * 2.0 ** min(failures - 1, _MOST_DOUBLINGS))
        return max(span * share, min(asked_seconds, self.most_seconds))
