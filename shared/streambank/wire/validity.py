"""From when until when a memory holds, in requests."""

from typing import Self

from pydantic import model_validator

from streambank.model.validity import Validity
from streambank.wire.fields import Instant
from streambank.wire.model import RequestModel, rule


class ValidityFields(RequestModel):
    """An object with the ends of a validity, each of which may be left open."""

    valid_from: Instant | None = None
    valid_until: Instant | None = None

    @model_validator(mode="after")
    def _check_validity(self) -> Self:
        if self.valid_from is not None and self.valid_until is not None and self.valid_until <= self.valid_from:
            raise rule("must be after validFrom", "validUntil")
        return self

    @property
    def validity(self) -> Validity:
        """Return both ends."""
        return Validity(self.valid_from, self.valid_until)
