"""The lines of WhatsApp's text export: their headers, and the order of day and month in their dates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

# WhatsApp writes marks of direction before lines and before its own words.
MARKS = "\u200e\u200f\u202a\u202c\ufeff"
_SPACE = "[ \u00a0\u202f]"
_HEADER = re.compile(
    rf"[{MARKS}]*(?P<open>\[)?(?P<first>\d{{1,4}})(?P<sign>[./-])(?P<second>\d{{1,2}})(?P=sign)(?P<third>\d{{1,4}})\.?,?"
    rf"{_SPACE}+(?P<hour>\d{{1,2}})[:.](?P<minute>\d{{2}})(?:[:.](?P<second_of_minute>\d{{2}}))?"
    rf"(?:{_SPACE}*(?P<half>[AaPp])\.?{_SPACE}?[Mm]\.?)?(?(open)\]|{_SPACE}[-\u2013]) ?",
    re.ASCII,
)
_AUTHOR = re.compile(r"(?P<author>[^:\n]{1,100}): ?")


@dataclass(frozen=True, slots=True)
class Line:
    """A message as the export has it: the digits of its date and time, its author, `""` for a notice, and its text."""

    date: tuple[int, int, int]
    sign: str
    clock: tuple[int, int, int]
    has_half_days: bool
    author: str
    text: str


@dataclass(frozen=True, slots=True)
class DateOrder:
    """Whether the day is before the month; *is_guess*: nothing in the dates says so."""

    day_first: bool
    is_guess: bool = False


def is_header(text: str) -> bool:
    """Return whether *text* begins as a message does."""
    return _HEADER.match(text) is not None


def split_messages(text: str) -> list[str]:
    """Return the messages of an export; lines without a header belong to the message before them."""
    messages: list[list[str]] = []
    for line in text.split("\n"):
        if is_header(line) or not messages:
            messages.append([])
        messages[-1].append(line.removesuffix("\r"))
    return [message for lines in messages if (message := "\n".join(lines)).strip()]


def read_line(message: str) -> Line | None:
    """Return a message, or None if it has no header."""
    header = _HEADER.match(message)
    if header is None:
        return None
    rest = message[header.end() :]
    author = _AUTHOR.match(rest)
    numbers = tuple(int(header[name] or 0) for name in ("first", "second", "third"))
    hour, minute, second = (int(header[name] or 0) for name in ("hour", "minute", "second_of_minute"))
    half = (header["half"] or "").lower()
    hour = hour % 12 + (12 if half == "p" else 0) if half else hour
    name = author["author"].strip(MARKS + " ~\u00a0\u202f") if author else ""
    text = rest[author.end() :] if author else rest
    date = (numbers[0], numbers[1], numbers[2])
    return Line(date, header["sign"], (hour, minute, second), bool(half), name, text)


def date_order(lines: Sequence[Line]) -> DateOrder:
    """Return the order that the dates of an export have, or the likely one where all of them fit both orders."""
    dates = [line.date for line in lines if line.date[0] < 100]
    if any(first > 12 for first, _, _ in dates):
        return DateOrder(day_first=True)
    if any(second > 12 for _, second, _ in dates):
        return DateOrder(day_first=False)
    by_order = {day_first: _is_sorted(dates, day_first=day_first) for day_first in (True, False)}
    if by_order[True] != by_order[False]:
        return DateOrder(day_first=by_order[True])
    # A month is first in American English only, which has slashes and half days.
    is_american = any(line.sign == "/" and line.has_half_days for line in lines)
    return DateOrder(day_first=not is_american, is_guess=any(first != second for first, second, _ in dates))


def _is_sorted(dates: Iterable[tuple[int, int, int]], *, day_first: bool) -> bool:
    ordered = [(year, second, first) if day_first else (year, first, second) for first, second, year in dates]
    return ordered == sorted(ordered)


def local_time(line: Line, order: DateOrder, zone: tzinfo) -> datetime | None:
    """Return the time of a message in *zone*, or None if there is no such time."""
    first, second, third = line.date
    if first >= 100:
        year, month, day = line.date
    else:
        day, month = (first, second) if order.day_first else (second, first)
        year = third if third >= 100 else 2000 + third
    try:
        return datetime(year, month, day, *line.clock, tzinfo=zone)
    except ValueError:
        return None
