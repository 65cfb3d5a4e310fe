"""How a call is carried out: a generator says what to do next, and a driver does it, waiting or awaiting."""

from __future__ import annotations

import itertools
import json
import logging
import math
import random
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypedDict, TypeVar, Unpack
from urllib.parse import quote, urlencode, urlsplit

import httpx

from streambank_client import errors, replies
from streambank_client.arguments import check
from streambank_client.calls import Call
from streambank_client.version import __version__

T = TypeVar("T")
USER_AGENT = f"streambank-python/{__version__} httpx/{httpx.__version__}"
# A connection is there within milliseconds or not at all; the rest of an attempt's time is for the reply.
LONGEST_CONNECT_SECONDS = 5.0
_REPEATED_STATUSES = frozenset({429, 500, 502, 503, 504})
# Nothing of the request had left when one of these happened.
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
_log = logging.getLogger("streambank_client")


@dataclass(frozen=True, slots=True)
class Send:
    """Send a request; what cannot be done by *deadline* (of the injected clock) is too late."""

    request: httpx.Request
    deadline: float


@dataclass(frozen=True, slots=True)
class Sleep:
    """Do nothing for a while."""

    seconds: float


Answer: TypeAlias = httpx.Response | httpx.RequestError | None
Steps: TypeAlias = Generator[Send | Sleep, Answer, T]


@dataclass(frozen=True, slots=True)
class Policy:
    """How long a call may take over all its attempts, how long one of them, and how often it is repeated."""

    timeout_seconds: float = 60.0
    attempt_seconds: float = 30.0
    retries: int = 4
    first_pause_seconds: float = 0.25
    longest_pause_seconds: float = 8.0

    def __post_init__(self) -> None:
        """Raise ValueError for a policy under which no call could be made."""
        spans = (self.timeout_seconds, self.attempt_seconds, self.first_pause_seconds, self.longest_pause_seconds)
        if not all(span > 0 for span in spans):
            raise ValueError("timeout_seconds, attempt_seconds and the pauses must be above 0")
        if self.retries < 0:
            raise ValueError("retries must be 0 or more")


@dataclass(frozen=True, slots=True)
class Hooks:
    """What is called around every attempt: on_request may change or replace a request, on_response looks on.

    They are called in their order, in asynchronous clients too, where they must not block.
    """

    on_request: Sequence[Callable[[httpx.Request], httpx.Request | None]] = ()
    on_response: Sequence[Callable[[httpx.Response], None]] = ()


class Settings(TypedDict, total=False):
    """What both clients take; `now` and `jitter` are a clock in seconds and a number from 0 to 1."""

    key: str | None
    token: str | None
    timeout_seconds: float
    attempt_seconds: float
    retries: int
    hooks: Hooks
    now: Callable[[], float]
    jitter: Callable[[], float]


@dataclass(frozen=True, slots=True)
class Sender:
    """Turns calls into steps."""

    base_url: str
    policy: Policy
    hooks: Hooks
    now: Callable[[], float]
    jitter: Callable[[], float]
    credentials: Mapping[str, str] = field(repr=False)

    def steps(self, call: Call[T], *, most_seconds: float = math.inf) -> Steps[T]:
        """Carry a call out, again and again where that is safe, and return what it was answered.

        Raises:
            StreambankError: what the service answered last, ConnectionLost, or DeadlineExceeded.
        """
        deadline = self.now() + min(self.policy.timeout_seconds, most_seconds)
        was_lost = False
        for repeat in itertools.count():
            answer = yield self._send(call, deadline)
            if isinstance(answer, httpx.Response) and answer.is_success:
                return replies.read(call, answer)
            refused = judged(answer, is_over=self.now() >= deadline)
            if was_lost and call.when_gone and isinstance(refused.error, errors.NotFound):
                return call.when_gone()
            pause = refused.after_seconds + self._jitter(repeat)
            is_last = repeat >= self.policy.retries or self.now() + pause >= deadline
            if is_last or not refused.may_be_repeated(call):
                raise refused.error from (answer if isinstance(answer, Exception) else None)
            was_lost = was_lost or not refused.is_undone
            name = type(refused.error).__name__
            _log.debug("attempt failed", extra={"error": name, "repeat": repeat + 1, "pause_seconds": pause})
            yield Sleep(pause)
        raise AssertionError  # a count has no end

    def seen(self, response: httpx.Response) -> httpx.Response:
        """Show a response to the hooks, and return it."""
        for hook in self.hooks.on_response:
            hook(response)
        return response

    def _send(self, call: Call[Any], deadline: float) -> Send:
        left = deadline - self.now()
        if left <= 0:
            raise errors.DeadlineExceeded("there was no time left to send the request")
        seconds = min(left, self.policy.attempt_seconds)
        request = self._request(call)
        for hook in self.hooks.on_request:
            request = hook(request) or request
        timeout = httpx.Timeout(seconds, connect=min(seconds, LONGEST_CONNECT_SECONDS))
        request.extensions = {**request.extensions, "timeout": timeout.as_dict()}
        return Send(request, self.now() + seconds)

    def _request(self, call: Call[Any]) -> httpx.Request:
        query = f"?{urlencode(call.query, quote_via=quote, safe='')}" if call.query else ""
        headers = {"user-agent": USER_AGENT, "accept": "application/json", "accept-encoding": "gzip"}
        if call.body is not None:
            headers["content-type"] = "application/json"
        return httpx.Request(
            call.method,
            f"{self.base_url}{call.path}{query}",
            headers={**headers, **call.headers, **self.credentials},
            content=None if call.body is None else _json(call.body),
        )

    def _jitter(self, repeat: int) -> float:
        """Return a pause: any length up to twice that of the time before."""
        most = min(self.policy.longest_pause_seconds, self.policy.first_pause_seconds * 2.0**repeat)
        return most * self.jitter()


