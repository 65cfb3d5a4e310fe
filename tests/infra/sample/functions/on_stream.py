"""Starts the ringing of ripe reminders; trips over a poisoned one."""

import base64
import json
import os
from typing import Any

import boto3

_machine = boto3.client("stepfunctions")


def handler(event: dict[str, Any], context: Any) -> None:
    names = [record["dynamodb"]["Keys"]["PK"]["S"] for record in event["Records"]]
    if any(name.startswith("poison") for name in names):
        raise ValueError("poison")
    for name, record in zip(names, event["Records"], strict=True):
        assert base64.b64decode(record["dynamodb"]["NewImage"]["blob"]["B"]) == b"\x00\xff"
        _start(name)


def _start(name: str) -> None:
    try:
        _machine.start_execution(
            stateMachineArn=os.environ["STATE_MACHINE_ARN"], name=name, input=json.dumps({"name": name})
        )
    except _machine.exceptions.ExecutionAlreadyExists:
        return
