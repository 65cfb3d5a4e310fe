"""How replies are read, and the calls that are alike for all resources: lists and deletions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from streambank_client import types
from streambank_client.calls.requests import query_parameters
from streambank_client.calls.resources import ResourcePath
from streambank_client.http.call import Call, JsonReply, Page, PagedCall
from streambank_client.http.encoding import JsonObject

R = TypeVar("R")
T = TypeVar("T")
S = TypeVar("S", bound="types.Shape")


@dataclass(frozen=True, slots=True, repr=False)
class OperationSnapshot(Generic[R]):
    """An operation as the service last reported it; it has a *response* once it is done and has not failed."""

    name: str
    done: bool
    metadata: types.OperationMetadata
    response: R | None
    error: types.OperationError | None
    read_response: Callable[[JsonObject], R]
    detail: types.WindowDetail | None = None

    def __repr__(self) -> str:
        # Without the response, which may be private text.
        return f"<{type(self).__name__} {self.name!r}, {'done' if self.done else 'not done'}>"


def read_object(shape: type[S]) -> Callable[[JsonReply], S]:
    """Return the reader of a reply that is one object."""
    return lambda reply: shape.from_reply(reply.document)


def read_nothing(_: JsonReply) -> None:
    """Read a reply that has no content."""


def read_page(shape: type[S], field: str) -> Callable[[JsonReply], Page[S]]:
    """Return the reader of a page whose items are in *field*."""

    def read(reply: JsonReply) -> Page[S]:
        items = [shape.from_reply(item) for item in reply.document.get(field) or ()]
        return Page(items, reply.document.get("nextPageToken") or "")

    return read


def read_operation(shape: type[S]) -> Callable[[JsonReply], OperationSnapshot[S]]:
    """Return the reader of an operation whose response is an object."""
    return read_operation_with(shape.from_reply)


def read_operation_with(read_response: Callable[[JsonObject], R]) -> Callable[[JsonReply], OperationSnapshot[R]]:
    """Return the reader of an operation whose response is read by *read_response*."""

    def read(reply: JsonReply) -> OperationSnapshot[R]:
        document = types.OperationDocument.from_reply(reply.document)
        has_response = document.done and document.error is None
        response = read_response(document.response or {}) if has_response else None
        return OperationSnapshot(
            document.name,
            document.done,
            document.metadata,
            response,
            document.error,
            read_response,
            document.detail,
        )

    return read


def list_call(path: str, parse: Callable[[JsonReply], Page[T]], **query: Any) -> PagedCall[T]:
    """Return the call that lists by GET requests of *path*."""
    first = Call(method="GET", path=path, parse=parse, repeatable=True, query=query_parameters(**query))
    return PagedCall(first, lambda call, token: replace(call, query={**call.query, "pageToken": token}))


def delete_call(resource: ResourcePath, **query: Any) -> Call[OperationSnapshot[types.Nothing]]:
    """Return the call that deletes a resource; if a repeat finds nothing, the first attempt has deleted it."""
    done: OperationSnapshot[types.Nothing] = OperationSnapshot(
        name=f"{resource.name}/operations/delete",
        done=True,
        metadata=types.OperationMetadata(),
        response=types.Nothing(),
        error=None,
        read_response=types.Nothing.from_reply,
    )
    return Call(
        method="DELETE",
        path=resource.path,
        parse=read_operation(types.Nothing),
        repeatable=True,
        query=query_parameters(**query),
        when_gone=lambda: done,
    )
