"""Comparing typed metadata: number 10 is not text "10", and times count in whole seconds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any


def holds(compare: Callable[[Any, Any], bool], stored: object, wanted: object) -> bool:
    """Tell whether both are of one type and *compare* holds for them."""
    return _type(stored) is _type(wanted) and compare(_comparable(stored), _comparable(wanted))


def _type(value: object) -> type:
    return float if type(value) is int else type(value)


def _comparable(value: object) -> object:
    return value.replace(microsecond=0) if isinstance(value, datetime) else value
