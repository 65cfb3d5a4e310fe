"""Erasures: what is to go, how far one has come, and what went."""

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
    """What goes beside a scope: the sessions of a user, and conversations."""

    user_id: str | None = None
    conversation_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Erasure:
    """One erasure of a scope, or of a bank where *cid* is empty; *counts* says how many things of each kind went.

    A run that dies takes its own counts with it: they are what went at least. *place* is how far one has come in a
    bank.
    """

    bank: str
    cid: str
    number: int
    started: datetime
    scope: Mapping[str, str] = field(default_factory=dict)
    asked: ErasureTarget = field(default_factory=ErasureTarget)
    ended: datetime | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    place: RegistryCursor = (0, "")

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
        """Return the erasure that *text* names, or None if it is none of ours."""
        scope, bank = _SCOPE_JOB.fullmatch(text), _BANK_JOB.fullmatch(text)
        if scope:
            return cls(scope[1], int(scope[2]))
        return cls("", int(bank[1])) if bank else None


@dataclass(frozen=True, slots=True)
class Cut:
    """Up to which event and window a stream is erased; what came later is none of the erasure's business."""

    seq: int
    window: int
