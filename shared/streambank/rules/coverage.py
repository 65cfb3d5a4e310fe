"""Which events of a window the model was shown, and why the others were not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Any

from streambank.model.coverage import Coverage, NotShown
from streambank.model.event import StoredEvent, camel
from streambank.rules.prompted_parts import prompt_turns

# A part has one of these fields, in either spelling, or a text.
_TOOL_FIELDS = frozenset(
    {"functionCall", "functionResponse", "toolCall", "toolResponse", "executableCode", "codeExecutionResult"}
)
_MEDIA_FIELDS = frozenset({"inlineData", "fileData"})
# Where an event has parts of several kinds, the first of these is the reason.
_ORDER = (NotShown.TOOL, NotShown.MEDIA, NotShown.THOUGHT, NotShown.RECALLED)


def not_shown_reason(event: StoredEvent, *, include_tool_traffic: bool) -> NotShown | None:
    """Return why the model is not shown *event*, whatever its window; None if some text of it is shown."""
    if prompt_turns(event, include_tool_traffic=include_tool_traffic):
        return None
    kinds = {_kind(part) for part in event.event.parts}
    return next((kind for kind in _ORDER if kind in kinds), NotShown.BLANK)


def _kind(part: Mapping[str, Any]) -> NotShown:
    """Return what keeps the model from reading *part*, which is a part of an event without a text for it."""
    fields = {camel(name) for name, value in part.items() if value is not None}
    if fields & _TOOL_FIELDS:
        return NotShown.TOOL
    if fields & _MEDIA_FIELDS:
        return NotShown.MEDIA
    if part.get("thought"):
        return NotShown.THOUGHT
    return NotShown.RECALLED if (part.get("text") or "").strip() else NotShown.BLANK


def coverage(
    own: Iterable[StoredEvent], forgotten: Collection[int], *, is_disabled: bool, include_tool_traffic: bool
) -> Coverage:
    """Return the coverage of a window with the events *own*.

    *forgotten* are the numbers of events that a deleted memory cited. *is_disabled* tells that the bank makes no
    memories of events. *include_tool_traffic* tells that the model reads tool calls and results.
    """
    not_shown = partial(not_shown_reason, include_tool_traffic=include_tool_traffic)
    reasons = Counter(NotShown.FORGOTTEN if event.seq in forgotten else not_shown(event) for event in own)
    if is_disabled and None in reasons:
        reasons[NotShown.DISABLED] = reasons.pop(None)
    covered = reasons.pop(None, 0)
    return Coverage(covered, {reason.value: count for reason, count in sorted(reasons.items()) if reason})
