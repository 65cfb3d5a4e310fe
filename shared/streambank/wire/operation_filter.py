"""The filter of a list of operations."""

from __future__ import annotations

import re

from streambank.errors import InvalidArgument
from streambank.model.operation import OperationState

_STATE_FILTER = re.compile(r'\s*state\s*=\s*"?([A-Z_]+)"?\s*')


def state_filter(text: str | None) -> OperationState | None:
    """Return the state that a list of operations is filtered by. Raises InvalidArgument for any other filter."""
    if not text:
        return None
    match = _STATE_FILTER.fullmatch(text)
    if match is None or match[1] not in list(OperationState):
        raise InvalidArgument("filter", 'must be like state="PARKED"; operations are filtered by nothing else')
    return OperationState(match[1])
