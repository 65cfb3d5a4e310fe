"""The minute timer, and the due times that an advance of the clock steps through."""

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime

import boto3

from streambank_local.clock import Clock
from streambank_local.emulator.stack import REGION

INDEX = "due"
PARTITIONS = (*(f"DUE#{number}" for number in range(8)), "DUE#JOBS")
MINUTE_SECONDS = 60

_log = logging.getLogger(__name__)


class DueTimes:
    """The due times in the table's index."""

    def __init__(self, table_name: str) -> None:
        self._table_name = table_name
        self._client = boto3.client("dynamodb", region_name=REGION)

    def next(self, after: datetime, until: datetime) -> datetime | None:
        """Return the earliest due time later than *after* and at most *until*, in whole seconds, or None."""
        first, last = int(after.timestamp()) + 1, int(until.timestamp())
        if first > last:
            return None
        due_times = [due for partition in PARTITIONS for due in self._first(partition, first, last)]
        return datetime.fromtimestamp(min(due_times), UTC) if due_times else None

    def _first(self, partition: str, first: int, last: int) -> list[int]:
        reply = self._client.query(
            TableName=self._table_name,
            IndexName=INDEX,
            KeyConditionExpression="G1PK = :partition AND G1SK BETWEEN :first AND :last",
            ExpressionAttributeValues={
                ":partition": {"S": partition},
                ":first": {"N": str(first)},
                ":last": {"N": str(last)},
            },
            Limit=1,
        )
        return [int(item["G1SK"]["N"]) for item in reply["Items"]]


class MinuteTimer:
    """Ticks at each full minute of the service's clock."""

    def __init__(self, clock: Clock, tick: Callable[[], object], *, starts_at_once: bool = False) -> None:
        self.enabled = True
        self._starts_at_once = starts_at_once
        self._clock = clock
        self._tick = tick
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="local-timer", daemon=True)

    def start(self) -> None:
        """Start ticking."""
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current tick."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        if self._starts_at_once and self.enabled:
            self._tick_once()
        while not self._stopped.wait(self._seconds_to_next_minute()):
            if self.enabled:
                self._tick_once()

    def _seconds_to_next_minute(self) -> float:
        return MINUTE_SECONDS - self._clock.now().timestamp() % MINUTE_SECONDS

    def _tick_once(self) -> None:
        try:
            self._tick()
        except Exception:  # noqa: BLE001 - the next minute tries again
            _log.exception("the schedule failed")
