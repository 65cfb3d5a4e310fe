"""What all types share: snake_case here, camelCase on the wire; an unknown field of a reply is no error."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Self

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic.alias_generators import to_camel

from streambank_client.errors import UnexpectedReply
from streambank_client.http.encoding import JsonObject, MetadataValue, duration, rfc3339, typed_metadata

_VALUE_FIELDS = ("stringValue", "doubleValue", "boolValue", "timestampValue")
# The context in which replies are validated.
_REPLY = object()


class Shape(BaseModel):
    """A frozen object of the API; a field that a newer service adds is ignored."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        # Most programs use few of the types; building all of them would take most of the import's time.
        defer_build=True,
    )

    @classmethod
    def from_reply(cls, document: Any) -> Self:
        """Return the object of a reply.

        Raises:
            UnexpectedReply: it is not as the service sends it; the message quotes none of it.
        """
        try:
            return cls.model_validate(document, context=_REPLY)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"]))
            message = f"the reply's {place or 'body'} is not as expected: {first['type']}"
            # Without the cause, whose own message quotes the reply.
            raise UnexpectedReply(message) from None

    def document(self) -> JsonObject:
        """Return the object as it is sent to the API: in camelCase, without fields that are None."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class RequestShape(Shape):
    """An object that callers construct: an unknown field is an error, except in a reply."""

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_fields(cls, value: Any, info: ValidationInfo) -> Any:
        if info.context is not _REPLY and isinstance(value, Mapping):
            fields = cls.model_fields
            unknown = value.keys() - fields.keys() - {field.alias for field in fields.values()}
            if unknown:
                names = ", ".join(sorted(map(str, unknown)))
                raise ValueError(f"{cls.__name__} has no {names}; it has {', '.join(fields)}")
        return value


class OpenShape(Shape):
    """An object of Google's with any fields: those that are unknown here are kept as they are."""

    model_config = ConfigDict(extra="allow")


def _read_span(value: Any) -> Any:
    """Return a time span of the wire, such as "60s", as a timedelta."""
    return timedelta(seconds=float(value[:-1])) if isinstance(value, str) and value.endswith("s") else value


def _read_metadata(value: Any) -> Any:
    """Return metadata with plain values, without the names of their types."""
    return {key: _plain_value(item) for key, item in value.items()} if isinstance(value, Mapping) else value


def _plain_value(item: Any) -> Any:
    if not isinstance(item, Mapping):
        return item
    field = next((name for name in _VALUE_FIELDS if name in item), None)
    value = item[field] if field else None
    return datetime.fromisoformat(value) if field == "timestampValue" and isinstance(value, str) else value


Instant = Annotated[AwareDatetime, PlainSerializer(rfc3339, return_type=str)]
Span = Annotated[timedelta, BeforeValidator(_read_span), PlainSerializer(duration, return_type=str)]
Metadata = Annotated[
    dict[str, MetadataValue], BeforeValidator(_read_metadata), PlainSerializer(typed_metadata, return_type=dict)
]
