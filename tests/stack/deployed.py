"""A stack that `make test-stack` has deployed into an emulator, used by the journeys instead of a local service.

Its clock cannot be moved and its stream cannot be stopped: tests that need either are skipped.
"""

import json
import os
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import boto3
import pytest

# Names the file that infra.stack wrote about its deployment.
VARIABLE = "STREAMBANK_STACK"
IDLE_TIMEOUT_SECONDS = 120.0


@dataclass
class Deployed:
    """What the journeys need of a running service."""

    base_url: str
    token: str
    outputs: dict[str, str]

    @classmethod
    def named(cls) -> "Deployed | None":
        """Return the deployment that the environment names, and point AWS's SDK at it."""
        file = os.environ.get(VARIABLE)
        if not file:
            return None
        deployment = json.loads(Path(file).read_text())
        variables = {
            "AWS_ENDPOINT_URL": deployment["endpoint"],
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
        }
        os.environ.update(variables)
        return cls(deployment["url"], deployment["key"], deployment["outputs"])

    @property
    def stack(self) -> Any:
        return SimpleNamespace(table_name=self.outputs["TableName"])

    def now(self) -> datetime:
        return datetime.now(UTC)

    def wait_until_idle(self) -> bool:
        """Wait until twice in a row nothing runs and no window waits for a record of the stream."""
        deadline, quiet = time.monotonic() + IDLE_TIMEOUT_SECONDS, 0
        while quiet < 2:
            if time.monotonic() > deadline:
                return False
            quiet = 0 if self._is_running() or self._is_waiting() else quiet + 1
            time.sleep(0.2)
        return True

    def _is_running(self) -> bool:
        reply = boto3.client("stepfunctions").list_executions(
            stateMachineArn=self.outputs["StateMachineArn"], statusFilter="RUNNING"
        )
        return bool(reply["executions"])

    def _is_waiting(self) -> bool:
        items = _items(self.stack.table_name)
        pending = {(item["PK"], item["SK"]) for item in items if item.get("st") == "SEALED"}
        return any(item.get("ripe") == "1" or (item.get("new") and _before(item) not in pending) for item in items)

    # ---- what a deployed stack does not offer

    @property
    def poller_enabled(self) -> bool:
        return True

    @poller_enabled.setter
    def poller_enabled(self, enabled: bool) -> None:
        if not enabled:
            _needs("a stream that can be stopped")

    def advance(self, *_: Any) -> NoReturn:
        _needs("a clock that can be moved")

    def counters(self) -> NoReturn:
        _needs("counters of local mode")

    @property
    def clock(self) -> NoReturn:
        _needs("a clock that can be moved")


def _needs(what: str) -> NoReturn:
    pytest.skip(f"needs {what}")


def _items(table: str) -> list[dict[str, Any]]:
    pages = (
        boto3.client("dynamodb")
        .get_paginator("scan")
        .paginate(
            TableName=table,
            ConsistentRead=True,
            FilterExpression="ripe = :one OR st = :sealed",
            ExpressionAttributeValues={":one": {"N": "1"}, ":sealed": {"S": "SEALED"}},
        )
    )
    items = [item for page in pages for item in page["Items"]]
    return [{name: next(iter(value.values())) for name, value in item.items()} for item in items]


def _before(item: dict[str, Any]) -> tuple[str, str]:
    return item["PK"], f"W#{int(item['SK'][2:]) - 1:012}"
