"""Windows in an export."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from streambank.model import ids
from streambank.model.rule import Reason, WindowSettings
from streambank.model.stream import StreamId
from streambank.model.window import Window, WindowState
from streambank.wire import record

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SCOPE = {"user_id": "u1"}
STREAM = StreamId("b1", ids.stream_key(SCOPE, "s"), SCOPE, "s")
WINDOW = Window(STREAM, 1, 1, 2, Reason.FORCE_FLUSH, NOW, NOW, state=WindowState.DONE)


@pytest.mark.parametrize("is_included", [None, False, True])
def test_a_window_keeps_whether_tool_traffic_is_read(is_included: bool | None) -> None:
    """The setting of a call comes back from a line; a line without it is one of a window without it."""
    window = replace(WINDOW, settings=WindowSettings(include_tool_traffic=is_included))
    line = record.line(window)
    assert record.read(line, "b1") == window
    assert (b"includeToolTraffic" in line) == (is_included is not None)
