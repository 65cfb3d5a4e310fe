"""Replaces relative dates by absolute ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SHORT = {
    "mon": "monday", "tue": "tuesday", "tues": "tuesday", "wed": "wednesday", "thu": "thursday", "thurs": "thursday",
    "fri": "friday", "sat": "saturday", "sun": "sunday", "jan": "january", "feb": "february", "aug": "august",
    "sept": "september", "oct": "october", "nov": "november", "dec": "december",
}  # fmt: skip
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "a couple of": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip


def local_time(at: datetime, time_zone: str) -> datetime:
    """Return *at* in local time: its own offset if it has one, else *time_zone*."""
    aware = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    if aware.utcoffset() != timedelta(0):
        return aware
    try:
        return aware.astimezone(_zone(time_zone))
    except OverflowError:
        return aware


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        return UTC


def format_day(day: date) -> str:
    """Return *day* as in "23 May 2023"."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


@dataclass(frozen=True, slots=True)
class ResolvedDate:
    """An absolute date: the words for it and the preposition that they take."""

    text: str
    preposition: str = "on"


def _day(day: date) -> ResolvedDate:
    return ResolvedDate(format_day(day))


def _month(year: int, month: int) -> ResolvedDate:
    return ResolvedDate(f"{MONTHS[month - 1]} {year}", "in")


