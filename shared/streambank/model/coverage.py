"""How many events of a window the model was shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class NotShown(StrEnum):
    """Why the model was not shown an event."""

    TOOL = "TOOL"
    MEDIA = "MEDIA"
    THOUGHT = "THOUGHT"
    RECALLED = "RECALLED"
    BLANK = "BLANK"
    FORGOTTEN = "FORGOTTEN"
    DISABLED = "DISABLED"
    LEARNING_DISABLED = "LEARNING_DISABLED"


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many events of a window the model was shown, and how many it was not shown, by the reason."""

    covered: int = 0
    not_covered: Mapping[str, int] = field(default_factory=dict)
