"""The time of a message of pydantic-ai: parts of a request have one each, a response has one."""

from __future__ import annotations

from streambank_client.formats.content_builder import ContentBuilder
from streambank_client.formats.conversion import Reason
from streambank_client.formats.times import format_time, parse_time

_TIMED_PARTS = frozenset({"user-prompt", "tool-return", "retry-prompt"})


def read_timestamps(builder: ContentBuilder) -> None:
    """Set the time of a message, and record times that it does not keep."""
    message = builder.message
    own = message.get("timestamp")
    parts = [part.get("timestamp") for part in message.objects("parts") if part.text("part_kind") in _TIMED_PARTS]
    stamps = [stamp for stamp in (*parts, own) if stamp is not None]
    times = [time for stamp in stamps if (time := parse_time(stamp))]
    if len(times) < len(stamps):
        builder.drop(Reason.MALFORMED, kind="timestamp")
    builder.time = times[0] if times else None
    restored = format_time(times[0]) if times else None
    is_exact = own == restored if builder.role == "model" else own is None and all(one == restored for one in parts)
    if times and not is_exact:
        builder.drop(Reason.REWRITTEN, kind="timestamp")
