"""Typed metadata of memories."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

# A metadata value is a string, a double, a boolean or an instant: one per key (memory-bank wire format).
MetadataValue: TypeAlias = "str | float | bool | datetime"
Metadata: TypeAlias = "dict[str, MetadataValue]"


class MergeStrategy(StrEnum):
    """How a window's metadata is combined with that of a memory that it updates."""

    OVERWRITE = "OVERWRITE"
    MERGE = "MERGE"
    REQUIRE_EXACT_MATCH = "REQUIRE_EXACT_MATCH"
