"""Names of fields: snake_case here, either spelling from callers."""

from __future__ import annotations

import re

_HUMP = re.compile(r"[A-Z]")


def to_snake_case(name: str) -> str:
    """Return the snake_case spelling of *name*, which is in camelCase or in snake_case already."""
    return _HUMP.sub(lambda found: "_" + found[0].lower(), name)


def join_names(names: list[str], last: str = "and") -> str:
    """Return *names* as a sentence lists them."""
    return f" {last} ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)
