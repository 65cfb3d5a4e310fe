"""How a call is carried out: its requests, hooks, deadline and retries, as steps for a driver."""

from __future__ import annotations

import itertools
import logging
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self, TypeVar, Unpack
from urllib.parse import quote, urlencode

import httpx

from streambank_client import errors
from streambank_client.http.call import Call
from streambank_client.http.drivers import Invoke, Steps
from streambank_client.http.encoding import json_bytes
from streambank_client.http.failures import failure_of
from streambank_client.http.replies import result_of
from streambank_client.http.retry import RetryPolicy
from streambank_client.http.settings import (
    Hooks,
    Limits,
    Settings,
    check_names,
    checked_url,
    clock_of,
    credential_headers,
)
from streambank_client.version import __version__

T = TypeVar("T")
USER_AGENT = f"streambank-python/{__version__} httpx/{httpx.__version__}"
# A connection is made within milliseconds or not at all; the rest of an attempt's time is for the reply.
MAX_CONNECT_SECONDS = 5.0
_log = logging.getLogger("streambank_client")


@dataclass(frozen=True, slots=True)
class Sender:
    """Turns calls into steps; *send* and *sleep* either wait or return awaitables."""

    base_url: str
    policy: RetryPolicy
    hooks: Hooks
    now: Callable[[], float]
    jitter: Callable[[], float]
    credentials: Mapping[str, str] = field(repr=False)
    send: Callable[[httpx.Request, float], Any]
    sleep: Callable[[float], Any]

    def with_limits(self, **limits: Unpack[Limits]) -> Self:
        """Return this sender with other limits.

        Raises:
            ValueError: a limit is out of its range.
            TypeError: the name of a limit is unknown.
        """
        check_names(limits, Limits)
        return replace(self, policy=replace(self.policy, **limits))

    def steps(self, call: Call[T], *, most_seconds: float = math.inf) -> Steps[T]:
        """Carry out a call, repeat it where that is safe, and return its result.

        Raises:
            StreambankError: the last reply is an error, or there was no reply in time (ConnectionLost,
                DeadlineExceeded).
        """
        deadline = self.now() + min(self.policy.timeout_seconds, most_seconds)
        may_have_happened = False
        for attempts in itertools.count(1):
            outcome = yield from self._attempt(call, deadline)
            if isinstance(outcome, httpx.Response) and outcome.is_success:
                return result_of(call, outcome)
            failure = failure_of(outcome, is_past_deadline=self.now() >= deadline)
            if may_have_happened and call.when_gone and isinstance(failure.error, errors.NotFound):
                return call.when_gone()
            pause = self.policy.pause_seconds(
                failure,
                attempts=attempts,
                repeatable=call.repeatable,
                left_seconds=deadline - self.now(),
                share=self.jitter(),
            )
            if pause is None:
                raise failure.error from (outcome if isinstance(outcome, Exception) else None)
            may_have_happened = may_have_happened or not failure.had_no_effect
            name = type(failure.error).__name__
            _log.debug("attempt failed", extra={"error": name, "repeat": attempts, "pause_seconds": pause})
            yield self.pause(pause)
        raise AssertionError  # itertools.count does not end

    def pause(self, seconds: float) -> Invoke:
        """Return the step that waits for *seconds*."""
        return Invoke(partial(self.sleep, seconds))

    def _attempt(self, call: Call[Any], deadline: float) -> Steps[httpx.Response | httpx.RequestError]:
        left_seconds = deadline - self.now()
        if left_seconds <= 0:
            raise errors.DeadlineExceeded("there was no time left to send the request")
        seconds = min(left_seconds, self.policy.attempt_seconds)
        request = self._request(call)
        for change in self.hooks.on_request:
            request = change(request) or request
        timeout = httpx.Timeout(seconds, connect=min(seconds, MAX_CONNECT_SECONDS))
        request.extensions = {**request.extensions, "timeout": timeout.as_dict()}
        try:
            response: httpx.Response = yield Invoke(partial(self.send, request, self.now() + seconds))
        except httpx.RequestError as error:
            return error
        for observe in self.hooks.on_response:
            observe(response)
        return response

    def _request(self, call: Call[Any]) -> httpx.Request:
        query = f"?{urlencode(call.query, quote_via=quote, safe='')}" if call.query else ""
        headers = {"user-agent": USER_AGENT, "accept": "application/json", "accept-encoding": "gzip"}
        if call.body is not None:
            headers["content-type"] = "application/json"
        return httpx.Request(
            call.method,
            f"{self.base_url}{call.path}{query}",
            headers={**headers, **call.headers, **self.credentials},
            content=None if call.body is None else json_bytes(call.body),
        )


def sender(
    base_url: str,
    *,
    send: Callable[[httpx.Request, float], Any],
    sleep: Callable[[float], Any],
    **settings: Unpack[Settings],
) -> Sender:
    """Return the sender of a client.

    Raises:
        ValueError: the URL, the key, the token or a number is not valid.
        TypeError: the name of a setting is unknown.
    """
    check_names(settings, Settings)
    defaults = RetryPolicy()
    return Sender(
        base_url=checked_url(base_url),
        policy=RetryPolicy(
            timeout_seconds=settings.get("timeout_seconds", defaults.timeout_seconds),
            attempt_seconds=settings.get("attempt_seconds", defaults.attempt_seconds),
            retries=settings.get("retries", defaults.retries),
        ),
        hooks=settings.get("hooks", Hooks()),
        now=clock_of(settings),
        jitter=settings.get("jitter", random.random),
        credentials=credential_headers(settings.get("key"), settings.get("token")),
        send=send,
        sleep=sleep,
    )
