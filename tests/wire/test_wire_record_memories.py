"""The lines of memories in an export."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from streambank.model.memory import Memory
from streambank.model.record import MemoryRecord
from streambank.wire import record

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize("is_pinned", [True, False])
def test_a_memory_keeps_its_pin(is_pinned: bool) -> None:
    """A pinned memory is pinned where it is imported, and a line without a pin is as it was before there were any."""
    memory = Memory("m", "I like tea", {"user_id": "1"}, NOW, NOW, NOW, pinned=is_pinned)
    line = record.line(MemoryRecord(memory, (), ()))
    assert (b"pinned" in line) is is_pinned
    read = record.read(line, "default")
    assert isinstance(read, MemoryRecord)
    assert read.memory == memory
