"""Names of fields: snake_case inside, snake_case or camelCase in requests."""

from __future__ import annotations

import re

_CAPITAL = re.compile(r"[A-Z]")


def to_snake_case(name: str) -> str:
    """Return *name*, which is in camelCase or snake_case, in snake_case."""
    return _CAPITAL.sub(lambda match: "_" + match[0].lower(), name)


def join_names(names: list[str], last: str = "and") -> str:
    """Return *names* as a list in a sentence: "a, b and c"."""
    return f" {last} ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)
