"""The events that a memory cites, by the ids that callers gave them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from streambank.model.ids import OperationId
from streambank.store.windows import Windows


def event_ids(
    bank: str, cited: Mapping[OperationId, Sequence[int]], *, windows: Windows, now: datetime
) -> dict[tuple[str, int], str]:
    """Return the ids of cited events by stream key and number, without events that have expired or have no id.

    *cited* has the numbers of the events by their windows. Cost: a query for each window, of at most 20.

    Raises:
        OutOfReach: the table did not answer.
    """
    event_ids: dict[tuple[str, int], str] = {}
    for window, seqs in cited.items():
        numbers = frozenset(seqs)
        for one in windows.live_events(bank, window.sid, min(numbers, default=1), max(numbers, default=0), now=now):
            if one.seq in numbers and one.event.event_id is not None:
                event_ids[window.sid, one.seq] = one.event.event_id
    return event_ids
