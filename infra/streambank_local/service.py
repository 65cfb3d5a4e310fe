"""The whole service in one process: the emulator, the stack, the functions, and what drives them."""

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self

from moto import mock_aws

from streambank.wiring import overrides
from streambank_local.basic.models import BasicModels
from streambank_local.clock import Clock, MovableClock
from streambank_local.emulator import machine, moto_repair, stack
from streambank_local.emulator.functions import Functions, InvocationResult, forget_loaded
from streambank_local.emulator.schedule import DueTimes, MinuteTimer
from streambank_local.emulator.stream import Pump
from streambank_local.http.gateway import Gateway, HttpServer

ROOT = Path(__file__).resolve().parents[2]
SETTLE_SECONDS = 60.0
SETTLE_POLL_SECONDS = 0.01

# An advance by ten years over one stream that is due each hour; more than this is a due time that never goes away.
MAXIMUM_STEPS = 100_000

_ENVIRONMENT = {
    # Otherwise stream calls go to a host that the emulator does not know.
    "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",
    "AWS_ACCESS_KEY_ID": "local",
    "AWS_SECRET_ACCESS_KEY": "local",
    "AWS_SESSION_TOKEN": "local",
    "AWS_REGION": stack.REGION,
    "AWS_DEFAULT_REGION": stack.REGION,
    # Metrics are lines on standard output, and nobody reads them here.
    "POWERTOOLS_METRICS_DISABLED": "true",
}
# What could lead a client past the emulator, or to somebody's real account.
_UNWANTED = ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_ENDPOINT_URL")

_log = logging.getLogger(__name__)


def set_overrides(clock: Clock) -> None:
    """Give the product's composition root the service's clock."""
    overrides.current.clock = clock
    overrides.current.models = BasicModels() if os.environ.get("STREAMBANK_MODEL") == "embedded" else None


