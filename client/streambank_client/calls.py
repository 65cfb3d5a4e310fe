"""What a call is: a value, made by a pure function for each route; see `calls_*.py`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from streambank_client import types
from streambank_client.spelling import JsonObject, rfc3339, seconds

R = TypeVar("R")
T = TypeVar("T")
S = TypeVar("S", bound="types.Shape")
VERSION = "/v1beta1"
COLLECTION = "reasoningEngines"
_BANK_NAME = re.compile(r"(?:projects/[^/]+/locations/[^/]+/)?(?:reasoningEngines|memoryBanks)/[^/]+")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a call was answered: the JSON of the body, and the headers by their lower-case names."""

    document: JsonObject
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[T]):
    """One request and how its reply is read.

    *repeatable* tells whether it may be sent again when nobody knows what became of it; *when_gone* is the answer
    where such a repeat finds nothing there any more.
    """

    method: str
    path: str
    parse: Callable[[Reply], T]
    repeatable: bool
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    when_gone: Callable[[], T] | None = None


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some of a list's items; an empty token tells that they are the last."""

    items: Sequence[T]
    next_token: str = ""


@dataclass(frozen=True, slots=True)
class PagedCall(Generic[T]):
    """A list of any length: *first* asks for its first page, *place* puts a token into a call."""

    first: Call[Page[T]]
    place: Callable[[Call[Page[T]], str], Call[Page[T]]]

    def after(self, token: str) -> Call[Page[T]]:
        """Return the call for the page that *token* names, the first one for ""."""
        return self.place(self.first, token) if token else self.first


@dataclass(frozen=True, slots=True)
class Place:
    """A resource: its name as replies spell it, and its path as requests do, percent-encoded."""

    name: str
    path: str

    def under(self, kind: str, given: str) -> Place:
        """Return what *given*, an id or a whole name, names among this one's resources of a kind.

        Raises:
            ValueError: the id is empty, or would be another path.
        """
        item = given.removeprefix(f"{self.name}/{kind}/")
        return Place(f"{self.name}/{kind}/{item}", f"{self.path}/{kind}/{segment(item)}")


BANKS = Place(COLLECTION, f"{VERSION}/{COLLECTION}")


def bank_place(given: str) -> Place:
    """Return the bank of an id or a name. Raises ValueError for an id that would be another path."""
    if not _BANK_NAME.fullmatch(given):
        return Place(f"{COLLECTION}/{given}", f"{BANKS.path}/{segment(given)}")
    return named(given)


def named(name: str) -> Place:
    """Return the resource of a whole name, as the service gives them."""
    return Place(name, f"{VERSION}/" + "/".join(segment(part) for part in name.split("/")))


def segment(text: str) -> str:
    """Return *text* as one segment of a path, whatever is in it."""
    # Dots are removed from paths on their way, escaped or not, and an empty segment names the collection.
    if text in ("", ".", ".."):
        raise ValueError(f"{text!r} cannot be an id")
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        raise ValueError("an id must be text that UTF-8 can write") from None


# ---- bodies and queries


def fields(**named: Any) -> JsonObject:
    """Return what was given, under the names and in the spelling of the wire; None is not given."""
    return {camel(name): wire(value) for name, value in named.items() if value is not None}


def texts(**named: Any) -> dict[str, str]:
    """Return the query parameters that were given."""
    return {camel(name): str(value) for name, value in named.items() if value is not None}


def camel(name: str) -> str:
    """Return a name of ours in the wire's spelling."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def wire(value: Any) -> Any:
    """Return a value as JSON has it; maps are sent as they are."""
    if isinstance(value, types.Shape):
        return value.document()
    if isinstance(value, timedelta):
        return seconds(value)
    if isinstance(value, datetime):
        return rfc3339(value)
    if isinstance(value, list | tuple):
        return [wire(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else value


def headers(**named: str | None) -> dict[str, str]:
    """Return the headers that were given. Raises ValueError for what no header can say."""
    given = {name.replace("_", "-"): value for name, value in named.items() if value is not None}
    for name, value in given.items():
        if not (value.isascii() and value.isprintable() and value == value.strip()):
            raise ValueError(f"{name} must be printable ASCII without spaces around it")
    return given


# ---- replies


def one(kind: type[S]) -> Callable[[Reply], S]:
    """Return the reader of a reply that is one object of a kind."""
    return lambda reply: kind.model_validate(reply.document)


def nothing(_: Reply) -> None:
    """Read a reply that says nothing."""


def page(kind: type[S], name: str) -> Callable[[Reply], Page[S]]:
    """Return the reader of a page, whose items are in the field *name*."""

    def parse(reply: Reply) -> Page[S]:
        items = [kind.model_validate(item) for item in reply.document.get(name) or ()]
        return Page(items, reply.document.get("nextPageToken") or "")

    return parse


def listing(path: str, parse: Callable[[Reply], Page[T]], **query: Any) -> PagedCall[T]:
    """Return the list that a GET of *path* gives page by page."""
    first = Call(method="GET", path=path, parse=parse, repeatable=True, query=texts(**query))
    return PagedCall(first, lambda call, token: replace(call, query={**call.query, "pageToken": token}))


# ---- operations


@dataclass(frozen=True, slots=True, repr=False)
class Told(Generic[R]):
    """An operation as it was when it was last asked about; *response* is there once it is done and did not fail."""

    name: str
    done: bool
    metadata: types.OperationMetadata
    response: R | None
    error: types.OperationError | None
    read: Callable[[JsonObject], R]

    def __repr__(self) -> str:
        # Nothing of what it responds, which is somebody's text.
        return f"<{type(self).__name__} {self.name!r}, {'done' if self.done else 'not done'}>"


def told(read: Callable[[JsonObject], R]) -> Callable[[Reply], Told[R]]:
    """Return the reader of an operation whose response *read* reads."""

    def parse(reply: Reply) -> Told[R]:
        said = types.OperationDocument.model_validate(reply.document)
        response = read(said.response or {}) if said.done and said.error is None else None
        return Told(said.name, said.done, said.metadata, response, said.error, read)

    return parse


def told_of(kind: type[S]) -> Callable[[Reply], Told[S]]:
    """Return the reader of an operation whose response is an object of a kind."""
    return told(kind.model_validate)


def deletion(place: Place, **query: Any) -> Call[Told[types.Nothing]]:
    """Return the call that deletes a resource; a repeat that finds nothing has done what it was to do."""
    name = f"{place.name}/operations/delete"
    return Call(
        method="DELETE",
        path=place.path,
        parse=told_of(types.Nothing),
        repeatable=True,
        query=texts(**query),
        when_gone=lambda: Told(
            name, True, types.OperationMetadata(), types.Nothing(), None, types.Nothing.model_validate
        ),
    )
