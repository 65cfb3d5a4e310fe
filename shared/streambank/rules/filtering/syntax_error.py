"""What is wrong with a filter, and where."""

from __future__ import annotations


class FilterSyntaxError(ValueError):
    """A filter breaks a rule at *column*, counted in characters from 1; `parse` makes it an InvalidArgument."""

    def __init__(self, column: int, problem: str) -> None:
        super().__init__(f"column {column}: {problem}")
