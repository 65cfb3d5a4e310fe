"""Erasures: what is to be deleted, how far an erasure has come, and what it deleted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

_SCOPE_JOB = re.compile(r"erase-([a-z2-7]{26})-([1-9][0-9]{0,11})")
_BANK_JOB = re.compile(r"erase-([1-9][0-9]{0,11})")

# A shard of a bank's registry, and an entry in it.
RegistryCursor: TypeAlias = tuple[int, str]


@dataclass(frozen=True, slots=True)
class ErasureTarget:
    """What is deleted along with a scope: the sessions of a user, and conversations."""

    user_id: str | None = None
    conversation_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Erasure:
    """One erasure of a scope, or of a bank where *cid* is empty.

    *counts* are how many things of each kind were deleted, at least: the counts of a run that dies are lost. *cursor*
    is how far the erasure of a bank has come. Once *is_cut* is set, streams without a cut of this erasure are newer.
    """

    bank: str
    cid: str
    number: int
    started: datetime
    scope: Mapping[str, str] = field(default_factory=dict)
    request: ErasureTarget = field(default_factory=ErasureTarget)
    ended: datetime | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    cursor: RegistryCursor = (0, "")
    is_cut: bool = False

    @property
    def id(self) -> str:
        """Return the id of its operation."""
        return f"erase-{self.cid}-{self.number}" if self.cid else f"erase-{self.number}"


@dataclass(frozen=True, slots=True)
class ErasureId:
    """The operation of an erasure; *cid* is empty where a bank is erased."""

    cid: str
    number: int

    @classmethod
    def parse(cls, text: str) -> ErasureId | None:
        """Return the erasure that *text* names, or None if it names none."""
        of_scope, of_bank = _SCOPE_JOB.fullmatch(text), _BANK_JOB.fullmatch(text)
        if of_scope:
            return cls(of_scope[1], int(of_scope[2]))
        return cls("", int(of_bank[1])) if of_bank else None


@dataclass(frozen=True, slots=True)
class Cut:
    """The last event and the last window of a stream that an erasure deletes; what came later stays.

    *erasure* is the number of the erasure. Windows up to *fenced* store nothing any more, and the markers up to the
    sort key *marker* have no fingerprint any more.
    """

    erasure: int
    seq: int
    window: int
    fenced: int = 0
    marker: str = ""
    is_done: bool = False
