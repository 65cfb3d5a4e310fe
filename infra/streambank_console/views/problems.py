"""Errors as a page shows them: what happened, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

from streambank_client import errors


@dataclass(frozen=True, slots=True)
class Problem:
    """What happened, and what the reader can do."""

    title: str
    cure: str


# The first class that fits counts. `{url}` is the service's address, and `{error}` what the service answered.
_PROBLEMS: tuple[tuple[type[Exception], str, str], ...] = (
    (
        errors.Unauthenticated,
        "The service does not know this token.",
        "Start the console again with --token, or with STREAMBANK_TOKEN set to a valid key.",
    ),
    (
        errors.PermissionDenied,
        "The token may not do this.",
        "Use a key with the role that this needs. A key that is bound to a scope sees that scope alone.",
    ),
    (errors.NotFound, "There is no such thing any more.", "It was deleted, has expired, or never was. Go back."),
    (errors.RateLimited, "The service is called too often.", "Wait a minute, then load the page again."),
    (
        errors.ConnectionLost,
        "The service at {url} does not answer.",
        "Is it running? `streambank serve` starts one on this machine.",
    ),
    (
        errors.DeadlineExceeded,
        "The service took too long.",
        "It may still do what was asked. Load the page again to see.",
    ),
    (
        errors.UnexpectedReply,
        "Something else than Streambank answered.",
        "Look at the address of the service: {url}.",
    ),
    (errors.Unavailable, "The service cannot answer now.", "Try again in a moment."),
    (errors.InternalError, "The service cannot answer now.", "Try again in a moment."),
    (errors.InvalidArgument, "The service refuses this input.", "{error}"),
    (errors.StreambankError, "The service refuses this.", "{error}"),
    (ValueError, "This cannot be sent.", "{error}"),
)


def problem(error: Exception, url: str) -> Problem:
    """Return an error of the client in words; no key is in it."""
    for kind, title, cure in _PROBLEMS:
        if isinstance(error, kind):
            return Problem(title.format(url=url), cure.format(url=url, error=error))
    return Problem("Something went wrong in the console.", "Load the page again.")
