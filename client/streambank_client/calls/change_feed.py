"""The change feed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from streambank_client import types
from streambank_client.calls.replies import read_object
from streambank_client.calls.requests import query_parameters
from streambank_client.calls.resources import ResourcePath
from streambank_client.http.call import Call, JsonReply, Page, PagedCall

T = TypeVar("T")


def list_changes(
    resource: ResourcePath, /, *, filter: str | None = None, page_size: int | None = None, page_token: str | None = None
) -> Call[types.MemoryChanges]:
    """Return a page of changes of memories, oldest first, with the token to go on; it may be empty.

    *filter* compares `kind`, `change_time` and `scope`. A token stays good for as long as revisions are kept.
    """
    query = query_parameters(filter=filter, page_size=page_size, page_token=page_token)
    return _call(resource, read_object(types.MemoryChanges), query)


def changes(
    resource: ResourcePath, /, *, filter: str | None = None, page_size: int | None = None, page_token: str | None = None
) -> PagedCall[types.MemoryChange]:
    """List the changes of memories from *page_token* on, oldest first, until there are no more.

    *filter* compares `kind`, `change_time` and `scope`. `list_changes` returns the token to go on.
    """
    query = query_parameters(filter=filter, page_size=page_size, page_token=page_token)
    first = _call(resource, _read_after(page_token or ""), query)
    return PagedCall(
        first, lambda call, token: replace(call, query={**call.query, "pageToken": token}, parse=_read_after(token))
    )


def _call(resource: ResourcePath, parse: Callable[[JsonReply], T], query: dict[str, str]) -> Call[T]:
    return Call(method="GET", path=f"{resource.path}/changes", parse=parse, repeatable=True, query=query)


def _read_after(token: str) -> Callable[[JsonReply], Page[types.MemoryChange]]:
    """Return the reader of the page of *token*: the last page is empty, and its token is the same."""

    def read(reply: JsonReply) -> Page[types.MemoryChange]:
        page = types.MemoryChanges.from_reply(reply.document)
        is_last = not page.changes and page.next_page_token == token
        return Page(page.changes, "" if is_last else page.next_page_token)

    return read
