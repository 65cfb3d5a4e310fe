"""What a call is: a value that says what is sent and how its reply is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from streambank_client.http.encoding import JsonObject

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JsonReply:
    """A reply of the service: the JSON object of its body, and its headers by their lower-case names."""

    document: JsonObject
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[T]):
    """One request and how its reply is read.

    *repeatable* says whether it may be sent again when its outcome is unknown; *when_gone* returns the result
    if such a repeat is answered with 404.
    """

    method: str
    path: str
    parse: Callable[[JsonReply], T]
    repeatable: bool
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    when_gone: Callable[[], T] | None = None


@dataclass(frozen=True, slots=True)
class WaitCall(Generic[T]):
    """A call that waits for an operation; its result is polled until it is done or *timeout_seconds* are over."""

    first: Call[T]
    timeout_seconds: float


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items of a list; the last page has an empty token."""

    items: Sequence[T]
    next_token: str = ""


@dataclass(frozen=True, slots=True)
class PagedCall(Generic[T]):
    """A list that is read page by page: *first* requests the first page, *set_token* puts a token into a call."""

    first: Call[Page[T]]
    set_token: Callable[[Call[Page[T]], str], Call[Page[T]]]

    def at(self, token: str) -> Call[Page[T]]:
        """Return the call for the page of *token*, the first page for ""."""
        return self.set_token(self.first, token) if token else self.first