def _shifted_month(day: date, months: int) -> ResolvedDate:
    index = day.year * 12 + day.month - 1 + months
    if not 12 <= index < 9999 * 12:
        raise OverflowError(index)
    return _month(index // 12, index % 12 + 1)


def _week(day: date) -> ResolvedDate:
    return ResolvedDate(f"the week of {format_day(day - timedelta(days=day.weekday()))}", "in")


def _weekend(day: date, weeks: int) -> ResolvedDate:
    saturday = day - timedelta(days=day.weekday()) + timedelta(days=5, weeks=weeks)
    return ResolvedDate(f"the weekend of {format_day(saturday)}")


def _year(year: int) -> ResolvedDate:
    if not 1 <= year <= 9999:
        raise OverflowError(year)
    return ResolvedDate(str(year), "in")


def _weekday(day: date, name: str, direction: int) -> ResolvedDate:
    """Return the nearest *name* strictly before (-1) or after (1) *day*."""
    target = next(index for index, known in enumerate(WEEKDAYS) if known.lower() == name)
    ahead = (target - day.weekday()) % 7
    return _day(day + timedelta(days=(ahead or 7) if direction > 0 else ahead - 7))


def _named_month(day: date, name: str, direction: int) -> ResolvedDate:
    target = next(index for index, known in enumerate(MONTHS, 1) if known.lower() == name)
    if direction == 0:
        return _month(day.year, target)
    past = day.year if target < day.month else day.year - 1
    coming = day.year if target > day.month else day.year + 1
    return _month(past if direction < 0 else coming, target)


def _season(day: date, name: str, direction: int) -> ResolvedDate:
    first = _SEASONS[name]
    begun = day.year if day.month >= first + 3 else day.year - 1
    coming = day.year if day.month < first else day.year + 1
    return ResolvedDate(f"{name} {begun if direction < 0 else coming}", "in")


def _after_units(day: date, number: int, unit: str) -> ResolvedDate:
    """Return the date *number* units after *day*, as precise as the unit."""
    if unit == "day":
        return _day(day + timedelta(days=number))
    if unit == "week":
        return ResolvedDate(format_day(day + timedelta(weeks=number)), "around")
    return _shifted_month(day, number) if unit == "month" else _year(day.year + number)


def _span(day: date, unit: str, step: int) -> ResolvedDate:
    if unit == "week":
        return _week(day + timedelta(weeks=step))
    if unit == "weekend":
        return _weekend(day, step)
    return _shifted_month(day, step) if unit == "month" else _year(day.year + step)


_STEPS = {"last": -1, "past": -1, "this past": -1, "this": 0, "next": 1, "this coming": 1, "coming": 1}


def _resolve_step(day: date, step: str, what: str) -> ResolvedDate:
    direction = _STEPS[step]
    if what in {"week", "weekend", "month", "year"}:
        return _span(day, what, direction)
    if what in _SEASONS:
        return ResolvedDate(f"{what} {day.year}", "in") if direction == 0 else _season(day, what, direction)
    if what.capitalize() in WEEKDAYS:
        return _weekday(day, what, direction or 1)
    return _named_month(day, what, direction)


_SIMPLE: dict[str, Callable[[date], ResolvedDate]] = {
    "the day before yesterday": lambda day: _day(day - timedelta(days=2)),
    "the day after tomorrow": lambda day: _day(day + timedelta(days=2)),
    "yesterday morning": lambda day: ResolvedDate(f"the morning of {format_day(day - timedelta(days=1))}"),
    "yesterday evening": lambda day: ResolvedDate(f"the evening of {format_day(day - timedelta(days=1))}"),
    "yesterday": lambda day: _day(day - timedelta(days=1)),
    "last night": lambda day: ResolvedDate(f"the night of {format_day(day - timedelta(days=1))}"),
    "tomorrow": lambda day: _day(day + timedelta(days=1)),
    "tonight": lambda day: ResolvedDate(f"the evening of {format_day(day)}"),
    "this morning": lambda day: ResolvedDate(f"the morning of {format_day(day)}"),
    "this afternoon": lambda day: ResolvedDate(f"the afternoon of {format_day(day)}"),
    "this evening": lambda day: ResolvedDate(f"the evening of {format_day(day)}"),
    "earlier today": _day,
    "later today": _day,
    "today": _day,
    "just now": _day,
}
_PREPOSITIONS = "since|until|till|by|from|before|after|on|for|of|in|during|around|than|to|about|over"
_COUNT = r"\d{1,3}|a couple of|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_NAMES = "|".join((*MONTHS, *WEEKDAYS, *_SEASONS, *_SHORT))
_RELATIVE = re.compile(
    rf"(?:\b(?P<before>{_PREPOSITIONS}) )?(?:the )?\b(?:(?P<simple>{'|'.join(_SIMPLE)})|(?P<ago>{_COUNT}) (?P<unit>day"
    rf"|week|month|year)s? ago|in (?P<ahead>{_COUNT}) (?P<coming>day|week|month|year)s?(?: time)?(?! of\b)|"
    rf"(?P<step>{'|'.join(sorted(_STEPS, key=len, reverse=True))}) (?P<what>weekend|week|month|year|{_NAMES})|"
    rf"(?:(?<=on )|(?<=until )|(?<=till )|(?<=from )|(?<=since ))(?P<bare>{'|'.join(WEEKDAYS)}))\b(?P<owner>'s)?",
    re.IGNORECASE,
)
_PAST = re.compile(r"\b(?:was|were|went|did|had|got|saw|met|took|bought|came|ran|ate|\w{2,30}ed)\b", re.IGNORECASE)
_FUTURE = re.compile(r"\b(?:will|going to|'ll|am \w{2,30}ing|'m \w{2,30}ing|plan to)\b", re.IGNORECASE)
# "From Monday to Friday" is a habit.
_DAY = rf"(?:{'|'.join(WEEKDAYS)})"
_WEEKDAYS = re.compile(rf"\b{_DAY}s? (?:to|till|until|through) {_DAY}", re.IGNORECASE)
_SUBJECT_VERB = re.compile(r"\s+(?:is|was|will|has|had|were)\b", re.IGNORECASE)


def resolve_dates(sentence: str, local: datetime) -> str:
    """Return *sentence* with its relative dates replaced by absolute ones, as of the day *local*."""
    return _RELATIVE.sub(lambda match: _replacement(match, local.date()), sentence)


def _replacement(match: re.Match[str], day: date) -> str:
    try:
        dated = _resolve(match, day)
    except OverflowError:
        return match[0]
    if dated is None:
        return match[0]
    if match["owner"]:
        return f"{match[0]} ({dated.text})"
    return _with_preposition(match, dated)


def _with_preposition(match: re.Match[str], dated: ResolvedDate) -> str:
    before = match["before"]
    if before and before.lower() not in {"in", "on", "around"}:
        return f"{before} {dated.text}"
    starts = match.start() == 0
    if starts and not before and _SUBJECT_VERB.match(match.string, match.end()):
        return dated.text[:1].upper() + dated.text[1:]
    preposition = dated.preposition
    return f"{preposition.capitalize() if starts else preposition} {dated.text}"


def _resolve(match: re.Match[str], day: date) -> ResolvedDate | None:
    if match["simple"]:
        return _SIMPLE[match["simple"].lower()](day)
    if match["ago"]:
        return _after_units(day, -_count(match["ago"]), match["unit"].lower())
    if match["ahead"]:
        return _after_units(day, _count(match["ahead"]), match["coming"].lower())
    if match["step"]:
        return _resolve_step(day, match["step"].lower(), _SHORT.get(match["what"].lower(), match["what"].lower()))
    return _resolve_by_tense(match, day)


def _resolve_by_tense(match: re.Match[str], day: date) -> ResolvedDate | None:
    """Resolve a bare weekday by its preposition, or the sentence's tense; one without a tense is a habit."""
    name, before = match["bare"].lower(), (match["before"] or "").lower()
    if _WEEKDAYS.search(match.string):
        return None
    if before in {"until", "till", "from", "since"}:
        return _weekday(day, name, -1 if before == "since" else 1)
    if _FUTURE.search(match.string):
        return _weekday(day, name, 1)
    return _weekday(day, name, -1) if _PAST.search(match.string) else None


def _count(number: str) -> int:
    lowered = number.lower()
    return int(lowered) if lowered.isdigit() else _NUMBERS[lowered]
