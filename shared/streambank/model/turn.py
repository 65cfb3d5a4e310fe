"""An event as a model sees it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from streambank.model.event import Role


@dataclass(frozen=True, slots=True)
class Turn:
    """One event as a model sees it: its number, who spoke, the text, the instant, and whether it is context only."""

    number: int
    role: Role
    text: str
    at: datetime
    context: bool = False
