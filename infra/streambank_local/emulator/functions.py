"""The functions of the stack, called in this process as Lambda would call them."""

import importlib
import json
import sys
import threading
import time
import traceback
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from streambank_local.emulator.stack import Function

PACKAGE = "functions"

Handler = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Context:
    """The context object that Lambda passes to a handler."""

    function_name: str
    memory_limit_in_mb: int
    invoked_function_arn: str
    aws_request_id: str
    deadline: float
    function_version: str = "$LATEST"

    @property
    def log_group_name(self) -> str:
        return f"/aws/lambda/{self.function_name}"

    def get_remaining_time_in_millis(self) -> int:
        """Return the milliseconds until the function's timeout, 0 after it."""
        return max(0, int(1000 * (self.deadline - time.monotonic())))


@dataclass(frozen=True)
class Failure:
    """An invocation that raised, as Lambda reports it."""

    error_type: str
    message: str
    stack: tuple[str, ...] = ()

    def payload(self) -> dict[str, Any]:
        return {"errorType": self.error_type, "errorMessage": self.message, "stackTrace": list(self.stack)}


@dataclass(frozen=True)
class InvocationResult:
    """The outcome of an invocation: a payload, or a failure."""

    payload: Any = None
    failure: Failure | None = None


class Functions:
    """The loaded handlers by their names in the template, with a count of their invocations."""

    def __init__(self, functions: Iterable[Function]) -> None:
        self._functions = {function.name: function for function in functions}
        self._handlers = {name: _load(function.handler) for name, function in self._functions.items()}
        self._counts_lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def invoke(self, name: str, event: Any) -> InvocationResult:
        """Call a function; an exception becomes the result's failure."""
        self._count(name)
        return _call(self._handlers[name], _as_json(event), _context(self._functions[name]))

    def invoke_deployed(self, deployed_name: str, event: Any) -> InvocationResult:
        """Call a function by the name that the emulator gave it."""
        names = {function.deployed_name: name for name, function in self._functions.items()}
        return self.invoke(names[deployed_name], event)

    def counts(self) -> dict[str, int]:
        """Return the number of calls of each function."""
        with self._counts_lock:
            return {name: self._counts[name] for name in sorted(self._functions)}

    def _count(self, name: str) -> None:
        with self._counts_lock:
            self._counts[name] += 1


def unload_functions() -> None:
    """Drop the handlers' modules, which hold the environment in which they were imported."""
    for name in [name for name in sys.modules if name == PACKAGE or name.startswith(PACKAGE + ".")]:
        del sys.modules[name]


def _load(handler: str) -> Handler:
    module, _, attribute = handler.rpartition(".")
    function: Handler = getattr(importlib.import_module(f"{PACKAGE}.{module}"), attribute)
    return function


def _context(function: Function) -> Context:
    return Context(
        function_name=function.deployed_name,
        memory_limit_in_mb=function.memory_mb,
        invoked_function_arn=function.arn,
        aws_request_id=str(uuid.uuid4()),
        deadline=time.monotonic() + function.timeout_seconds,
    )


def _call(handler: Handler, event: Any, context: Context) -> InvocationResult:
    try:
        payload = handler(event, context)
    except Exception as error:  # noqa: BLE001 - Lambda reports every exception as the result
        return InvocationResult(failure=_failure(error))
    try:
        return InvocationResult(_as_json(payload))
    except (TypeError, ValueError) as error:
        return InvocationResult(failure=Failure("Runtime.MarshalError", f"Unable to marshal response: {error}"))


def _failure(error: Exception) -> Failure:
    return Failure(type(error).__name__, str(error), tuple(traceback.format_exception(error)))


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))
