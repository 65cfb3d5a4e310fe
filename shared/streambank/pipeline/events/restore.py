"""Events that are missing from a parked window, and are sent again: they are stored where they were."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from streambank.errors import EventsMissing
from streambank.model.event import EventMarker, KeyedEvent
from streambank.model.stream import Head, IngestCall
from streambank.model.window import Window, WindowState
from streambank.store.windows import Windows


def restore(call: IngestCall, head: Head, markers: Mapping[str, EventMarker], *, windows: Windows) -> int:
    """Restore the events of *call* that are missing from parked windows, and return how many there were.

    Each event keeps its number and its window (I2). A redrive generates the window once none is missing.
    Cost: for each sealed window of *markers* one read, and for a parked one a query and a transaction.

    Raises:
        Conflict: the window was written meanwhile; read again.
    """
    numbers = sorted({marker.window for marker in markers.values() if marker.window < head.window})
    sealed = (windows.get(call.stream.bank, call.stream.sid, number) for number in numbers)
    return sum(_restore_window(window, call.events, markers, windows) for window in sealed if window)


def _restore_window(
    window: Window, events: Iterable[KeyedEvent], markers: Mapping[str, EventMarker], windows: Windows
) -> int:
    if window.state is not WindowState.PARKED or window.failure != EventsMissing.outcome:
        return 0
    missing = window.missing_seqs(event.seq for event in windows.events(window))
    restored: dict[int, KeyedEvent] = {}
    for keyed in events:
        marker = markers.get(keyed.key) if keyed.key else None
        # An event with other content is not the one that is missing.
        if marker and marker.seq in missing and keyed.is_same_as(marker):
            restored[marker.seq] = keyed
    if restored:
        windows.restore_events(window, restored)
    return len(restored)
