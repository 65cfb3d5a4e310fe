"""The usage and the price of model calls."""

from __future__ import annotations

from dataclasses import astuple, dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Answered calls, characters sent, billed tokens, and retries.

    *micros* is an estimate in millionths of a dollar, 0 if no price is known. *embedding_tokens* is an estimate from
    above: not every embedding model reports its tokens. *cache_read_tokens* and *cache_write_tokens* are those of the
    *input_tokens* that a prompt cache gave or took. *personal_data_calls* and *personal_data_units* are requests to the
    service for personal data, and the units of text that it bills; *micros* does not hold their price.
    """

    calls: int = 0
    characters: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    retries: int = 0
    micros: int = 0
    embedding_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    personal_data_calls: int = 0
    personal_data_units: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(left + right for left, right in zip(astuple(self), astuple(other), strict=True)))

    @property
    def tokens(self) -> int:
        """Return the tokens that count against a budget."""
        return self.input_tokens + self.output_tokens + self.embedding_tokens


# The prices of a prompt cache as shares of the price of input, for Claude and caches of five minutes
# (https://platform.claude.com/docs/en/about-claude/pricing).
_CACHE_READ_SHARE = 0.1
_CACHE_WRITE_SHARE = 1.25


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens, so also millionths of a dollar per token.

    Where the prices of a prompt cache are None, they are Claude's share of the price of input.
    """

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None

    def of(self, usage: Usage) -> int:
        """Return the cost of *usage* in millionths of a dollar."""
        read = self.input * _CACHE_READ_SHARE if self.cache_read is None else self.cache_read
        write = self.input * _CACHE_WRITE_SHARE if self.cache_write is None else self.cache_write
        uncached = usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens
        cached = usage.cache_read_tokens * read + usage.cache_write_tokens * write
        return round(uncached * self.input + cached + usage.output_tokens * self.output)
