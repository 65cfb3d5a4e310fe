"""The state machine: executed by the emulator, its tasks called in this process."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from types import ModuleType
from typing import Any

import boto3
from moto.awslambda.models import LambdaFunction
from moto.core.config import DefaultConfig
from moto.stepfunctions.parser.asl.component.state.exec.state_task import lambda_eval_utils
from moto.stepfunctions.parser.asl.parse.asl_parser import AmazonStateLanguageParser
from moto.stepfunctions.parser.asl.utils import json_path
from moto.stepfunctions.parser.asl.utils.boto_client import boto_client_for
from moto.stepfunctions.parser.models import StepFunctionsParserBackend, stepfunctions_parser_backends

from streambank_local.emulator.functions import Functions
from streambank_local.emulator.stack import ACCOUNT, REGION, Stack

# moto's parser backend runs a machine only under this setting.
EMULATOR_CONFIG: DefaultConfig = {"stepfunctions": {"execute_state_machine": True}}

STOP_SECONDS = 5.0
STOP_POLL_SECONDS = 0.01

_starting = threading.Lock()


class Machine:
    """The deployed state machine and its executions."""

    def __init__(self, stack: Stack) -> None:
        # CloudFormation created it in a backend that executes nothing; the same name gets the same ARN here.
        name = stack.machine_arn.rpartition(":")[2]
        client = boto3.client("stepfunctions", region_name=REGION)
        created = client.create_state_machine(
            name=name, definition=stack.machine_definition, roleArn=f"arn:aws:iam::{ACCOUNT}:role/{name}"
        )
        self.arn: str = created["stateMachineArn"]

    def running(self) -> int:
        """Return how many executions have not ended."""
        return sum(execution.exec_status in {None, "RUNNING"} for execution in self._executions())

    def started(self) -> int:
        """Return how many executions have started."""
        return len(self._executions())

    def end_executions(self) -> None:
        """Abort the running executions, and wait up to STOP_SECONDS for their current tasks."""
        for execution in self._executions():
            worker = execution.exec_worker
            if execution.exec_status == "RUNNING" and worker is not None and worker.env is not None:
                worker.stop(datetime.now(UTC), error=None, cause=None)
        deadline = time.monotonic() + STOP_SECONDS
        while self.running() and time.monotonic() < deadline:
            time.sleep(STOP_POLL_SECONDS)

    def _executions(self) -> list[Any]:
        # Read from the backend: listing through the API takes milliseconds, and `wait_until_idle` does it often.
        backend = stepfunctions_parser_backends[ACCOUNT][REGION]
        return [
            execution
            for machine in backend.state_machines
            if machine.arn == self.arn
            for execution in machine.executions
        ]


@contextmanager
def tasks_in_process(functions: Functions) -> Iterator[None]:
    """Make the emulator call *functions* instead of starting a container."""
    parse = staticmethod(cache(AmazonStateLanguageParser.parse))
    client = boto_client_for(REGION, "lambda")
    start_execution = StepFunctionsParserBackend.start_execution
    with (
        _patched(LambdaFunction, "_invoke_lambda", _invoke_with(functions)),
        _patched(StepFunctionsParserBackend, "start_execution", _serialized(start_execution)),
        # Saves half of a generation's time: the emulator parses the machine for each execution and a path at each of
        # its uses, and creates a client for each task. boto3 also cannot create clients in several threads at once.
        _patched(AmazonStateLanguageParser, "parse", parse),
        _patched(json_path, "parse", cache(vars(json_path)["parse"])),
        _patched(lambda_eval_utils, "boto_client_for", lambda **_: client),
    ):
        yield


@contextmanager
def _patched(owner: type | ModuleType, name: str, new: object) -> Iterator[None]:
    before = vars(owner)[name]
    setattr(owner, name, new)
    try:
        yield
    finally:
        setattr(owner, name, before)


def _invoke_with(functions: Functions) -> Callable[[LambdaFunction, str | None], tuple[str, bool, str]]:
    def invoke(function: LambdaFunction, event: str | None = None) -> tuple[str, bool, str]:
        payload = json.loads(event) if isinstance(event, str | bytes) else event
        result = functions.invoke_deployed(function.function_name, payload)
        if result.failure is not None:
            return json.dumps(result.failure.payload()), True, ""
        return json.dumps(result.payload), False, ""

    return invoke


def _serialized(start_execution: Callable[..., Any]) -> Callable[..., Any]:
    # The emulator looks for the name and appends the execution in two steps, so two threads could both start it.
    def start(*arguments: Any, **named: Any) -> Any:
        with _starting:
            return start_execution(*arguments, **named)

    return start
