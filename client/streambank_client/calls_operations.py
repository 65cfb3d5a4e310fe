"""Operations."""

from __future__ import annotations

from datetime import timedelta

from streambank_client import types
from streambank_client.calls import (
    Call,
    Page,
    PagedCall,
    Place,
    Reply,
    Told,
    listing,
    named,
    nothing,
    texts,
    told,
    told_of,
)
from streambank_client.spelling import JsonObject, seconds


def get_operation(place: Place, /, *, operation: str) -> Call[Told[JsonObject]]:
    """Return an operation by its id, or by the name that a reply gave; its response is what the API wrote."""
    return Call(method="GET", path=operation_place(place, operation).path, parse=told(dict), repeatable=True)


def list_operations(
    place: Place, /, *, filter: str | None = None, page_size: int | None = None
) -> PagedCall[Told[types.WindowResponse]]:
    """List the operations of the bank's windows, or those of `state="..."`, in pages of 1 to 1,000 (100)."""
    return listing(f"{place.path}/operations", _page, filter=filter, page_size=page_size)


def wait_operation(place: Place, /, *, operation: str, timeout_seconds: float = 10) -> Call[Told[types.WindowResponse]]:
    """Let the service answer when a window's operation is done, or after *timeout_seconds*, of which it takes 10."""
    return Call(
        method="POST",
        path=f"{operation_place(place, operation).path}:wait",
        parse=told_of(types.WindowResponse),
        repeatable=True,
        query=texts(timeout=seconds(timedelta(seconds=timeout_seconds))),
    )


def redrive_operation(place: Place, /, *, operation: str) -> Call[Told[types.WindowResponse]]:
    """Try a parked window again.

    It is not repeated when nobody knows what became of it: a window that is on its way refuses. Raises
    FailedPrecondition for a window that is not parked.
    """
    path = f"{operation_place(place, operation).path}:redrive"
    return Call(method="POST", path=path, parse=told_of(types.WindowResponse), repeatable=False)


def cancel_operation(place: Place, /, *, operation: str) -> Call[None]:
    """Ask for an operation to stop, which the service refuses: its events would be lost. Raises FailedPrecondition."""
    path = f"{operation_place(place, operation).path}:cancel"
    return Call(method="POST", path=path, parse=nothing, repeatable=True)


def delete_operation(place: Place, /, *, operation: str) -> Call[None]:
    """Say that nobody asks for an operation any more. Raises FailedPrecondition for one that is not done."""
    return Call(method="DELETE", path=operation_place(place, operation).path, parse=nothing, repeatable=True)


def operation_place(place: Place, given: str) -> Place:
    """Return where an operation is: under the bank, or under the memory or the session that its name has."""
    return named(given) if given.startswith(f"{place.name}/") else place.under("operations", given)


def _page(reply: Reply) -> Page[Told[types.WindowResponse]]:
    parse = told_of(types.WindowResponse)
    items = [parse(Reply(item)) for item in reply.document.get("operations") or ()]
    return Page(items, reply.document.get("nextPageToken") or "")
