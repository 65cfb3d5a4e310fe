"""What the first reply tells: that somebody answers, its clock, and its version."""

from __future__ import annotations

from collections.abc import Iterator
from email.utils import parsedate_to_datetime

import httpx

from streambank import __version__
from streambank_local.doctor.cures import Finding, unreachable

# A signed request, and a token, are refused beyond some minutes.
MAX_CLOCK_SECONDS = 120.0
VERSION_HEADER = "x-streambank-version"


def reachability(http: httpx.Client, now_seconds: float) -> Iterator[Finding]:
    """Yield the findings of one request that needs no credentials; *now_seconds* is this machine's time."""
    try:
        reply = http.get("/v1/memoryBanks")
    except httpx.HTTPError as error:
        yield unreachable("reachability", f"no reply: {type(error).__name__}")
        return
    yield Finding("reachability", True, f"{http.base_url} answers")
    if "date" in reply.headers:
        yield _clock(reply.headers["date"], now_seconds)
    yield _version(reply.headers.get(VERSION_HEADER))


def _clock(date: str, now_seconds: float) -> Finding:
    try:
        difference = now_seconds - parsedate_to_datetime(date).timestamp()
    except ValueError:
        return Finding("clock", False, "the service's time cannot be read", "is a proxy between that changes headers?")
    cure = "set this machine's clock by NTP: signatures and tokens are refused, and event times are wrong"
    return Finding("clock", abs(difference) <= MAX_CLOCK_SECONDS, f"{difference:+.0f} s from the service's", cure)


def _version(version: str | None) -> Finding:
    if version is None:
        cure = "is this Streambank? If it is an old stack, deploy this release (docs/upgrading.md)"
        return Finding("version", False, "the reply names none", cure)
    cure = f"this command is {__version__}: install the same release, or deploy it (docs/upgrading.md)"
    return Finding("version", version == __version__, version, cure)
