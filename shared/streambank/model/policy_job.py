"""Applying a bank's content policy to what is stored already."""

from __future__ import annotations

import re
from dataclasses import dataclass

from streambank.model.bank_walk import BankWalk

_JOB = re.compile(r"policy-([1-9][0-9]{0,11})")

# What became of an item that may hold text: it has other text now, or it keeps its own.
CHANGED, KEPT = "changed", "kept"


@dataclass(frozen=True, slots=True)
class PolicyJob(BankWalk):
    """One application of a policy; *counts* are of items of the table."""

    @property
    def id(self) -> str:
        """Return the id of its operation."""
        return f"policy-{self.number}"


def policy_job_number(operation_id: str) -> int | None:
    """Return the number of the application that *operation_id* names, or None if it names none."""
    match = _JOB.fullmatch(operation_id)
    return int(match[1]) if match else None
