"""A vector index that is behind its table for a while, as DynamoDB's may be.

    index = LaggingIndex(world.client, world.clock)
    index.fall_behind(timedelta(seconds=5))

Until the clock has moved as far, searches of that client get the entries that were there when the index fell behind:
deleted ones still appear, new ones are missing, and changed ones are as they were. With *doubled* they get the present
entries beside the old ones: what did not change appears twice, and what changed as it was and as it is.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from botocore.awsrequest import AWSResponse
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.dynamodb.exceptions import MockValidationException
from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.dynamo_type import Item

from streambank_local.emulator import attribute_json, moto_vectors
from streambank_local.emulator.requests import one_request
from streambank_local.emulator.vector_search import VectorSearch
from tests import aws

REGION = "us-east-1"


class LaggingIndex:
    """Answers the searches of *client*; *now* is the injected clock. Faults that are attached before it come first."""

    def __init__(self, client: Any, now: Callable[[], datetime], table: str = aws.TABLE) -> None:
        self._now, self._table = now, table
        self._until: datetime | None = None
        self._entries: list[Item] = []
        self._is_doubled = False
        client.meta.events.register("before-call.dynamodb", self._answer)

    def fall_behind(self, span: timedelta, *, doubled: bool = False) -> None:
        """Let searches get the entries of this moment until the clock has moved by *span*."""
        with one_request():  # nothing is written meanwhile
            self._until, self._is_doubled = self._now() + span, doubled
            self._entries = [copy.deepcopy(item) for item in self._present()]

    def catch_up(self) -> None:
        """Let searches get what is there."""
        self._until = None

    def _present(self) -> list[Item]:
        table = dynamodb_backends[DEFAULT_ACCOUNT_ID][REGION].get_table(self._table)
        return list(moto_vectors.items(table))

    def _answer(self, model: Any, params: dict[str, Any], **_: Any) -> tuple[AWSResponse, dict[str, Any]] | None:
        if model.name != "SearchVectors" or self._until is None or self._now() >= self._until:
            return None
        table = dynamodb_backends[DEFAULT_ACCOUNT_ID][REGION].get_table(self._table)
        search = VectorSearch(attribute_json.loads(params["body"]))
        try:
            with one_request():
                entries = [*self._entries, *(self._present() if self._is_doubled else [])]
                reply = search.run(moto_vectors.indexes(table), entries, table.table_key_attrs)
        except MockValidationException:
            return None  # the emulator refuses it itself
        metadata = {"RequestId": "", "HTTPStatusCode": 200, "HTTPHeaders": {}, "RetryAttempts": 0}
        return AWSResponse(params["url"], 200, {}, None), {**reply, "ResponseMetadata": metadata}
