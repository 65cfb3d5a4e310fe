"""Reindexing a bank: new vectors for memories whose vector is of another embedding model."""

from __future__ import annotations

import re
from dataclasses import dataclass

from streambank.model.bank_walk import BankWalk, WalkCursor

_JOB = re.compile(r"reindex-([1-9][0-9]{0,11})")

# The last part is the last memory of the scope that was handled.
ReindexCursor = WalkCursor
# What became of a memory: it has a new vector, it keeps its own, or the model gave none for its text.
REINDEXED, KEPT, FAILED = "reindexed", "kept", "failed"


@dataclass(frozen=True, slots=True)
class Reindex(BankWalk):
    """One reindexing of a bank; *counts* are of memories."""

    @property
    def id(self) -> str:
        """Return the id of its operation."""
        return f"reindex-{self.number}"


def reindex_number(operation_id: str) -> int | None:
    """Return the number of the reindex that *operation_id* names, or None if it names none."""
    match = _JOB.fullmatch(operation_id)
    return int(match[1]) if match else None
