"""An event as a model sees it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

TurnRole = Literal["user", "model", "tool"]


@dataclass(frozen=True, slots=True)
class Turn:
    """The words of an event as a model sees them, or its tool traffic; *context* marks a turn of an earlier window.

    An event that has both has two turns with a number each. The role of tool traffic is "tool".
    """

    number: int
    role: TurnRole
    text: str
    at: datetime
    context: bool = False
