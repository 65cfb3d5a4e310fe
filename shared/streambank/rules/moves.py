"""Moving a scope: the names of its streams in the target, and the scopes that keyed hashes come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from streambank.model import ids

# The number of earlier scopes that a memory or tombstone keeps.
MAX_ORIGINS = 20
_SEPARATOR = "~"
_MAX_NAME_BYTES = 512
_DIGITS = 8


def names_in_target(name: str, cid: str) -> Iterator[str]:
    """Yield the names that stream *name* of the scope *cid* may have in a target: its own first, then derived ones."""
    yield name
    suffix = f"{_SEPARATOR}{cid[:_DIGITS]}"
    is_long = len(name.encode()) + len(suffix) + _DIGITS > _MAX_NAME_BYTES
    derived = (ids.digest(name) if is_long else name) + suffix
    yield derived
    yield from (f"{derived}-{number}" for number in count(2))


def earlier_names(name: str) -> Iterator[str]:
    """Yield *name*, and the names that a stream called so may have had before it was moved."""
    yield name
    while _SEPARATOR in name:
        name = name.rpartition(_SEPARATOR)[0]
        yield name


def origins_after(origins: Sequence[str], source: str, target: str) -> tuple[str, ...]:
    """Return the scopes, as canonical JSON, whose hashes something has once it was moved from *source* to *target*."""
    others = (one for one in origins if one not in (source, target))
    return (*others, source)[-MAX_ORIGINS:]
