"""What all replies are made of.

A reply is a `TypedDict`: its function builds it, mypy checks it against the declaration, and the OpenAPI document is
generated from the same declaration. Fields may be added to a reply at any time.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, NotRequired, TypeVar, cast

from typing_extensions import TypedDict

JsonObject = dict[str, Any]
T = TypeVar("T")


class Described:
    """What the OpenAPI document says of a value beside its type."""

    def __init__(self, **keywords: Any) -> None:
        self._keywords = keywords

    def __get_pydantic_json_schema__(self, schema: Any, handler: Callable[[Any], JsonObject]) -> JsonObject:
        """Return the schema with these keywords; pydantic calls this, and is not needed here."""
        return {**handler(schema), **self._keywords}


# An instant in RFC 3339, in UTC with a Z.
Time = Annotated[str, Described(format="date-time")]
Date = Annotated[str, Described(format="date")]
# How many things of each kind.
Counts = Annotated[dict[str, int], Described(examples=[{"events": 3, "memories": 1}])]


class Empty(TypedDict):
    """An empty object."""


class EmptyOperation(TypedDict):
    """An operation that is done in the reply that names it."""

    name: str
    done: Literal[True]
    response: Empty


class Page(TypedDict):
    nextPageToken: NotRequired[str | None]


def without_nulls(document: T) -> T:
    """Return a reply without the fields that are None: the wire has no nulls."""
    fields = cast("dict[str, Any]", document)
    return cast("T", {name: value for name, value in fields.items() if value is not None})


def rfc3339(instant: datetime) -> str:
    """Return *instant* in UTC with a Z."""
    digits = "microseconds" if instant.microsecond % 1000 else "milliseconds" if instant.microsecond else "seconds"
    return instant.astimezone(UTC).isoformat(timespec=digits)[:-6] + "Z"


def optional_time(instant: datetime | None) -> str | None:
    """Return *instant* in UTC with a Z, or None."""
    return None if instant is None else rfc3339(instant)
