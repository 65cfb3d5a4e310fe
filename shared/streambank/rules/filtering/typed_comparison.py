"""Comparison of typed metadata: the number 10 is not the text "10", and times are compared in whole seconds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any


def holds(compare: Callable[[Any, Any], bool], stored: object, expected: object) -> bool:
    """Tell whether both values have one type and *compare* holds for them."""
    return _type(stored) is _type(expected) and compare(_comparable(stored), _comparable(expected))


def _type(value: object) -> type:
    return float if type(value) is int else type(value)


def _comparable(value: object) -> object:
    return value.replace(microsecond=0) if isinstance(value, datetime) else value
