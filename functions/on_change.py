"""Change records of the table's stream, published on an event bus."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.data_classes.dynamo_db_stream_event import DynamoDBRecord

from streambank import startup
from streambank.pipeline.memories.publish import publish
from streambank.wiring.changes import build

CONTEXT = build()
PROCESSOR = BatchProcessor(event_type=EventType.DynamoDBStreams, raise_on_entire_batch_failure=False)
startup.finish()


def handler(event: dict[str, Any], context: Any) -> Any:
    """Publish each record and name those that could not be published."""
    return process_partial_response(event=event, record_handler=_handle, processor=PROCESSOR, context=context)


def _handle(record: DynamoDBRecord) -> None:
    keys: Any = record.dynamodb.keys if record.dynamodb else {}
    publish(keys["PK"], keys["SK"], context=CONTEXT)
