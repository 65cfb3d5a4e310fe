"""Texts, times and numbers as a page shows them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

# Controls that change the direction of the text around them, or that no one can see; tabs and line ends stay.
_HIDDEN = re.compile("[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z])")
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
MOST_CHARACTERS = 4_000


@dataclass(frozen=True, slots=True)
class Moment:
    """A time: as it is read, exactly, and how long ago or ahead it is."""

    text: str
    exact: str
    relative: str


def visible(text: str) -> str:
    """Return *text* with its hidden controls spelled out, so that nothing in it is unseen or turns its direction."""
    return _HIDDEN.sub(lambda match: f"[U+{ord(match[0]):04X}]", text.replace("\r\n", "\n"))


def shortened(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return *text*, cut where it is longer than *most* characters, with the number of those that are left out."""
    return text if len(text) <= most else f"{text[:most]} … ({len(text) - most:,} more characters)"


def moment(at: datetime, now: datetime, zone: tzinfo | None = None) -> Moment:
    """Return a time in *zone*, by default that of this machine."""
    local = at.astimezone(zone)
    form = "%a %-d %b, %H:%M" if local.year == now.astimezone(zone).year else "%-d %b %Y, %H:%M"
    exact = at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return Moment(f"{local:{form}} {local.tzname()}", exact, relative(at - now))


def relative(span: timedelta) -> str:
    """Return how far a time is from now: *span* is positive ahead."""
    seconds = span.total_seconds()
    if abs(seconds) < 1:
        return "now"
    return f"in {duration(span)}" if seconds > 0 else f"{duration(-span)} ago"


def duration(span: timedelta) -> str:
    """Return a span with its two largest units, such as `2 min 5 s`."""
    left, parts = max(0, round(span.total_seconds())), list[str]()
    for seconds, unit in _UNITS:
        count, left = divmod(left, seconds)
        if count and len(parts) < 2:
            parts.append(f"{count} {unit}")
        elif parts:
            break
    return " ".join(parts) or "0 s"


def count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def dollars(amount: float) -> str:
    """Return an amount in US dollars; small ones keep two digits that count."""
    if amount == 0:
        return "$0"
    return f"${amount:,.2f}" if amount >= 0.1 else f"${amount:.2g}" if amount >= 0.0001 else "below $0.0001"


def scope_label(scope: Mapping[str, str]) -> str:
    """Return a scope in one line."""
    return ", ".join(f"{visible(key)} = {visible(value)}" for key, value in scope.items()) or "no scope"


def words_of(constant: str) -> str:
    """Return a name of the API in words: `EVENT_COUNT` is `event count`, `idMarkers` is `id markers`."""
    return _HUMPS.sub(" ", constant.replace("_", " ")).lower()
