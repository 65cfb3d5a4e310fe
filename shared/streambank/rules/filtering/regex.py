"""Regular expressions from requests: RE2, which takes linear time in the text for every pattern."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

# Half a megabyte for a program and its caches; RE2's module keeps the last 128 patterns of a process.
_MAX_BYTES = 1 << 19
# If the caches are too small, each character costs up to one step per instruction, so the instructions are limited.
_MAX_INSTRUCTIONS = 4_000


def compile_search(pattern: str) -> Callable[[str], bool]:
    """Return a search for *pattern* in a text. Raises ValueError if the pattern is invalid or too large."""
    program = compiled(pattern)
    return lambda text: program.search(text) is not None


def compile_spans(pattern: str) -> Callable[[str], Iterator[tuple[int, int]]]:
    """Return what yields the start and end of each match of *pattern* in a text. Raises as `compile_search` does."""
    program = compiled(pattern)
    return lambda text: (match.span() for match in program.finditer(text))


def instructions(pattern: str) -> int:
    """Return how many instructions the program of *pattern* has. Raises as `compile_search` does."""
    return int(compiled(pattern).programsize)


def compiled(pattern: str, *, max_bytes: int = _MAX_BYTES) -> Any:
    """Return the program of *pattern*, which has *max_bytes* for itself and its caches. Raises as `compile_search`."""
    # Imported here: it takes 9 ms, and only requests with a pattern need it.
    import re2  # noqa: PLC0415

    options = re2.Options()
    options.max_mem = max_bytes
    options.log_errors = False
    try:
        program = re2.compile(pattern, options)
    except re2.error as error:
        raise ValueError(f"is not an RE2 pattern: {_message(error)}") from error
    if program.programsize > _MAX_INSTRUCTIONS:
        raise ValueError(f"is a pattern of {program.programsize} instructions; the limit is {_MAX_INSTRUCTIONS}")
    return program


def _message(error: Exception) -> str:
    message: Any = error.args[0] if error.args else ""
    return (message.decode(errors="replace") if isinstance(message, bytes) else str(message))[:80]
