"""Reviews: what generations propose, and a person decides."""

from __future__ import annotations

import json
from collections.abc import Mapping

from streambank_client import types
from streambank_client.calls.replies import list_call, read_object, read_page
from streambank_client.calls.resources import ResourcePath
from streambank_client.http.call import Call, PagedCall


def list_reviews(
    resource: ResourcePath,
    /,
    *,
    scope: Mapping[str, str] | None = None,
    filter: str | None = None,
    page_size: int | None = None,
) -> PagedCall[types.Review]:
    """List the changes of memories that wait for review, newest first: of exactly *scope*, or of the bank.

    *page_size* is 1 to 1,000 (100).
    """
    parts = [_filter_of(scope) if scope else "", f"({filter})" if filter else ""]
    whole = " AND ".join(part for part in parts if part) or None
    path = f"{resource.path}/memories:reviews"
    return list_call(path, read_page(types.Review, "reviews"), filter=whole, page_size=page_size)


def _filter_of(scope: Mapping[str, str]) -> str:
    """Return the filter that exactly *scope* passes: a JSON object as a quoted text."""
    return f"scope={json.dumps(json.dumps(dict(scope)))}"


def accept_review(resource: ResourcePath, /, *, review: str) -> Call[types.Review]:
    """Make the change that a review (an id or a name) waits with; accepting it again changes nothing.

    Raises:
        FailedPrecondition: it was rejected, or a memory has changed since the review was made.
    """
    return _decision(resource, review, "accept")


def reject_review(resource: ResourcePath, /, *, review: str) -> Call[types.Review]:
    """Drop the change that a review (an id or a name) waits with; the same events do not propose it again.

    Raises:
        FailedPrecondition: it was accepted.
    """
    return _decision(resource, review, "reject")


def _decision(resource: ResourcePath, review: str, decision: str) -> Call[types.Review]:
    path = f"{resource.child('memories:reviews', review).path}:{decision}"
    return Call(method="POST", path=path, parse=read_object(types.Review), repeatable=True)
