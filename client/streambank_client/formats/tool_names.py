"""Which tool a result is of, for formats whose results do not say."""

from __future__ import annotations

from collections import OrderedDict, deque


class ToolNames:
    """The names of the newest *limit* calls; results without an id answer the calls without one in their order.

    Give the same one to each conversion of a conversation that arrives in batches. Not for several threads at once.
    """

    def __init__(self, limit: int = 1_000) -> None:
        """Raises ValueError if *limit* is less than 1."""
        if limit < 1:
            raise ValueError("limit: must be 1 or more")
        self._limit = limit
        self._names: OrderedDict[str, str] = OrderedDict()
        self._unanswered: deque[str] = deque(maxlen=limit)

    def called(self, call_id: str | None, name: str) -> None:
        """Remember that tool *name* was called."""
        if not call_id:
            self._unanswered.append(name)
            return
        self._names[call_id] = name
        self._names.move_to_end(call_id)
        if len(self._names) > self._limit:
            self._names.popitem(last=False)

    def answering(self, call_id: str | None) -> str:
        """Return the name of the tool whose result has *call_id*, `""` if its call was not seen or is long ago."""
        if call_id:
            return self._names.get(call_id, "")
        return self._unanswered.popleft() if self._unanswered else ""
