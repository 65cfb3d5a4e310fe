"""The usage and the price of model calls."""

from __future__ import annotations

from dataclasses import astuple, dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Answered calls, characters sent, billed tokens, and retries.

    *micros* is an estimate in millionths of a dollar, 0 if no price is known. *embedding_tokens* is an estimate from
    above: not every embedding model reports its tokens.
    """

    calls: int = 0
    characters: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    retries: int = 0
    micros: int = 0
    embedding_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(left + right for left, right in zip(astuple(self), astuple(other), strict=True)))

    @property
    def tokens(self) -> int:
        """Return the tokens that count against a budget."""
        return self.input_tokens + self.output_tokens + self.embedding_tokens


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens, so also millionths of a dollar per token."""

    input: float
    output: float

    def of(self, usage: Usage) -> int:
        """Return the cost of *usage* in millionths of a dollar."""
        return round(usage.input_tokens * self.input + usage.output_tokens * self.output)
