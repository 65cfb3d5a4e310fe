"""From when until when a memory holds, in requests."""

from datetime import datetime
from typing import Annotated, Self

from pydantic import model_validator

from streambank.model.validity import Validity
from streambank.wire import reader
from streambank.wire.model import Read, RequestModel, rule

_TIME = {"type": "string", "format": "date-time"}
_Start = Annotated[datetime, Read(reader.instant, {**_TIME, "examples": ["2026-01-31T23:59:59Z"]})]
_End = Annotated[
    datetime,
    Read(reader.instant, {**_TIME, "description": "After validFrom.", "examples": ["2026-05-01T00:00:00Z"]}),
]


class ValidityFields(RequestModel):
    """An object with the ends of a validity, each of which may be left open."""

    valid_from: _Start | None = None
    valid_until: _End | None = None

    @model_validator(mode="after")
    def _check_validity(self) -> Self:
        if not self.validity.is_possible:
            raise rule("must be after validFrom", "validUntil")
        return self

    @property
    def validity(self) -> Validity:
        """Return both ends."""
        return Validity(self.valid_from, self.valid_until)
