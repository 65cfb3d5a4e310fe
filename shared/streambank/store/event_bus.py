"""Events of an Amazon EventBridge bus."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from streambank.errors import OutOfReach
from streambank.retry import RetryPolicy

SOURCE = "streambank"
DETAIL_TYPE = "Memory Change"
# PutEvents takes 10 entries and 256 KB together (EventBridge user guide, "Calculating PutEvents event entry size").
MAX_ENTRIES = 10
MAX_BYTES = 256 * 1024
# An entry's time counts 14 bytes; its other fields count as UTF-8.
_TIME_BYTES = 14


@dataclass(frozen=True, slots=True)
class BusEvent:
    """An event, whose *detail* is JSON, and when it happened."""

    time: datetime
    detail: Mapping[str, Any]

    @property
    def text(self) -> str:
        """Return the detail as it is sent."""
        return json.dumps(self.detail, ensure_ascii=False, separators=(",", ":"))

    @property
    def bytes(self) -> int:
        """Return the bytes that the bus counts."""
        return _TIME_BYTES + len(SOURCE) + len(DETAIL_TYPE) + len(self.text.encode(errors="replace"))


class EventBus:
    """Puts events on a bus, which *name* names, or its ARN; *client* is boto3's EventBridge client."""

    def __init__(self, client: Any, name: str, retry_policy: RetryPolicy) -> None:
        self._client = client
        self._name = name
        self._retry_policy = retry_policy

    def put(self, events: Iterable[BusEvent]) -> None:
        """Put *events* on the bus in their order; those that it does not take are put again.

        Raises:
            OutOfReach: it did not take all of them at any try.
        """
        for batch in batched(events):
            self._put_all(batch)

    def _put_all(self, batch: Sequence[BusEvent]) -> None:
        for _ in self._retry_policy.attempts():
            reply = self._client.put_events(Entries=[self._entry(one) for one in batch])
            taken = ["ErrorCode" not in entry for entry in reply["Entries"]]
            batch = [one for one, is_taken in zip(batch, taken, strict=True) if not is_taken]
            if not batch:
                return
        raise OutOfReach("PutEvents")

    def _entry(self, event: BusEvent) -> dict[str, Any]:
        return {
            "Time": event.time,
            "Source": SOURCE,
            "DetailType": DETAIL_TYPE,
            "Detail": event.text,
            "EventBusName": self._name,
        }


def batched(events: Iterable[BusEvent]) -> Iterator[list[BusEvent]]:
    """Yield *events* in order, as many together as one call takes."""
    batch, size = list[BusEvent](), 0
    for event in events:
        if batch and (len(batch) == MAX_ENTRIES or size + event.bytes > MAX_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(event)
        size += event.bytes
    if batch:
        yield batch
