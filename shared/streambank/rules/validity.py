"""Reads from when until when a text holds, as a model writes it: what is no plausible time costs nothing else."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, tzinfo

from streambank.model.validity import Validity

_PERIOD = re.compile(r"([0-9]{4})(?:-([0-9]{2}))?(?:-([0-9]{2}))?", re.ASCII)
_MAX_DISTANCE = timedelta(days=36_525)  # 100 years
_SECOND = timedelta(seconds=1)


def read_validity(start: str, end: str, zone: tzinfo, *, near: datetime) -> Validity:
    """Return the validity between two texts, each an ISO date or time, or empty; *near* is when they were said.

    A day, a month or a year holds from its first second, and until its last one. A time without an offset is in *zone*.
    A text that is no time, or one that is more than 100 years away, counts as empty; so does an end that is not after
    the start.
    """
    first, last = _instant(start, zone, near, is_end=False), _instant(end, zone, near, is_end=True)
    span = Validity(first, last)
    return span if span.is_possible else Validity(first)


def _instant(text: str, zone: tzinfo, near: datetime, *, is_end: bool) -> datetime | None:
    try:
        instant = _parsed(text.strip(), zone, is_end=is_end)
        return instant if instant and abs(instant - near) <= _MAX_DISTANCE else None
    except (ValueError, OverflowError):
        return None


def _parsed(text: str, zone: tzinfo, *, is_end: bool) -> datetime | None:
    """Return the instant that *text* names. Raises ValueError or OverflowError where it names none."""
    period = _PERIOD.fullmatch(text)
    if period is None:
        moment = datetime.fromisoformat(text) if text else None
        return moment.replace(tzinfo=zone) if moment and moment.tzinfo is None else moment
    year, month, day = (int(part) if part else None for part in period.groups())
    first = datetime(year or 0, month or 1, day or 1, tzinfo=zone)
    return _next(first, month, day) - _SECOND if is_end else first


def _next(first: datetime, month: int | None, day: int | None) -> datetime:
    """Return the begin of the day, the month or the year after the one that begins with *first*."""
    if day:
        return first + timedelta(days=1)
    if month and month < 12:
        return first.replace(month=month + 1)
    return first.replace(year=first.year + 1, month=1)
