"""The names of called tools, for formats whose results do not name their tool."""

from __future__ import annotations

from collections import OrderedDict, deque


class ToolNames:
    """The names of the newest *limit* calls; a result without an id belongs to the oldest call without an id.

    Use the same object for each conversion of a conversation that arrives in batches. Not thread-safe.
    """

    def __init__(self, limit: int = 1_000) -> None:
        """Raises ValueError if *limit* is less than 1."""
        if limit < 1:
            raise ValueError("limit: must be 1 or more")
        self._limit = limit
        self._names: OrderedDict[str, str] = OrderedDict()
        self._unanswered: deque[str] = deque(maxlen=limit)

    def add_call(self, call_id: str | None, name: str) -> None:
        """Remember that tool *name* was called."""
        if not call_id:
            self._unanswered.append(name)
            return
        self._names[call_id] = name
        self._names.move_to_end(call_id)
        if len(self._names) > self._limit:
            self._names.popitem(last=False)

    def pop_name(self, call_id: str | None) -> str:
        """Return the name of the tool that was called with *call_id*, or `""` if the call is not known.

        Without an id, return the name of the oldest call without one, and remove it.
        """
        if call_id:
            return self._names.get(call_id, "")
        return self._unanswered.popleft() if self._unanswered else ""
