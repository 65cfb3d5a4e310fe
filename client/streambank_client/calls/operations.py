"""Operations."""

from __future__ import annotations

from datetime import timedelta

from streambank_client import types
from streambank_client.calls.replies import (
    OperationSnapshot,
    list_call,
    read_nothing,
    read_operation,
    read_operation_with,
)
from streambank_client.calls.requests import query_parameters
from streambank_client.calls.resources import ResourcePath, resource_path
from streambank_client.http.call import Call, JsonReply, Page, PagedCall, WaitCall
from streambank_client.http.encoding import JsonObject, duration


def get_operation(
    resource: ResourcePath, /, *, operation: str, view: str | None = None
) -> Call[OperationSnapshot[JsonObject]]:
    """Return an operation by its id or its name; its response is the JSON object of the API.

    *view* is BASIC, the default, or FULL, which adds the `detail` of a window: its events and its candidates.
    """
    return Call(
        method="GET",
        path=operation_path(resource, operation).path,
        parse=read_operation_with(dict),
        repeatable=True,
        query=query_parameters(view=view),
    )


def list_operations(
    resource: ResourcePath, /, *, filter: str | None = None, page_size: int | None = None
) -> PagedCall[OperationSnapshot[types.WindowResponse]]:
    """List the operations of the bank's windows; *filter* is `state="..."`, *page_size* 1 to 1,000 (100)."""
    return list_call(f"{resource.path}/operations", _read_operations, filter=filter, page_size=page_size)


def list_jobs(resource: ResourcePath, /) -> PagedCall[OperationSnapshot[JsonObject]]:
    """List the newest job of each kind that worked on the whole bank: its erasure, export, import and the like."""
    return list_call(f"{resource.path}/jobs", _read_jobs)


def wait_operation(
    resource: ResourcePath, /, *, operation: str, timeout_seconds: float = 10
) -> WaitCall[OperationSnapshot[types.WindowResponse]]:
    """Return a window's operation when it is done, or as it is after *timeout_seconds*.

    The service answers within about 2 seconds; after that the operation is polled with growing pauses of at most 5 s.
    """
    first = Call(
        method="POST",
        path=f"{operation_path(resource, operation).path}:wait",
        parse=read_operation(types.WindowResponse),
        repeatable=True,
        query=query_parameters(timeout=duration(timedelta(seconds=timeout_seconds))),
    )
    return WaitCall(first, timeout_seconds)


def redrive_operation(resource: ResourcePath, /, *, operation: str) -> Call[OperationSnapshot[types.WindowResponse]]:
    """Retry a parked window.

    The call is not repeated when its outcome is unknown: a window that is being retried refuses it.

    Raises:
        FailedPrecondition: the window is not parked.
    """
    path = f"{operation_path(resource, operation).path}:redrive"
    return Call(method="POST", path=path, parse=read_operation(types.WindowResponse), repeatable=False)


def cancel_operation(resource: ResourcePath, /, *, operation: str) -> Call[None]:
    """Request to cancel an operation; the service refuses, because the events would be lost.

    Raises:
        FailedPrecondition: the service cancels no operation.
    """
    path = f"{operation_path(resource, operation).path}:cancel"
    return Call(method="POST", path=path, parse=read_nothing, repeatable=True)


def delete_operation(resource: ResourcePath, /, *, operation: str) -> Call[None]:
    """Tell the service that an operation is no longer needed.

    Raises:
        FailedPrecondition: the operation is not done.
    """
    return Call(method="DELETE", path=operation_path(resource, operation).path, parse=read_nothing, repeatable=True)


def operation_path(resource: ResourcePath, id_or_name: str) -> ResourcePath:
    """Return the path of an operation: under the bank, or under a memory or a session if its name says so."""
    is_name = id_or_name.startswith(f"{resource.name}/")
    return resource_path(id_or_name) if is_name else resource.child("operations", id_or_name)


def _read_jobs(reply: JsonReply) -> Page[OperationSnapshot[JsonObject]]:
    parse = read_operation_with(dict)
    return Page([parse(JsonReply(item)) for item in reply.document.get("operations") or ()], "")


def _read_operations(reply: JsonReply) -> Page[OperationSnapshot[types.WindowResponse]]:
    parse = read_operation(types.WindowResponse)
    items = [parse(JsonReply(item)) for item in reply.document.get("operations") or ()]
    return Page(items, reply.document.get("nextPageToken") or "")
