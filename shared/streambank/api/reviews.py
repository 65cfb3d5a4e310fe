"""Reviews: what generations propose, and a caller decides."""

from __future__ import annotations

from functools import partial

from streambank.api.api_request import ApiRequest
from streambank.api.memories import check_scope
from streambank.api.route import Routes
from streambank.errors import NotFound
from streambank.model.ids import REVIEW_ID
from streambank.model.principal import Role
from streambank.model.review import ReviewWithMemories
from streambank.pipeline.memories import reviews as pipeline
from streambank.pipeline.memories.reviews import ReviewListing
from streambank.rules import access
from streambank.rules.reviews import parse_review_filter, review_values
from streambank.wire import page_room, parameters
from streambank.wire import review as wire
from streambank.wire.paging import MAX_ID
from streambank.wire.reply import without_nulls
from streambank.wire.review import Review, Reviews

routes = Routes()


@routes.get(
    "/memories:reviews",
    "listReviews",
    "Lists the changes of memories that wait for review, newest first.",
    parameters=(parameters.REVIEW_FILTER, *parameters.PAGE),
)
def list_reviews(request: ApiRequest) -> Reviews:
    """Return a page of the open reviews that match a filter."""
    bank_id, parsed = request.bank().id, parse_review_filter(request.query.get("filter", ""))
    scope = parsed.pinned("scope")
    scope = scope if isinstance(scope, dict) else None
    check_scope(request, scope)
    name = f"reviews {bank_id} {parsed}"
    position = request.page_position(name, int, str)
    listing = ReviewListing(
        scope,
        lambda one: parsed.matches(review_values(one)),
        request.page_size,
        (position[0], position[1]) if position else None,
        partial(_weight, request),
    )
    page, end = pipeline.list_reviews(bank_id, listing, context=request.wiring.review_context())
    return without_nulls(
        Reviews(
            reviews=[wire.review(one, request.path.bank_name) for one in page],
            nextPageToken=request.next_page_token(name, list(end) if end else None),
        )
    )


def _weight(request: ApiRequest, one: ReviewWithMemories) -> int:
    return page_room.body_bytes(wire.review(one, request.path.bank_name))


@routes.post(
    "/memories:reviews/{review}:accept",
    "acceptReview",
    "Makes the change that a review waits with.",
    role=Role.EDIT,
    span="update_memory",
)
def accept_review(request: ApiRequest, review_id: str) -> Review:
    """Make the change, also of a pinned memory, and return the review; accepting it again changes nothing."""
    may_see = partial(access.sees, request.principal)
    decided = pipeline.accept(
        request.bank().id, _checked_id(review_id), may_see=may_see, context=request.wiring.review_context()
    )
    return wire.review(decided, request.path.bank_name)


@routes.post(
    "/memories:reviews/{review}:reject",
    "rejectReview",
    "Drops the change that a review waits with.",
    role=Role.EDIT,
    span="update_memory",
)
def reject_review(request: ApiRequest, review_id: str) -> Review:
    """Drop the change, which the same events do not propose again, and return the review."""
    may_see = partial(access.sees, request.principal)
    decided = pipeline.reject(
        request.bank().id, _checked_id(review_id), may_see=may_see, context=request.wiring.review_context()
    )
    return wire.review(decided, request.path.bank_name)


def _checked_id(review_id: str) -> str:
    """Return *review_id*. Raises NotFound for what cannot be the id of a review."""
    if REVIEW_ID.fullmatch(review_id) is None:
        raise NotFound(f"there is no review {review_id[:MAX_ID]!r}")
    return review_id
