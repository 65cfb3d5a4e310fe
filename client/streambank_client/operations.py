"""Operations as a caller holds them, and how they are waited for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from streambank_client import errors, types
from streambank_client.calls import Call, Told, named, told
from streambank_client.driving import AsyncDriver, Driver
from streambank_client.sending import Sender, Sleep, Steps

R = TypeVar("R")
DriverT = TypeVar("DriverT", bound=Driver | AsyncDriver)
FIRST_POLL_SECONDS = 0.25
LONGEST_POLL_SECONDS = 5.0
# What the last question has at least, however little of the wait is left.
LEAST_POLL_SECONDS = 1.0
_GROWTH = 1.6


class Known(Generic[R, DriverT]):
    """An operation as it was when it was last asked about."""

    def __init__(self, told: Told[R], sender: Sender, driver: DriverT) -> None:
        self._told = told
        self._sender = sender
        self._driver = driver

    def __repr__(self) -> str:
        # Nothing of what it responds, which is somebody's text.
        return f"<{type(self).__name__} {self.name!r}, {'done' if self.done else 'not done'}>"

    @property
    def name(self) -> str:
        """The name by which `get_operation` finds it."""
        return self._told.name

    @property
    def done(self) -> bool:
        """Whether it has ended, with a response or an error."""
        return self._told.done

    @property
    def metadata(self) -> types.OperationMetadata:
        """Where the events of its window are; empty for what is done in the call that asks for it."""
        return self._told.metadata

    @property
    def response(self) -> R | None:
        """What came of it, once it is done and did not fail."""
        return self._told.response

    @property
    def error(self) -> types.OperationError | None:
        """Why it failed, if it did."""
        return self._told.error


class Operation(Known[R, Driver]):
    """What the service does beyond the call that began it."""

    def wait(self, *, timeout_seconds: float = 60.0) -> Operation[R]:
        """Return the operation as it is when it is done, asking with growing pauses of up to 5 s.

        Raises:
            OperationFailed: it ended with an error.
            DeadlineExceeded: it was not done in time; it goes on all the same.
        """
        done = self._driver.run(self._sender, waiting(self._told, self._sender, timeout_seconds))
        return Operation(done, self._sender, self._driver)

    def result(self, *, timeout_seconds: float = 60.0) -> R:
        """Wait as `wait` does, and return the response."""
        return finished(self._driver.run(self._sender, waiting(self._told, self._sender, timeout_seconds)))


class AsyncOperation(Known[R, AsyncDriver]):
    """What the service does beyond the call that began it."""

    async def wait(self, *, timeout_seconds: float = 60.0) -> AsyncOperation[R]:
        """Return the operation as it is when it is done, as `Operation.wait` does."""
        done = await self._driver.run(self._sender, waiting(self._told, self._sender, timeout_seconds))
        return AsyncOperation(done, self._sender, self._driver)

    async def result(self, *, timeout_seconds: float = 60.0) -> R:
        """Wait as `wait` does, and return the response."""
        return finished(await self._driver.run(self._sender, waiting(self._told, self._sender, timeout_seconds)))


def waiting(now: Told[R], sender: Sender, timeout_seconds: float) -> Steps[Told[R]]:
    """Ask about an operation until it is done.

    Raises:
        OperationFailed: it ended with an error.
        DeadlineExceeded: it was not done in time.
    """
    deadline = sender.now() + timeout_seconds
    call = Call(method="GET", path=named(now.name).path, parse=told(now.read), repeatable=True)
    for pause in _pauses():
        if now.done:
            break
        left = deadline - sender.now()
        if left <= 0:
            raise errors.DeadlineExceeded(f"{now.name} was not done within {timeout_seconds:g} s; it goes on")
        yield Sleep(min(left, pause * (0.5 + sender.jitter() / 2)))
        now = yield from sender.steps(call, most_seconds=max(deadline - sender.now(), LEAST_POLL_SECONDS))
    if now.error is not None:
        raise errors.OperationFailed(now.error.code, now.error.message, now)
    return now


def _pauses() -> Iterator[float]:
    pause = FIRST_POLL_SECONDS
    while True:
        yield pause
        pause = min(pause * _GROWTH, LONGEST_POLL_SECONDS)


def finished(now: Told[R]) -> R:
    """Return the response of an operation that is done."""
    return now.read({}) if now.response is None else now.response