class LocalService:
    """A running service: `with LocalService() as service: httpx.get(service.base_url + ...)`."""

    def __init__(
        self,
        root: Path = ROOT,
        port: int = 0,
        *,
        prepare: Callable[[Clock], None] = set_overrides,
        parameters: Mapping[str, str] = stack.LOCAL_PARAMETERS,
        pump_enabled: bool = True,
        timer_enabled: bool = True,
    ) -> None:
        self.clock = MovableClock()
        self._root = root
        self._port = port
        self._prepare = prepare
        self._parameters = {**stack.LOCAL_PARAMETERS, **parameters}
        self._pump_enabled = pump_enabled
        self._timer_enabled = timer_enabled
        self._running = ExitStack()
        self._ticking = threading.Lock()
        self._advancing = threading.Lock()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Bring everything up; raises StackError, OSError for a taken port, ModuleNotFoundError."""
        with ExitStack() as starting:
            self._start(starting)
            self._running = starting.pop_all()

    def stop(self) -> None:
        """Take everything down; the emulator forgets what it held."""
        self._running.close()

    @property
    def base_url(self) -> str:
        return self._server.url

    @property
    def pump_enabled(self) -> bool:
        """Whether stream records reach their functions; while it is False they are lost."""
        return self._pump.enabled

    @pump_enabled.setter
    def pump_enabled(self, enabled: bool) -> None:
        self._pump.enabled = enabled

    @property
    def timer_enabled(self) -> bool:
        """Whether the schedule runs each minute by itself."""
        return self._timer.enabled

    @timer_enabled.setter
    def timer_enabled(self, enabled: bool) -> None:
        self._timer.enabled = enabled

    def now(self) -> datetime:
        """Return the service's time."""
        return self.clock.now()

    def invoke(self, function: str, event: Any) -> InvocationResult:
        """Call a function by its name in the template."""
        return self._functions.invoke(function, event)

    def tick(self) -> None:
        """Run the schedule once, now."""
        with self._ticking:
            for name in self.stack.scheduled:
                failure = self.invoke(name, {}).failure
                if failure:
                    _log.error("schedule failed: %s\n%s", failure.error_type, "".join(failure.stack))

    def settle(self, timeout_seconds: float = SETTLE_SECONDS) -> bool:
        """Wait until the stream is empty and no execution runs; return False if that takes too long."""
        deadline = time.monotonic() + timeout_seconds
        while not self._quiet():
            if time.monotonic() > deadline:
                return False
            time.sleep(SETTLE_POLL_SECONDS)
        return True

    def advance(self, by: timedelta) -> bool:
        """Move the clock, stop at each due time on the way to do what is due, and return whether all of it got done."""
        with self._advancing:
            target = self.now() + by
            done = self._step_through(self._worked(), target)
            self.clock.advance_to(target)
            return self._work() and done

    def counters(self) -> dict[str, Any]:
        """Return what has happened since the start."""
        return {
            "streamRecordsSeen": self._pump.counts.seen,
            "streamRecordsPassed": self._pump.counts.passed,
            "executionsStarted": self._machine.started(),
            "executionsRunning": self._machine.running(),
            "invocations": self._functions.counts(),
        }

    def _quiet(self) -> bool:
        # The order matters: an execution that has ended before they are counted has its records in the stream by now,
        # and what another thread read or started meanwhile shows in the sums.
        before = self._sums()
        running = self._machine.running()
        drained = self._pump.drain()
        return not running and not drained and self._sums() == before

    def _sums(self) -> tuple[int, int]:
        return self._machine.started(), self._pump.counts.seen

    def _step_through(self, seen: datetime | None, target: datetime) -> bool:
        """Work at each due time after *seen*: what came due while the last work was done has not been looked at."""
        for _ in range(MAXIMUM_STEPS):
            if seen is None:
                return False
            due = self._due_times.next(seen, target)
            if due is None:
                return True
            self.clock.advance_to(max(due, self.now()))
            seen = self._worked()
        return False

    def _worked(self) -> datetime | None:
        """Work, and return when it began; None if it did not come to an end."""
        begun = self.now()
        return begun if self._work() else None

    def _work(self) -> bool:
        self.tick()
        return self.settle()

    def _start(self, starting: ExitStack) -> None:
        starting.enter_context(_environment(_ENVIRONMENT))
        starting.enter_context(_importable(self._root))
        starting.enter_context(_emulator())
        self.stack = stack.deploy(self._root, self._parameters)
        starting.enter_context(_environment(self.stack.environment()))
        self._prepare(self.clock)
        self._functions = Functions(self.stack.functions.values())
        starting.enter_context(machine.tasks_in_process(self._functions))
        self._machine = machine.Machine(self.stack)
        self._due_times = DueTimes(self.stack.table_name)
        self._start_drivers(starting)

    def _start_drivers(self, starting: ExitStack) -> None:
        self._pump = Pump(self.stack.stream_arn, self.stack.mappings, self.invoke)
        self._timer = MinuteTimer(self.clock, self.tick)
        self.pump_enabled, self.timer_enabled = self._pump_enabled, self._timer_enabled
        gateway = Gateway(self.stack.routes, self, asks_for_token=self._parameters["AuthMode"] != "keys")
        self._server = HttpServer(gateway, self._port)
        # Taken down in the reverse order: no request comes in any more when the last execution ends.
        starting.callback(self._machine.end_executions)
        for driver in (self._pump, self._timer, self._server):
            driver.start()
            starting.callback(driver.stop)


@contextmanager
def _emulator() -> Iterator[None]:
    moto_repair.install()
    with mock_aws(config=machine.EMULATOR_CONFIG):
        yield


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    names = {*variables, *_UNWANTED}
    before = {name: os.environ.pop(name) for name in names if name in os.environ}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            os.environ.pop(name, None)
        os.environ.update(before)


@contextmanager
def _importable(root: Path) -> Iterator[None]:
    before = list(sys.path)
    sys.path[:0] = [str(root), str(root / "shared")]
    forget_loaded()
    try:
        yield
    finally:
        sys.path[:] = before
        forget_loaded()
