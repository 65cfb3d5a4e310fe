"""Requests to forget, kept for what is older than they are and is learnt later."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from streambank.model.plan import Candidate, ForgetRequest
from streambank.model.window import Window
from streambank.rules.consolidation import is_forget_request

FORGOTTEN = "the user asked to forget it later"
# They are kept in the scope's version item, which each slice of a commit writes.
MAX_REQUESTS = 100
MAX_TEXT_BYTES = 16_000


def requests_of(
    window: Window, candidates: Sequence[Candidate], start: int, end: int, *, retention: timedelta
) -> list[ForgetRequest]:
    """Return the requests among candidates *start* to *end* of *window*; they are kept as long as its events."""
    expires = window.last_arrival + retention
    return [
        ForgetRequest(window.stream.sid, window.number, number, one.fact, one.at, expires)
        for number, one in enumerate(candidates[start:end], start)
        if is_forget_request(one) and not one.rejected
    ]


def kept(requests: Iterable[ForgetRequest], *, now: datetime) -> tuple[ForgetRequest, ...]:
    """Return those of *requests* that a scope keeps, each once, the newest first, up to the limits."""
    distinct = {(one.sid, one.window, one.number): one for one in requests if one.expires > now}
    newest = sorted(distinct.values(), key=lambda one: one.at, reverse=True)[:MAX_REQUESTS]
    sizes = [len(one.text.encode()) for one in newest]
    return tuple(one for index, one in enumerate(newest) if sum(sizes[: index + 1]) <= MAX_TEXT_BYTES)


def guards(request: ForgetRequest, candidate: Candidate, window: Window, *, now: datetime) -> bool:
    """Tell whether *candidate* of *window* is older than *request*, which another window made."""
    is_own = (request.sid, request.window) == (window.stream.sid, window.number)
    is_memory = candidate.is_searched and not is_forget_request(candidate)
    return is_memory and not is_own and candidate.at < request.at and now < request.expires