@dataclass(frozen=True, slots=True)
class Refused:
    """What went wrong in an attempt: whether another may go better, and whether it certainly did nothing."""

    error: errors.StreambankError
    may_pass: bool
    is_undone: bool
    after_seconds: float = 0.0

    def may_be_repeated(self, call: Call[Any]) -> bool:
        return self.may_pass and (call.repeatable or self.is_undone)


def judged(answer: Answer, *, is_over: bool) -> Refused:
    """Return what is wrong with an answer; *is_over* tells that the call's time is."""
    if isinstance(answer, httpx.Response):
        after, code = replies.retry_after_seconds(answer), answer.status_code
        return Refused(replies.refusal(answer), code in _REPEATED_STATUSES, code < 500, after or 0)
    if isinstance(answer, httpx.TimeoutException) and is_over:
        return Refused(errors.DeadlineExceeded("there was no reply in time"), may_pass=False, is_undone=False)
    if isinstance(answer, _UNSENT):
        return Refused(_lost(answer, outcome_is_unknown=False), may_pass=True, is_undone=True)
    if isinstance(answer, httpx.DecodingError):
        return Refused(errors.UnexpectedReply("the reply cannot be decoded"), may_pass=False, is_undone=False)
    may_pass = not isinstance(answer, httpx.LocalProtocolError | httpx.UnsupportedProtocol)
    return Refused(_lost(answer, outcome_is_unknown=may_pass), may_pass, is_undone=not may_pass)


def _lost(answer: httpx.RequestError | None, *, outcome_is_unknown: bool) -> errors.ConnectionLost:
    # The name only: what a transport says may quote headers.
    return errors.ConnectionLost(f"no reply: {type(answer).__name__}", outcome_is_unknown=outcome_is_unknown)


def _json(body: Any) -> bytes:
    """Return a body's bytes; half of a surrogate pair is left to the service, which names its field."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(body, separators=(",", ":")).encode()


def sender(base_url: str, **settings: Unpack[Settings]) -> Sender:
    """Return the sender of a client.

    Raises:
        ValueError: the URL, the key, the token or a number cannot be one.
        TypeError: there is no such setting.
    """
    check(settings, Settings)
    defaults = Policy()
    return Sender(
        base_url=_checked_url(base_url),
        policy=Policy(
            timeout_seconds=settings.get("timeout_seconds", defaults.timeout_seconds),
            attempt_seconds=settings.get("attempt_seconds", defaults.attempt_seconds),
            retries=settings.get("retries", defaults.retries),
        ),
        hooks=settings.get("hooks", Hooks()),
        now=settings.get("now", time.monotonic),
        jitter=settings.get("jitter", random.random),
        credentials=_credentials(settings.get("key"), settings.get("token")),
    )


def _checked_url(base_url: str) -> str:
    """Return the URL without a slash at its end."""
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("base_url must be such as https://example.com")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("base_url must have no user, query or fragment; give key or token instead")
    httpx.URL(base_url)
    return base_url.rstrip("/")


def _credentials(key: str | None, token: str | None) -> dict[str, str]:
    if key is not None and token is not None:
        raise ValueError("give key or token, not both")
    for name, value in (("key", key), ("token", token)):
        # The value stays out of the message, here and in what a transport would say of such a header.
        if value is not None and not (value.isascii() and value.isprintable() and value == value.strip() != ""):
            raise ValueError(f"{name} must be printable ASCII without spaces around it")
    if key is not None:
        return {"x-goog-api-key": key}
    return {} if token is None else {"authorization": f"Bearer {token}"}
