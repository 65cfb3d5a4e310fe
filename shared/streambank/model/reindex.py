"""Reindexing a bank: new vectors for memories whose vector is of another embedding model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

_JOB = re.compile(r"reindex-([1-9][0-9]{0,11})")

# Shard and sort key of a scope's entry in the registry, and the last memory of the scope that was handled.
ReindexCursor = tuple[int, str, str]
# What became of a memory: it has a new vector, it keeps its own, or the model gave none for its text.
REINDEXED, KEPT, FAILED = "reindexed", "kept", "failed"


@dataclass(frozen=True, slots=True)
class Reindex:
    """One reindexing of a bank.

    *run* is the fence: whoever claims the job raises it, and after that an earlier run can record nothing. *counts* are
    of memories. *cursor* is None at the beginning.
    """

    bank: str
    number: int
    started: datetime
    run: int = 0
    cursor: ReindexCursor | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    ended: datetime | None = None
    failure: str | None = None

    @property
    def id(self) -> str:
        """Return the id of its operation."""
        return f"reindex-{self.number}"

    @property
    def request(self) -> None:
        """Return nothing: a reindex has no options."""


def reindex_number(operation_id: str) -> int | None:
    """Return the number of the reindex that *operation_id* names, or None if it names none."""
    match = _JOB.fullmatch(operation_id)
    return int(match[1]) if match else None
