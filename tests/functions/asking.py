"""What each function really asks of AWS, heard where boto3 builds its requests."""

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


@dataclass
class Asked:
    """IAM actions by the function that needed them; an action on an index is written `dynamodb:Query due`."""

    actions: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    lock: Any = field(default_factory=threading.Lock)

    def __call__(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        function = _asking(model.service_model.service_name)
        if function:
            with self.lock:
                self.actions[function].update(needed(model.service_model.service_name, model.name, params))


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


def _asking(service: str) -> str | None:
    """Return the function that this thread runs; a model is asked by threads of a function's own too."""
    own = _function(sys._getframe())
    if own or service != "bedrock-runtime":
        return own
    running = {_function(frame) for frame in sys._current_frames().values()} - {None}
    return running.pop() if len(running) == 1 else None


def _function(frame: FrameType | None) -> str | None:
    while frame is not None:
        path = PurePath(frame.f_code.co_filename)
        if path.parent.name == "functions" and frame.f_code.co_name == "handler":
            return path.stem
        frame = frame.f_back
    return None
