"""What failed in an attempt: whether another attempt may succeed, and whether this one had an effect."""

from __future__ import annotations

import httpx

from streambank_client import errors
from streambank_client.http.replies import error_of, retry_after_seconds
from streambank_client.http.retry import Failure

_REPEATED_STATUSES = frozenset({429, 500, 502, 503, 504})
# The request had not left when one of these was raised.
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)


def failure_of(outcome: httpx.Response | httpx.RequestError, *, is_past_deadline: bool) -> Failure:
    """Return what failed in an attempt that ended with a response of an error, or with no response."""
    if isinstance(outcome, httpx.Response):
        after, status = retry_after_seconds(outcome), outcome.status_code
        return Failure(error_of(outcome), status in _REPEATED_STATUSES, status < 500, after or 0)
    if isinstance(outcome, httpx.TimeoutException) and is_past_deadline:
        return Failure(errors.DeadlineExceeded("there was no reply in time"), is_temporary=False, had_no_effect=False)
    if isinstance(outcome, _UNSENT):
        return Failure(_connection_lost(outcome, outcome_is_unknown=False), is_temporary=True, had_no_effect=True)
    if isinstance(outcome, httpx.DecodingError):
        return Failure(errors.UnexpectedReply("the reply cannot be decoded"), is_temporary=False, had_no_effect=False)
    is_permanent = isinstance(outcome, httpx.LocalProtocolError | httpx.UnsupportedProtocol)
    error = _connection_lost(outcome, outcome_is_unknown=not is_permanent)
    return Failure(error, is_temporary=not is_permanent, had_no_effect=is_permanent)


def _connection_lost(error: httpx.RequestError, *, outcome_is_unknown: bool) -> errors.ConnectionLost:
    # The class alone: the message of a transport may quote headers.
    return errors.ConnectionLost(f"no reply: {type(error).__name__}", outcome_is_unknown=outcome_is_unknown)
