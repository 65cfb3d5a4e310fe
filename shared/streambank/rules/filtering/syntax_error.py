"""The error of a filter that is not valid."""

from __future__ import annotations


class FilterSyntaxError(ValueError):
    """A filter is wrong at *column*, counted in characters from 1; `parse` raises it as InvalidArgument."""

    def __init__(self, column: int, problem: str) -> None:
        super().__init__(f"column {column}: {problem}")
