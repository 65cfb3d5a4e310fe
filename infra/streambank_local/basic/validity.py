"""From when until when a sentence says that it holds: "until 3 May", "from June", "since 2024"."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

from streambank.model.validity import Validity
from streambank.rules.validity import read_validity
from streambank_local.basic.dates import MONTHS

_MONTH = rf"(?P<month>{'|'.join(MONTHS)})"
_YEAR = r"(?:,? (?P<year>(?:19|20)\d\d))?"
_DATES = (
    r"(?P<iso>\d{4}-\d\d(?:-\d\d)?)",
    rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}{_YEAR}",
    rf"{_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?!\d){_YEAR}",
    rf"{_MONTH}{_YEAR}",
    r"(?P<year>(?:19|20)\d\d)",
)
_FROM = r"\b(?:[Ss]ince|[Ff]rom|[Ss]tarting(?: in| on)?|[Aa]s of) (?:the )?"
_UNTIL = r"\b(?:[Uu]ntil|[Tt]ill|[Tt]hrough) (?P<whole>the end of )?(?:the )?"
_FROM_DATES = [re.compile(rf"{_FROM}{one}\b") for one in _DATES]
_UNTIL_DATES = [re.compile(rf"{_UNTIL}{one}\b") for one in _DATES]
_RANGE = re.compile(r"\b([Ff]rom [\w ,-]{3,24}?) to (?=\w)")


def find_validity(text: str, local: datetime) -> Validity:
    """Return the validity that *text* names as of the day *local*; a date without a year is the nearest one."""
    spelled = _RANGE.sub(r"\1 until ", text)
    start, end = _first(_FROM_DATES, spelled), _first(_UNTIL_DATES, spelled)
    return read_validity(
        _iso(start, local.date(), is_past=start is not None and start[0][:5].lower() == "since"),
        _end(end, local.date()),
        local.tzinfo or UTC,
        near=local,
    )


def _first(patterns: list[re.Pattern[str]], text: str) -> re.Match[str] | None:
    return next((match for one in patterns if (match := one.search(text)) is not None), None)


def _iso(match: re.Match[str] | None, today: date, *, is_past: bool) -> str:
    """Return the date of *match* as ISO writes it, or an empty text for none."""
    if match is None:
        return ""
    parts = match.groupdict()
    if parts.get("iso"):
        return str(parts["iso"])
    if not parts.get("month"):
        return str(parts["year"])
    month = MONTHS.index(parts["month"]) + 1
    day = f"-{int(parts['day']):02}" if parts.get("day") else ""
    year = int(parts["year"]) if parts["year"] else _year(month, int(parts.get("day") or 1), today, is_past=is_past)
    return f"{year:04}-{month:02}{day}"


def _year(month: int, day: int, today: date, *, is_past: bool) -> int:
    """Return the year of the latest such day until *today*, or of the next one from *today* on."""
    if is_past:
        return today.year - ((month, day) > (today.month, today.day))
    return today.year + ((month, day) < (today.month, today.day))


def _end(match: re.Match[str] | None, today: date) -> str:
    """Return the end that *match* names: a day holds to its end, a month and a year only where the words say so."""
    written = _iso(match, today, is_past=False)
    if match is None or len(written) > len("2026-05") or match["whole"] or match[0].lower().startswith("through"):
        return written
    year, _, month = written.partition("-")
    last = date(int(year), int(month or 1), 1) - timedelta(days=1)
    return last.isoformat()
