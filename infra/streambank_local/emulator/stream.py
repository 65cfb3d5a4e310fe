"""The table's stream, brought to its functions as Lambda's event source mappings bring it."""

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
from moto.dynamodbstreams.models import dynamodbstreams_backends

from streambank_local.emulator import filters
from streambank_local.emulator.functions import InvocationResult
from streambank_local.emulator.stack import ACCOUNT, REGION, StreamMapping

POLL_SECONDS = 0.1
READ_AT_ONCE = 1000

Record = dict[str, Any]
Records = Sequence[Record]
Invoke = Callable[[str, Any], InvocationResult]
Send = Callable[[str, str], None]

_log = logging.getLogger(__name__)


def shaped(raw: Record, stream_arn: str) -> Record:
    """Return a record of GetRecords as Lambda hands it to a function: JSON throughout."""
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
        return float(int(value.timestamp()))
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {name: _json_value(inner) for name, inner in value.items()}
    return [_json_value(inner) for inner in value] if isinstance(value, list | set) else value


class Delivery:
    """One mapping's way of delivering records: batches, retries, bisecting, the failure queue."""

    def __init__(self, mapping: StreamMapping, stream_arn: str, invoke: Invoke, send: Send) -> None:
        self._mapping = mapping
        self._stream_arn = stream_arn
        self._invoke = invoke
        self._send = send

    def deliver(self, records: Records) -> int:
        """Deliver the records that pass the filters, and return how many did; a poison record stops no other."""
        passed = [record for record in records if filters.passes(self._mapping.patterns, record)]
        size = self._mapping.batch_size
        for start in range(0, len(passed), size):
            self._deliver_batch(passed[start : start + size], attempt=1)
        return len(passed)

    def _deliver_batch(self, batch: Records, attempt: int) -> None:
        while batch:
            reply = self._invoke(self._mapping.function, {"Records": list(batch)})
            batch = batch[_done(batch, reply, reports_failures=self._mapping.reports_failures) :]
            if batch and self._mapping.bisect_on_error and reply.failure and len(batch) > 1:
                # A bisection costs no attempt.
                middle = len(batch) // 2
                self._deliver_batch(batch[:middle], attempt)
                batch = batch[middle:]
            elif batch and self._exhausted(attempt):
                lost, batch = self._lost(batch)
                self._give_up(lost, attempt)
                attempt = 1
            else:
                attempt += 1

    def _exhausted(self, attempt: int) -> bool:
        return attempt > self._mapping.maximum_retry_attempts

    def _lost(self, batch: Records) -> tuple[Records, Records]:
        # A mapping that bisects or reports has narrowed the failure down to the first record that is left.
        narrowed = self._mapping.bisect_on_error or self._mapping.reports_failures
        return (batch[:1], batch[1:]) if narrowed else (batch, [])

    def _give_up(self, lost: Records, attempts: int) -> None:
        _log.error("stream records given up after %d attempts: %d", attempts, len(lost))
        if self._mapping.failure_queue_url:
            self._send(self._mapping.failure_queue_url, json.dumps(self._obituary(lost, attempts)))

    def _obituary(self, lost: Records, attempts: int) -> dict[str, Any]:
        first, last = lost[0]["dynamodb"], lost[-1]["dynamodb"]
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
                "batchSize": len(lost),
                "streamArn": self._stream_arn,
            },
        }


def _arrival(change: dict[str, Any]) -> str:
    arrived = datetime.fromtimestamp(change["ApproximateCreationDateTime"], UTC)
    return arrived.isoformat(timespec="seconds").replace("+00:00", "Z")


def _done(batch: Records, reply: InvocationResult, *, reports_failures: bool) -> int:
    """Return how many records from the front of *batch* are dealt with.

    Source: https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html
    """
    if reply.failure is not None:
        return 0
    if not reports_failures or not isinstance(reply.payload, dict):
        return len(batch)
    failed = [item.get("itemIdentifier") for item in reply.payload.get("batchItemFailures") or []]
    numbers = [record["dynamodb"]["SequenceNumber"] for record in batch]
    # An identifier that the batch does not hold fails all of it.
    return min((numbers.index(number) if number in numbers else 0 for number in failed), default=len(batch))


@dataclass
class Counts:
    """What a pump has seen of the stream, and what passed its mappings' filters."""

    seen: int = 0
    passed: int = 0


class Pump:
    """Reads the stream in a thread of its own, or on demand, and delivers what it reads."""

    def __init__(self, stream_arn: str, mappings: Iterable[StreamMapping], invoke: Invoke) -> None:
        self.enabled = True
        self.counts = Counts()
        # Clients are made here and not in the thread: a boto3 session makes them one at a time only.
        self._queues = boto3.client("sqs", region_name=REGION)
        self._deliveries = [Delivery(mapping, stream_arn, invoke, self._send) for mapping in mappings]
        self._stream_arn = stream_arn
        self._table_name = stream_arn.split("/")[1]
        self._client = boto3.client("dynamodbstreams", region_name=REGION)
        self._iterator = self._first_iterator()
        self._reading = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="local-stream", daemon=True)

    def start(self) -> None:
        """Begin to poll."""
        self._thread.start()

    def stop(self) -> None:
        """Stop polling, after the batch in hand."""
        self._stopped.set()
        self._thread.join()

    def drain(self) -> int:
        """Read and deliver until the stream is empty; return how many records were read."""
        read = 0
        with self._reading:
            while not self._stopped.is_set() and self._pending() and (records := self._read()):
                read += len(records)
                self._handle(records)
        return read

    def _handle(self, records: Records) -> None:
        self.counts.seen += len(records)
        # Switched off, a pump loses what it reads: that is what a lost stream looks like.
        if self.enabled:
            self.counts.passed += sum(delivery.deliver(records) for delivery in self._deliveries)

    def _pending(self) -> bool:
        # Asked of the emulator's memory: an empty GetRecords costs milliseconds, ten times a second.
        shard = dynamodb_backends[ACCOUNT][REGION].get_table(self._table_name).stream_shard
        return shard is not None and len(shard.items) > self.counts.seen

    def _read(self) -> Records:
        used = self._iterator
        answer = self._client.get_records(ShardIterator=used, Limit=READ_AT_ONCE)
        self._iterator = answer["NextShardIterator"]
        # The emulator keeps every iterator it ever gave out.
        dynamodbstreams_backends[ACCOUNT][REGION].shard_iterators.pop(used, None)
        return [shaped(raw, self._stream_arn) for raw in answer["Records"]]

    def _first_iterator(self) -> str:
        shards = self._client.describe_stream(StreamArn=self._stream_arn)["StreamDescription"]["Shards"]
        answer = self._client.get_shard_iterator(
            StreamArn=self._stream_arn, ShardId=shards[0]["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )
        first: str = answer["ShardIterator"]
        return first

    def _send(self, queue_url: str, message: str) -> None:
        self._queues.send_message(QueueUrl=queue_url, MessageBody=message)

    def _run(self) -> None:
        while not self._stopped.wait(POLL_SECONDS):
            try:
                self.drain()
            except Exception:  # noqa: BLE001 - the next poll tries again
                _log.exception("the stream could not be read")
