"""Faults that are injected into AWS calls: at random, and the same again for the same seed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from botocore.exceptions import ClientError, ConnectionClosedError

from tests.aws import Killed

# How likely a call meets a fault of each kind; a call makes some ten of them, a generation forty.
BETWEEN = "somebody else came between"
BEFORE = {
    "killed before a call": 0.002,
    "throttled": 0.004,
    "transaction conflict": 0.0,
    BETWEEN: 0.03,
}
# Where races are lost and outcomes stay open.
OF_OPERATIONS = {
    "TransactWriteItems": {"transaction conflict": 0.02, BETWEEN: 0.4, "reply lost": 0.06},
    "PutItem": {BETWEEN: 0.4, "transaction conflict": 0.02},
    "UpdateItem": {"transaction conflict": 0.02},
    "BatchGetItem": {"keys unprocessed": 0.2},
}
# How deep somebody comes between somebody who came between, and what can happen there.
DEEPEST = 2
BELOW = {fault: chance for fault, chance in BEFORE.items() if fault != BETWEEN}
AFTER = {"killed after a call": 0.002, "reply lost": 0.005, "connection closed": 0.002, "keys unprocessed": 0.0}


class Weather:
    """Sits between the service and DynamoDB; *between* is what somebody else may do in the middle of things."""

    def __init__(self, rng: random.Random, injected: Counter[str], between: Callable[[], None]) -> None:
        self.rng, self.injected, self.between = rng, injected, between
        self.is_calm, self.depth = False, 0
        self.fuse: int | None = None

    def attach(self, client: Any) -> None:
        client.meta.events.register("before-call.dynamodb", self.before)
        client.meta.events.register("after-call.dynamodb", self.after)

    def before(self, model: Any, **_: Any) -> None:
        fault = self._roll(BEFORE if self.depth < DEEPEST else BELOW, model.name)
        if self._has_burnt() or fault == "killed before a call":
            raise Killed(model.name)
        if fault == "throttled":
            raise _error("ProvisionedThroughputExceededException", model.name)
        if fault == "transaction conflict":
            raise met(model.name)
        if fault == BETWEEN:
            self._come_between()

    def after(self, model: Any, parsed: dict[str, Any], **_: Any) -> None:
        if parsed.get("ResponseMetadata", {}).get("HTTPStatusCode") != 200:
            return
        fault = self._roll(AFTER, model.name)
        if fault == "killed after a call":
            raise Killed(model.name)
        if fault == "reply lost":
            raise _error("InternalServerError", model.name)
        if fault == "connection closed":
            raise ConnectionClosedError(endpoint_url="the table")
        if fault == "keys unprocessed":
            self.injected[fault] -= not _leave_some(parsed, self.rng)

    def _come_between(self) -> None:
        """Let somebody in, who perhaps does not come to the end of it."""
        before, self.fuse = self.fuse, self.rng.choice((None, None, None, self.rng.randrange(2, 40)))
        self.depth += 1
        try:
            self.between()
        finally:
            self.depth -= 1
            self.fuse = before

    def _has_burnt(self) -> bool:
        if self.fuse is None or self.is_calm:
            return False
        self.fuse -= 1
        self.injected["killed on the way"] += self.fuse == 0
        return self.fuse <= 0

    def _roll(self, chances: dict[str, float], operation: str) -> str | None:
        if self.is_calm:
            return None
        dice = self.rng.random()
        more = OF_OPERATIONS.get(operation, {})
        for fault, chance in chances.items():
            dice -= more.get(fault, chance)
            if dice < 0:
                self.injected[fault] += 1
                return fault
        return None


def met(operation: str) -> ClientError:
    """Return what a transaction, or a single write, is told that met somebody else's transaction."""
    if operation != "TransactWriteItems":
        return _error("TransactionConflictException", operation)
    reasons = [{"Code": "TransactionConflict"}, {"Code": "None"}]
    return _error("TransactionCanceledException", operation, CancellationReasons=reasons)


def _error(code: str, operation: str, **more: Any) -> ClientError:
    response = {"Error": {"Code": code, "Message": "injected"}, "ResponseMetadata": {"HTTPStatusCode": 400}, **more}
    return ClientError(response, operation)


def _leave_some(parsed: dict[str, Any], rng: random.Random) -> bool:
    """Hand some of the items back as keys, as DynamoDB does when it has answered enough; tell whether there are any."""
    for table, items in parsed["Responses"].items():
        left = [item for item in items if rng.random() < 0.5]
        if left and not parsed.get("UnprocessedKeys"):
            parsed["Responses"][table] = [item for item in items if item not in left]
            keys = [{"PK": item["PK"], "SK": item["SK"]} for item in left]
            parsed["UnprocessedKeys"] = {table: {"Keys": keys, "ConsistentRead": True}}
    return bool(parsed.get("UnprocessedKeys"))
