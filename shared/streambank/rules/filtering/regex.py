"""Regular expressions of callers: RE2, whose time is linear in the text whatever the pattern."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Half a megabyte for a program and its caches: RE2's module keeps the last 128 patterns of a process.
_MAX_BYTES = 1 << 19
# Linear time has a factor: where the caches do not suffice, every character costs up to one step per instruction.
_MAX_INSTRUCTIONS = 4_000


def compile_search(pattern: str) -> Callable[[str], bool]:
    """Return a search for *pattern* anywhere in a text. Raises ValueError for one that is invalid or too large."""
    import re2  # type: ignore[import-untyped]

    options = re2.Options()
    options.max_mem = _MAX_BYTES
    options.log_errors = False
    try:
        found = re2.compile(pattern, options)
    except re2.error as error:
        raise ValueError(f"is no RE2 pattern: {_said(error)}") from error
    if found.programsize > _MAX_INSTRUCTIONS:
        raise ValueError(f"is a pattern of {found.programsize} instructions; the limit is {_MAX_INSTRUCTIONS}")
    return lambda text: found.search(text) is not None


def _said(error: Exception) -> str:
    words: Any = error.args[0] if error.args else ""
    return (words.decode(errors="replace") if isinstance(words, bytes) else str(words))[:80]
