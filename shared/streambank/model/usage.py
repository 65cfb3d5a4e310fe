"""What model calls cost."""

from __future__ import annotations

from dataclasses import astuple, dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls that a model answered, characters sent, tokens as billed, and sends that had to be repeated."""

    calls: int = 0
    characters: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    retries: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))

    @property
    def tokens(self) -> int:
        """Return what counts against a budget."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Prices:
    """Dollars for a million tokens, 0 where the operator names none; see docs/costs.md for where to look them up."""

    input_tokens: float = 0.0
    output_tokens: float = 0.0

    def estimate(self, usage: Usage) -> float:
        """Return what *usage* costs in dollars."""
        millions = usage.input_tokens * self.input_tokens + usage.output_tokens * self.output_tokens
        return round(millions / 1_000_000, 6)
