"""What all shapes share: snake_case here, camelCase on the wire, and what is unknown is no error."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, PlainSerializer
from pydantic.alias_generators import to_camel

from streambank_client.spelling import JsonObject, MetadataValue, rfc3339, seconds, wrapped

_KINDS = ("stringValue", "doubleValue", "boolValue", "timestampValue")


class Shape(BaseModel):
    """A frozen object of the API; a field that a newer service adds is left out."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        # Most programs use few of the shapes; building them all would be most of the time that an import takes.
        defer_build=True,
    )

    def document(self) -> JsonObject:
        """Return the object as the API is sent it: in camelCase, without what is None."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


def _span(value: Any) -> Any:
    """Return what the wire writes as "60s" as the span that it is."""
    return timedelta(seconds=float(value[:-1])) if isinstance(value, str) and value.endswith("s") else value


def _plain(value: Any) -> Any:
    """Return the values of metadata without the wrapping that says what they are."""
    return {key: _unwrapped(item) for key, item in value.items()} if isinstance(value, Mapping) else value


def _unwrapped(item: Any) -> Any:
    if not isinstance(item, Mapping):
        return item
    kind = next((kind for kind in _KINDS if kind in item), None)
    found = item[kind] if kind else None
    return datetime.fromisoformat(found) if kind == "timestampValue" and isinstance(found, str) else found


Instant = Annotated[AwareDatetime, PlainSerializer(rfc3339, return_type=str)]
Span = Annotated[timedelta, BeforeValidator(_span), PlainSerializer(seconds, return_type=str)]
Metadata = Annotated[dict[str, MetadataValue], BeforeValidator(_plain), PlainSerializer(wrapped, return_type=dict)]
