"""Delivery of stream records as an event source mapping does it."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from streambank_local.emulator.functions import Failure, InvocationResult
from streambank_local.emulator.stack import StreamMapping
from streambank_local.emulator.stream import Delivery, Record, to_lambda_record

ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/t/stream/1"
BISECTING = StreamMapping(
    "OnStream", batch_size=4, maximum_retry_attempts=2, bisect_on_error=True, failure_queue_url="q"
)
REPORTING = replace(BISECTING, reports_failures=True)
PLAIN = replace(BISECTING, bisect_on_error=False)


def record(number: int) -> Record:
    return {"dynamodb": {"SequenceNumber": str(number), "ApproximateCreationDateTime": 1_700_000_000.0}}


def numbers(records: list[Record]) -> list[int]:
    return [int(entry["dynamodb"]["SequenceNumber"]) for entry in records]


@dataclass
class Function:
    """A function that answers by a rule, and remembers its batches and the messages to its failure queue."""

    rule: Callable[[list[int]], InvocationResult]
    batches: list[list[int]] = field(default_factory=list)
    lost: list[dict[str, Any]] = field(default_factory=list)

    def invoke(self, name: str, event: Any) -> InvocationResult:
        self.batches.append(numbers(event["Records"]))
        return self.rule(self.batches[-1])

    def send(self, url: str, message: str) -> None:
        self.lost.append(json.loads(message))

    def lost_ranges(self) -> list[tuple[str, str]]:
        batches = [message["DDBStreamBatchInfo"] for message in self.lost]
        return [(info["startSequenceNumber"], info["endSequenceNumber"]) for info in batches]


def deliver(function: Function, mapping: StreamMapping, count: int) -> None:
    records = [record(number) for number in range(count)]
    Delivery(mapping, ARN, function.invoke, function.send).deliver(records)


def fine(_: list[int]) -> InvocationResult:
    return InvocationResult({"batchItemFailures": []})


def raising_on(*poison: int) -> Callable[[list[int]], InvocationResult]:
    return lambda batch: (
        InvocationResult(failure=Failure("ValueError", "")) if {*batch} & {*poison} else InvocationResult()
    )


def reporting(*poison: int) -> Callable[[list[int]], InvocationResult]:
    return lambda batch: InvocationResult(
        {"batchItemFailures": [{"itemIdentifier": str(number)} for number in batch if number in poison]}
    )


def test_records_come_in_batches_in_order() -> None:
    """No batch is larger than the mapping allows, and the order holds."""
    function = Function(fine)
    deliver(function, REPORTING, 10)
    assert function.batches == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_error_bisects_down_to_the_poison_record() -> None:
    """A record on which the function raises is retried alone and ends in the failure queue; the others are handled."""
    function = Function(raising_on(2))
    deliver(function, BISECTING, 5)
    assert function.batches == [[0, 1, 2, 3], [0, 1], [2, 3], [2], [2], [2], [3], [4]]
    assert function.lost_ranges() == [("2", "2")]


def test_reported_failure_is_retried_from_there_on() -> None:
    """Records before the first reported failure are done, the rest comes again, the poison one is given up."""
    function = Function(reporting(1))
    deliver(function, REPORTING, 4)
    assert function.batches == [[0, 1, 2, 3], [1, 2, 3], [1, 2, 3], [2, 3]]
    assert function.lost_ranges() == [("1", "1")]


def test_passing_failure_loses_nothing() -> None:
    """A record that fails once is handled by the retry."""
    answers = [reporting(0), fine]
    function = Function(lambda batch: answers.pop(0)(batch))
    deliver(function, REPORTING, 2)
    assert (function.batches, function.lost) == ([[0, 1], [0, 1]], [])


def test_unknown_identifier_fails_the_whole_batch() -> None:
    """A reported identifier that no record has brings the batch again, as on AWS."""
    answers = [lambda _: InvocationResult({"batchItemFailures": [{"itemIdentifier": ""}]}), fine]
    function = Function(lambda batch: answers.pop(0)(batch))
    deliver(function, REPORTING, 3)
    assert function.batches == [[0, 1, 2], [0, 1, 2]]


def test_without_bisecting_the_batch_is_lost_together() -> None:
    """A mapping that neither bisects nor reports gives up its whole batch, and goes on with the next."""
    function = Function(raising_on(1))
    deliver(function, PLAIN, 6)
    assert function.batches == [[0, 1, 2, 3]] * 3 + [[4, 5]]
    assert function.lost_ranges() == [("0", "3")]


def test_message_to_the_failure_queue_has_lambdas_shape() -> None:
    """The message names the range of the stream, the reason and the attempts."""
    function = Function(raising_on(0))
    deliver(function, BISECTING, 1)
    (message,) = function.lost
    assert message["requestContext"]["condition"] == "RetryAttemptsExhausted"
    assert message["requestContext"]["approximateInvokeCount"] == 3
    assert message["DDBStreamBatchInfo"] == {
        "startSequenceNumber": "0",
        "endSequenceNumber": "0",
        "approximateArrivalOfFirstRecord": "2023-11-14T22:13:20Z",
        "approximateArrivalOfLastRecord": "2023-11-14T22:13:20Z",
        "batchSize": 1,
        "streamArn": ARN,
    }


@given(st.sets(st.integers(0, 12)), st.sampled_from([BISECTING, REPORTING]), st.sampled_from([raising_on, reporting]))
def test_exactly_the_poison_records_are_lost(poison: set[int], mapping: StreamMapping, rule: Any) -> None:
    """Whichever records are poison, each other one is handled and only those end in the queue."""
    if rule is reporting and mapping is BISECTING:
        return  # this mapping does not read reports
    function = Function(rule(*poison))
    deliver(function, mapping, 13)
    assert [int(start) for start, _ in function.lost_ranges()] == sorted(poison)
    assert {number for batch in function.batches for number in batch} == set(range(13))


def test_filtered_records_do_not_reach_the_function() -> None:
    """Only what passes the patterns is delivered, and counted."""
    function = Function(fine)
    mapping = replace(REPORTING, patterns=({"dynamodb": {"SequenceNumber": ["1", "3"]}},))
    delivery = Delivery(mapping, ARN, function.invoke, function.send)
    assert delivery.deliver([record(number) for number in range(5)]) == 2
    assert function.batches == [[1, 3]]


def test_record_has_lambdas_shape() -> None:
    """Times are epoch seconds, binary is base64 at any depth, and the rest stays as it was."""
    raw = {
        "eventID": "e",
        "eventName": "INSERT",
        "dynamodb": {
            "ApproximateCreationDateTime": datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC),
            "Keys": {"PK": {"S": "p"}},
            "NewImage": {
                "b": {"B": b"\x00\xff"},
                "bs": {"BS": [b"\x00"]},
                "l": {"L": [{"M": {"b": {"B": b"\xff"}}}, {"N": "1"}, {"NULL": True}]},
            },
            "SequenceNumber": "1",
            "SizeBytes": 9,
            "StreamViewType": "NEW_IMAGE",
        },
    }
    event = to_lambda_record(raw, ARN)
    assert event == {
        "eventID": "e",
        "eventName": "INSERT",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "us-east-1",
        "eventSourceARN": ARN,
        "dynamodb": {
            "ApproximateCreationDateTime": 1_700_000_000.0,
            "Keys": {"PK": {"S": "p"}},
            "NewImage": {
                "b": {"B": "AP8="},
                "bs": {"BS": ["AA=="]},
                "l": {"L": [{"M": {"b": {"B": "/w=="}}}, {"N": "1"}, {"NULL": True}]},
            },
            "SequenceNumber": "1",
            "SizeBytes": 9,
            "StreamViewType": "NEW_IMAGE",
        },
    }
    assert json.loads(json.dumps(event)) == event
