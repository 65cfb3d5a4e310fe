"""The table's stream, delivered to functions as Lambda's event source mappings deliver it."""

import base64
import json
import logging
import threading
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import boto3
from moto.dynamodb.models import dynamodb_backends

from streambank_local.emulator import filters
from streambank_local.emulator.functions import InvocationResult
from streambank_local.emulator.moto_numbers import Numbers
from streambank_local.emulator.requests import one_request
from streambank_local.emulator.stack import ACCOUNT, REGION, StreamMapping

POLL_SECONDS = 0.1
RECORDS_PER_READ = 1000

Record = dict[str, Any]
Records = Sequence[Record]
Invoke = Callable[[str, Any], InvocationResult]
Send = Callable[[str, str], None]

_log = logging.getLogger(__name__)


def to_lambda_record(raw: Record, stream_arn: str) -> Record:
    """Return a record of GetRecords in the JSON form that Lambda passes to a function."""
    change = {name: _json_value(value) for name, value in raw["dynamodb"].items()}
    return {
        "eventID": raw["eventID"],
        "eventName": raw["eventName"],
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": REGION,
        "dynamodb": change,
        "eventSourceARN": stream_arn,
    }


def _json_value(value: Any) -> Any:
    if isinstance(value, datetime):
        # Moto's times are in UTC, and do not say so.
        return float(int(value.replace(tzinfo=UTC).timestamp()))
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, Numbers):
        return value.to_json()
    if isinstance(value, dict):
        return {name: _json_value(inner) for name, inner in value.items()}
    return [_json_value(inner) for inner in value] if isinstance(value, list | set) else value


class Delivery:
    """Delivers records by one mapping: batches, retries, bisecting, the failure queue."""

    def __init__(self, mapping: StreamMapping, stream_arn: str, invoke: Invoke, send: Send) -> None:
        self._mapping = mapping
        self._stream_arn = stream_arn
        self._invoke = invoke
        self._send = send

    def deliver(self, records: Records) -> int:
        """Deliver the records that pass the filters, and return how many did; a failing record blocks no other."""
        matched = [record for record in records if filters.passes(self._mapping.patterns, record)]
        size = self._mapping.batch_size
        for start in range(0, len(matched), size):
            self._deliver_batch(matched[start : start + size], attempt=1)
        return len(matched)

    def _deliver_batch(self, batch: Records, attempt: int) -> None:
        while batch:
            result = self._invoke(self._mapping.function, {"Records": list(batch)})
            batch = batch[_handled_count(batch, result, reports_failures=self._mapping.reports_failures) :]
            if batch and self._mapping.bisect_on_error and result.failure and len(batch) > 1:
                # A bisection costs no attempt.
                middle = len(batch) // 2
                self._deliver_batch(batch[:middle], attempt)
                batch = batch[middle:]
            elif batch and self._exhausted(attempt):
                failed, batch = self._split_failed(batch)
                self._give_up(failed, attempt)
                attempt = 1
            else:
                attempt += 1

    def _exhausted(self, attempt: int) -> bool:
        return attempt > self._mapping.maximum_retry_attempts

    def _split_failed(self, batch: Records) -> tuple[Records, Records]:
        # A mapping that bisects or reports failures has narrowed the failure down to the first remaining record.
        narrowed = self._mapping.bisect_on_error or self._mapping.reports_failures
        return (batch[:1], batch[1:]) if narrowed else (batch, [])

    def _give_up(self, failed: Records, attempts: int) -> None:
        _log.error("stream records given up after %d attempts: %d", attempts, len(failed))
        if self._mapping.failure_queue_url:
            self._send(self._mapping.failure_queue_url, json.dumps(self._failure_message(failed, attempts)))

    def _failure_message(self, failed: Records, attempts: int) -> dict[str, Any]:
        first, last = failed[0]["dynamodb"], failed[-1]["dynamodb"]
        return {
            "requestContext": {
                "requestId": str(uuid.uuid4()),
                "functionArn": f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{self._mapping.function}",
                "condition": "RetryAttemptsExhausted",
                "approximateInvokeCount": attempts,
            },
            "responseContext": {"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"},
            "version": "1.0",
            "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "DDBStreamBatchInfo": {
                "startSequenceNumber": first["SequenceNumber"],
                "endSequenceNumber": last["SequenceNumber"],
                "approximateArrivalOfFirstRecord": _arrival(first),
                "approximateArrivalOfLastRecord": _arrival(last),
                "batchSize": len(failed),
                "streamArn": self._stream_arn,
            },
        }


def _arrival(change: dict[str, Any]) -> str:
    arrived = datetime.fromtimestamp(change["ApproximateCreationDateTime"], UTC)
    return arrived.isoformat(timespec="seconds").replace("+00:00", "Z")


def _handled_count(batch: Records, result: InvocationResult, *, reports_failures: bool) -> int:
    """Return how many records from the front of *batch* are handled.

    Source: https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html
    """
    if result.failure is not None:
        return 0
    if not reports_failures or not isinstance(result.payload, dict):
        return len(batch)
    identifiers = [item.get("itemIdentifier") for item in result.payload.get("batchItemFailures") or []]
    numbers = [record["dynamodb"]["SequenceNumber"] for record in batch]
    # An identifier that is not in the batch fails the whole batch.
    return min((numbers.index(number) if number in numbers else 0 for number in identifiers), default=len(batch))


@dataclass
class Counts:
    """How many records were read from the stream, and how many matched a mapping's filters."""

    read: int = 0
    matched: int = 0


class StreamPoller:
    """Reads the stream in a thread or on demand, and delivers the records."""

    def __init__(self, stream_arn: str, mappings: Iterable[StreamMapping], invoke: Invoke) -> None:
        self.enabled = True
        self.counts = Counts()
        # Created here and not in the thread: a boto3 session cannot create clients in several threads at once.
        self._queues = boto3.client("sqs", region_name=REGION)
        self._deliveries = [Delivery(mapping, stream_arn, invoke, self._send) for mapping in mappings]
        self._stream_arn = stream_arn
        self._table_name = stream_arn.split("/")[1]
        self._reading = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="local-stream", daemon=True)

    def start(self) -> None:
        """Start polling."""
        self._thread.start()

    def stop(self) -> None:
        """Stop polling after the current batch."""
        self._stopped.set()
        self._thread.join()

    def drain(self) -> int:
        """Read and deliver until the stream is empty; return how many records were read."""
        read = 0
        with self._reading:
            while not self._stopped.is_set() and (records := self._read()):
                read += len(records)
                self._handle(records)
        return read

    def _handle(self, records: Records) -> None:
        self.counts.read += len(records)
        # A disabled poller drops what it reads, as a lost stream does.
        if self.enabled:
            self.counts.matched += sum(delivery.deliver(records) for delivery in self._deliveries)

    def _read(self) -> Records:
        # Read from the emulator's memory: GetRecords takes milliseconds, ten times a second.
        shard = dynamodb_backends[ACCOUNT][REGION].get_table(self._table_name).stream_shard
        if shard is None or len(shard.items) <= self.counts.read:
            return []
        with one_request():
            records = shard.get(shard.starting_sequence_number + self.counts.read, RECORDS_PER_READ)
        return [to_lambda_record(raw, self._stream_arn) for raw in records]

    def _send(self, queue_url: str, message: str) -> None:
        self._queues.send_message(QueueUrl=queue_url, MessageBody=message)

    def _run(self) -> None:
        while not self._stopped.wait(POLL_SECONDS):
            try:
                self.drain()
            except Exception:  # noqa: BLE001 - the next poll tries again
                _log.exception("the stream could not be read")
