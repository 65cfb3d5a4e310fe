"""Refusals as errors."""

from __future__ import annotations

import traceback
from typing import Any

import httpx
import pytest

from streambank import errors as service
from streambank_client import errors
from tests.client.answering import refused, reply, script

VIOLATION = {
    "@type": "type.googleapis.com/google.rpc.BadRequest",
    "fieldViolations": [{"field": "scope.user_id", "description": "must not contain '*'"}],
}


def raised(answer: httpx.Response) -> errors.StreambankError:
    with pytest.raises(errors.StreambankError) as told:
        script(answer).client(retries=0).bank().get()
    return told.value


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "INVALID_ARGUMENT", errors.InvalidArgument),
        (400, "FAILED_PRECONDITION", errors.FailedPrecondition),
        (401, "UNAUTHENTICATED", errors.Unauthenticated),
        (403, "PERMISSION_DENIED", errors.PermissionDenied),
        (404, "NOT_FOUND", errors.NotFound),
        (409, "ALREADY_EXISTS", errors.AlreadyExists),
        (412, "FAILED_PRECONDITION", errors.PreconditionFailed),
        (413, "INVALID_ARGUMENT", errors.PayloadTooLarge),
        (429, "RESOURCE_EXHAUSTED", errors.RateLimited),
        (500, "INTERNAL", errors.InternalError),
        (502, "UNAVAILABLE", errors.Unavailable),
        (503, "UNAVAILABLE", errors.Unavailable),
        (504, "DEADLINE_EXCEEDED", errors.Unavailable),
        (418, "", errors.UnexpectedReply),
        (302, "", errors.UnexpectedReply),
    ],
)
def test_status_has_its_error(status: int, code: str, kind: type) -> None:
    """Each status is one class of the tree, with the service's words."""
    error = raised(refused(status, code, "what was wrong"))
    assert type(error) is kind
    assert str(error) == "what was wrong"


def test_bad_request_names_its_field() -> None:
    """The field and the problem that a BadRequest tells are the error's."""
    for status in (400, 413):
        error = raised(refused(status, "INVALID_ARGUMENT", "scope.user_id: must not contain '*'", VIOLATION))
        assert isinstance(error, errors.InvalidArgument)
        assert (error.field, error.problem) == ("scope.user_id", "must not contain '*'")
        assert str(error) == "scope.user_id: must not contain '*'"


@pytest.mark.parametrize(
    ("answer", "kind", "message"),
    [
        (reply({"message": "Forbidden"}, 403), errors.PermissionDenied, "Forbidden"),
        (reply({"message": "Too Many Requests"}, 429), errors.RateLimited, "Too Many Requests"),
        (reply({"message": None}, 503), errors.Unavailable, "the service answered 503"),
        (httpx.Response(502, text="<html>bad gateway"), errors.Unavailable, "the service answered 502"),
        (reply(["no"], 500), errors.InternalError, "the service answered 500"),
        (reply({"error": "no"}, 400), errors.InvalidArgument, "the service answered 400"),
        (httpx.Response(400, text="[" * 100_000), errors.InvalidArgument, "the service answered 400"),
        (refused(400, "", "no", "detail", {"fieldViolations": None}), errors.InvalidArgument, "no"),
        (refused(404, "NOT_FOUND", "x" * 5_000), errors.NotFound, "x" * 1_000),
    ],
)
def test_refusal_of_any_shape_is_told(answer: httpx.Response, kind: type, message: str) -> None:
    """What a gateway or a proxy answers in its own shape has the class of its status and a bounded message."""
    error = raised(answer)
    assert (type(error), str(error)) == (kind, message)


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text="<html>s3cret text"),
        httpx.Response(204),
        reply(["s3cret text"]),
        reply({"name": 7, "displayName": "s3cret text"}),
        reply({"name": "n", "createTime": "s3cret text"}),
        reply({"name": "n", "contextSpec": {"memoryBankConfig": "s3cret text"}}),
    ],
)
def test_reply_that_is_none_is_told_without_its_text(answer: httpx.Response) -> None:
    """A success that is not what the API answers is an error that quotes nothing of it, nor does its cause."""
    error: Any = raised(answer)
    assert type(error) is errors.UnexpectedReply
    assert "s3cret" not in "".join(traceback.format_exception(error))


def test_unavailable_tells_when_to_come_again() -> None:
    """Retry-After is the error's, a second where the service says nothing."""
    for headers, seconds in (({"retry_after": "60"}, 60), ({}, 1), ({"retry_after": "0"}, 0)):
        error = raised(refused(503, "UNAVAILABLE", **headers))
        assert isinstance(error, errors.Unavailable)
        assert error.retry_after_seconds == seconds


def test_tree_is_the_services() -> None:
    """The client's classes have the names that the service's have, one under the other as there."""
    shared = {name for name in errors.__all__ if hasattr(service, name)}
    assert shared >= {"InvalidArgument", "NotFound", "PreconditionFailed", "Unavailable"}
    for name in shared:
        ours = {base.__name__ for base in getattr(errors, name).__mro__}
        theirs = {base.__name__ for base in getattr(service, name).__mro__}
        assert ours == theirs
    assert issubclass(errors.ConnectionLost, errors.Unavailable)
    assert all(issubclass(getattr(errors, name), errors.StreambankError) for name in errors.__all__)
