"""Trigger rules, and the settings that calls give to a window."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypeAlias

from streambank.model.metadata import MergeStrategy, Metadata

# When a revision expires: a time span from its creation, or an instant.
Expiry: TypeAlias = "timedelta | datetime"


class Reason(StrEnum):
    """Why a window was sealed."""

    EVENT_COUNT = "EVENT_COUNT"
    TOKEN_COUNT = "TOKEN_COUNT"  # noqa: S105
    IDLE_DURATION = "IDLE_DURATION"
    FIXED_INTERVAL = "FIXED_INTERVAL"
    FORCE_FLUSH = "FORCE_FLUSH"
    NO_RULE = "NO_RULE"
    ABANDONED = "ABANDONED"
    MAX_SIZE = "MAX_SIZE"
    MAX_AGE = "MAX_AGE"
    DIRECT = "DIRECT"
    ERASED = "ERASED"


@dataclass(frozen=True, slots=True)
class TriggerRule:
    """When a window is sealed; without a condition it is sealed at once."""

    event_count: int | None = None
    idle: timedelta | None = None
    interval: timedelta | None = None
    overlap: int = 0
    token_count: int | None = None

    @property
    def is_empty(self) -> bool:
        """Tell whether the rule names no condition."""
        return self.event_count is None and self.token_count is None and self.idle is None and self.interval is None


@dataclass(frozen=True, slots=True)
class WindowSettings:
    """Settings for the memories of a window; None means that no call has set the field."""

    revision_labels: dict[str, str] | None = None
    revision_expiry: Expiry | None = None
    disable_revisions: bool | None = None
    metadata: Metadata | None = None
    merge_strategy: MergeStrategy | None = None
    time_zone: str | None = None
    disable_consolidation: bool | None = None
    allowed_topics: tuple[str, ...] | None = None
    include_tool_traffic: bool | None = None

    def overridden_by(self, newer: WindowSettings) -> WindowSettings:
        """Return these settings with every field that *newer* sets."""
        values = {field.name: getattr(newer, field.name) for field in fields(newer)}
        return replace(self, **{name: value for name, value in values.items() if value is not None})

    def merged(self, current: Metadata) -> Metadata:
        """Return the metadata of a memory that has *current* after an update by a window with these settings."""
        if self.metadata is None:
            return current
        if self.merge_strategy is MergeStrategy.MERGE:
            return {**current, **self.metadata}
        return self.metadata

    @property
    def is_empty(self) -> bool:
        """Tell whether no field is set."""
        return all(getattr(self, field.name) is None for field in fields(self))
