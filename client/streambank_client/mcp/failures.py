"""Errors of the client as sentences that a model can act on; none quotes a text or a credential."""

from __future__ import annotations

from streambank_client import errors

_GO_ON = "Go on without memories, and tell the user if the request depended on them."


_UNSURE = "The request may have been carried out all the same."
# The first class that an error is an instance of decides.
_SENTENCES: tuple[tuple[type[errors.StreambankError], str], ...] = (
    (errors.InvalidArgument, "The memory service does not accept this: {error}"),
    (
        errors.Unauthenticated,
        f"The memory service does not accept the token of this server; the user must correct it. {_GO_ON}",
    ),
    (
        errors.PermissionDenied,
        f"The token of this server may not do this; the user must give it the role or the scope. {_GO_ON}",
    ),
    (errors.NotFound, f"The bank of this server does not exist; the user must correct its settings. {_GO_ON}"),
    (errors.ConnectionLost, f"The memory service cannot be reached. Try again later. {_GO_ON}"),
    (errors.Unavailable, f"The memory service is busy. Try again after some seconds. {_GO_ON}"),
    (errors.DeadlineExceeded, f"The memory service did not answer in time. {_UNSURE} Try again later. {_GO_ON}"),
    (errors.OperationFailed, "The memory service could not process this: {error}"),
)


def sentence(error: errors.StreambankError) -> str:
    """Return what is wrong, and what to do."""
    template = next((text for kind, text in _SENTENCES if isinstance(error, kind)), None)
    if template is None:
        return f"The memory service failed ({type(error).__name__}). {_GO_ON}"
    is_unsure = isinstance(error, errors.ConnectionLost) and error.outcome_is_unknown
    return template.format(error=error) + (f" {_UNSURE}" if is_unsure else "")
