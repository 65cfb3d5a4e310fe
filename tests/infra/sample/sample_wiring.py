"""The sample's composition root."""

import os
from datetime import datetime
from typing import Any, Protocol

import boto3


class Clock(Protocol):
    def now(self) -> datetime: ...


_clock: list[Clock] = []


def use_clock(clock: Clock) -> None:
    _clock[:] = [clock]


def now() -> float:
    return _clock[0].now().timestamp()


def table() -> Any:
    return boto3.resource("dynamodb").Table(os.environ["TABLE_NAME"])
