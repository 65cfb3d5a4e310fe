"""The consent of a scope, as the lines of an export hold it."""

from typing import Annotated

from pydantic import Field

from streambank.errors import InvalidArgument
from streambank.model.consent import MAX_PAUSES, Consent, Pause
from streambank.model.record import ConsentRecord
from streambank.wire.model import RequestModel
from streambank.wire.record_shapes import Instant, Scope


class PauseLine(RequestModel):
    start_time: Instant
    end_time: Instant | None = None


class ConsentLine(RequestModel):
    """The consent of a scope: the times in which nothing was learnt."""

    scope: Scope
    pauses: Annotated[list[PauseLine], Field(min_length=1, max_length=MAX_PAUSES)]

    def record(self) -> ConsentRecord:
        """Return the consent, and the scope that it is of. Raises InvalidArgument for pauses out of order."""
        pauses = tuple(Pause(one.start_time, one.end_time) for one in self.pauses)
        ends = [time for one in pauses for time in (one.start, one.end) if time]
        if ends != sorted(ends) or any(one.end is None for one in pauses[:-1]):
            raise InvalidArgument("pauses", "must be in order, and only the last one may have no end")
        return ConsentRecord(self.scope, Consent(pauses))


def consent_document(record: ConsentRecord) -> dict[str, object]:
    """Return the consent of a scope as an export has it."""
    pauses = [
        {"startTime": one.start.isoformat(), **({"endTime": one.end.isoformat()} if one.end else {})}
        for one in record.consent.pauses
    ]
    return {"scope": record.scope, "pauses": pauses}
