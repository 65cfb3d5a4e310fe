"""Settings of a client: credentials, limits, hooks, clock and jitter."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict
from urllib.parse import urlsplit

import httpx


@dataclass(frozen=True, slots=True)
class Hooks:
    """Functions that are called around every attempt: on_request may change or replace a request.

    They are called in their order, in asynchronous clients too, where they must not block.
    """

    on_request: Sequence[Callable[[httpx.Request], httpx.Request | None]] = ()
    on_response: Sequence[Callable[[httpx.Response], None]] = ()


class Limits(TypedDict, total=False):
    """Seconds for a call over all its attempts, seconds for one attempt, and how often a call is repeated."""

    timeout_seconds: float
    attempt_seconds: float
    retries: int


class Settings(Limits, total=False):
    """What both clients accept; `now` is a clock in seconds, `jitter` returns a number from 0 to 1."""

    key: str | None
    token: str | None
    hooks: Hooks
    now: Callable[[], float]
    jitter: Callable[[], float]


def check_names(arguments: Mapping[str, object], names: type) -> None:
    """Check the names of keyword arguments against the TypedDict *names*; Python does not for `**arguments`.

    Raises:
        TypeError: a name is unknown.
    """
    for name in arguments:
        if name not in names.__annotations__:
            raise TypeError(f"unexpected keyword argument {name!r}")


def clock_of(settings: Settings) -> Callable[[], float]:
    """Return the clock of the settings, by default the monotonic one."""
    return settings.get("now", time.monotonic)


def checked_url(base_url: str) -> str:
    """Return the URL without a slash at its end. Raises ValueError for what is no base URL."""
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("base_url must be such as https://example.com")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("base_url must have no user, query or fragment; give key or token instead")
    httpx.URL(base_url)
    return base_url.rstrip("/")


def credential_headers(key: str | None, token: str | None) -> dict[str, str]:
    """Return the headers of a key or a token. Raises ValueError for both, or for what cannot be in a header."""
    if key is not None and token is not None:
        raise ValueError("give key or token, not both")
    for name, value in (("key", key), ("token", token)):
        # The value stays out of the message, here and in the error of a transport about such a header.
        if value is not None and not (value.isascii() and value.isprintable() and value == value.strip() != ""):
            raise ValueError(f"{name} must be printable ASCII without spaces around it")
    if key is not None:
        return {"x-goog-api-key": key}
    return {} if token is None else {"authorization": f"Bearer {token}"}
