"""What each function really asks of AWS, heard where boto3 builds its requests."""

import re
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from types import FrameType
from typing import Any

import boto3

# A transaction needs what its actions need, and no permission of its own.
IN_TRANSACTIONS = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
    "Get": "GetItem",
}
# Operations that IAM knows by another name.
KNOWN_AS = {
    "bedrock-runtime:Converse": "bedrock:InvokeModel",
    "bedrock-runtime:InvokeModel": "bedrock:InvokeModel",
    "stepfunctions:StartExecution": "states:StartExecution",
    "stepfunctions:DescribeExecution": "states:DescribeExecution",
}


# What stands for a bank's, stream's or key's own part of a partition in a policy.
KINDS = ((r"[^#]+#(M|X|XU)#.*", r"*#\1#*"), (r"([A-Z]+)#.*", r"\1#*"))


@dataclass
class Asked:
    """IAM actions by the function that needed them; an action on an index is written `dynamodb:Query due`.

    With each action that reads or writes items come the kinds of partitions that one request named together.
    """

    actions: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    partitions: dict[str, set[tuple[str, frozenset[str]]]] = field(default_factory=lambda: defaultdict(set))
    lock: Any = field(default_factory=threading.Lock)

    def __call__(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        service = model.service_model.service_name
        function = _asking(service)
        if function:
            with self.lock:
                self.actions[function].update(needed(service, model.name, params))
                if service == "dynamodb":
                    self.partitions[function].update(named(model.name, params))


def listen() -> Asked:
    """Return what will have been asked by the clients that are built from now on; the emulator must be running."""
    boto3.setup_default_session()
    asked = Asked()
    boto3.DEFAULT_SESSION.events.register("before-parameter-build", asked)
    return asked


def needed(service: str, operation: str, params: dict[str, Any]) -> Iterator[str]:
    """Yield the IAM actions that a request takes."""
    if "TransactItems" in params:
        yield from (f"dynamodb:{IN_TRANSACTIONS[next(iter(action))]}" for action in params["TransactItems"])
        return
    action = KNOWN_AS.get(f"{service}:{operation}", f"{service}:{operation}")
    yield f"{action} {params['IndexName']}" if "IndexName" in params else str(action)
    if "guardrailConfig" in params:
        yield "bedrock:ApplyGuardrail"


def named(operation: str, params: dict[str, Any]) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the IAM actions of a request to the table, each with the kinds of the partitions that it is judged by."""
    if "TransactItems" in params:
        for entry in params["TransactItems"]:
            [(name, action)] = entry.items()
            yield f"dynamodb:{IN_TRANSACTIONS[name]}", frozenset({kind(_partition(action))})
        return
    [action] = needed("dynamodb", operation, params)
    if operation == "SearchVectors":
        return  # IAM sees no key of it
    if "RequestItems" in params:
        yield action, frozenset(kind(one) for of_table in params["RequestItems"].values() for one in _batch(of_table))
    else:
        yield action, frozenset({kind(_partition(params))})


def kind(partition: str) -> str:
    """Return the pattern of a partition, as policies name it: `S#*`, `*#M#*`, `BANKS`."""
    for pattern, replacement in KINDS:
        if re.fullmatch(pattern, partition):
            return re.sub(pattern, replacement, partition)
    return partition


def _batch(of_table: Any) -> Iterator[str]:
    if isinstance(of_table, dict):
        yield from (key["PK"]["S"] for key in of_table["Keys"])
    else:
        yield from (_partition(request) for entry in of_table for request in entry.values())


def _partition(request: dict[str, Any]) -> str:
    """Return the partition of an item, of a key, or of a query's condition."""
    if "KeyConditionExpression" in request:
        placeholder = request["KeyConditionExpression"].split(" AND ")[0].partition(" = ")[2]
        return str(request["ExpressionAttributeValues"][placeholder]["S"])
    return str((request.get("Key") or request["Item"])["PK"]["S"])


def _asking(service: str) -> str | None:
    """Return the function that this thread runs; a model is asked by threads of a function's own too."""
    own = _function(sys._getframe())
    if own or service != "bedrock-runtime":
        return own
    running = {_function(frame) for frame in sys._current_frames().values()} - {None}
    return running.pop() if len(running) == 1 else None


def _function(frame: FrameType | None) -> str | None:
    while frame is not None:
        if frame.f_code.co_name == "handler":
            path = PurePath(frame.f_code.co_filename)
            if path.parent.name == "functions":
                return path.stem
        frame = frame.f_back
    return None
