"""An event as a model sees it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from streambank.model.event import Role


@dataclass(frozen=True, slots=True)
class Turn:
    """One event as a model sees it: number, role, text and time; *context* marks a turn of an earlier window."""

    number: int
    role: Role
    text: str
    at: datetime
    context: bool = False
