"""Filters of lists. So far: the scope, by equality; anything else is refused, never ignored."""

from __future__ import annotations

import json
import re

from streambank.errors import InvalidArgument

_SCOPE = re.compile(r'\s*scope\s*=\s*("(?:[^"\\]|\\.)*")\s*', re.DOTALL)


def listed_scope(text: str | None) -> dict[str, str] | None:
    """Return the scope that a list filter of the form `scope="<JSON>"` names, or None without a filter.

    Raises:
        InvalidArgument: the filter says anything else.
    """
    if not text or not text.strip():
        return None
    found = _SCOPE.fullmatch(text)
    try:
        scope = json.loads(json.loads(found[1])) if found else None
    except (ValueError, RecursionError):
        scope = None
    if not isinstance(scope, dict) or not all(isinstance(value, str) for value in scope.values()):
        raise InvalidArgument("filter", 'must be of the form scope="{\\"key\\": \\"value\\"}"')
    return scope
