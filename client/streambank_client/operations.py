"""Operations as a caller has them, and how they are polled."""

from __future__ import annotations

import itertools
from typing import Generic, TypeVar

from streambank_client import errors, types
from streambank_client.calls.replies import OperationSnapshot, read_operation_with
from streambank_client.calls.resources import resource_path
from streambank_client.http.call import Call
from streambank_client.http.drivers import Steps, run, run_async
from streambank_client.http.retry import Backoff
from streambank_client.http.sender import Sender

R = TypeVar("R")
POLLING = Backoff(base_seconds=0.25, most_seconds=5.0, growth=1.6, least_share=0.5)
# The last request has at least this long, however little time is left of the wait.
LAST_POLL_SECONDS = 1.0


class BaseOperation(Generic[R]):
    """An operation as the service last reported it."""

    def __init__(self, snapshot: OperationSnapshot[R], sender: Sender) -> None:
        self._snapshot = snapshot
        self._sender = sender

    def __repr__(self) -> str:
        # Without the response, which may be private text.
        return f"<{type(self).__name__} {self.name!r}, {'done' if self.done else 'not done'}>"

    @property
    def name(self) -> str:
        """The name to give to `get_operation`."""
        return self._snapshot.name

    @property
    def done(self) -> bool:
        """Whether it has ended, with a response or an error."""
        return self._snapshot.done

    @property
    def metadata(self) -> types.OperationMetadata:
        """The state of its window; empty for an operation that was done within the call that began it."""
        return self._snapshot.metadata

    @property
    def response(self) -> R | None:
        """Its response, once it is done and has not failed."""
        return self._snapshot.response

    @property
    def error(self) -> types.OperationError | None:
        """Why it failed, if it did."""
        return self._snapshot.error

    @property
    def detail(self) -> types.WindowDetail | None:
        """The events and candidates of its window, if they were requested by `get_operation(view="FULL")`."""
        return self._snapshot.detail


class Operation(BaseOperation[R]):
    """Work that the service goes on with after the call that began it."""

    def wait(self, *, timeout_seconds: float = 60.0) -> Operation[R]:
        """Return the operation when it is done; it is polled with growing pauses of at most 5 s.

        Raises:
            OperationFailed: it ended with an error.
            DeadlineExceeded: it was not done in time; it still goes on.
        """
        return Operation(run(poll(self._snapshot, self._sender, timeout_seconds)), self._sender)

    def result(self, *, timeout_seconds: float = 60.0) -> R:
        """Wait as `wait` does, and return the response."""
        return response_of(run(poll(self._snapshot, self._sender, timeout_seconds)))


class AsyncOperation(BaseOperation[R]):
    """Work that the service goes on with after the call that began it."""

    async def wait(self, *, timeout_seconds: float = 60.0) -> AsyncOperation[R]:
        """Return the operation when it is done, as `Operation.wait` does."""
        return AsyncOperation(await run_async(poll(self._snapshot, self._sender, timeout_seconds)), self._sender)

    async def result(self, *, timeout_seconds: float = 60.0) -> R:
        """Wait as `wait` does, and return the response."""
        return response_of(await run_async(poll(self._snapshot, self._sender, timeout_seconds)))


def poll(operation: OperationSnapshot[R], sender: Sender, timeout_seconds: float) -> Steps[OperationSnapshot[R]]:
    """Request an operation again and again until it is done, and return it.

    Raises:
        OperationFailed: it ended with an error.
        DeadlineExceeded: it was not done in time.
    """
    operation = yield from poll_until(operation, sender, sender.now() + timeout_seconds)
    if not operation.done:
        raise errors.DeadlineExceeded(f"{operation.name} was not done within {timeout_seconds:g} s; it goes on")
    if operation.error is not None:
        raise errors.OperationFailed(operation.error.code, operation.error.message, operation)
    return operation


def poll_until(operation: OperationSnapshot[R], sender: Sender, deadline: float) -> Steps[OperationSnapshot[R]]:
    """Request an operation again and again until it is done or the time is up, and return it as it is then."""
    path, parse = resource_path(operation.name).path, read_operation_with(operation.read_response)
    call = Call(method="GET", path=path, parse=parse, repeatable=True)
    for polls in itertools.count(1):
        left_seconds = deadline - sender.now()
        if operation.done or left_seconds <= 0:
            break
        yield sender.pause(min(left_seconds, POLLING.delay_seconds(polls, share=sender.jitter())))
        operation = yield from sender.steps(call, most_seconds=max(deadline - sender.now(), LAST_POLL_SECONDS))
    return operation


def response_of(operation: OperationSnapshot[R]) -> R:
    """Return the response of an operation that is done."""
    return operation.read_response({}) if operation.response is None else operation.response
