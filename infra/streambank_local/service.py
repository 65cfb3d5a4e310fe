"""The whole service in one process: the emulator, the stack, its functions, and the threads that call them."""

import logging
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self

import boto3
from moto import mock_aws

from streambank import telemetry
from streambank.retry import RetryPolicy
from streambank.settings import Settings
from streambank.store.api_keys import ApiKeys
from streambank.store.table import Table
from streambank.wiring import overrides
from streambank_local.basic.models import BasicModels
from streambank_local.callers.callers import Callers, LocalCallers
from streambank_local.callers.keys import KeyCallers
from streambank_local.callers.operator_token import OperatorToken
from streambank_local.callers.secrets import make_anew
from streambank_local.callers.tokens import TokenCallers
from streambank_local.changes.follower import ChangeFollower, InMemory
from streambank_local.changes.targets import Target
from streambank_local.clock import Clock, MovableClock
from streambank_local.disk.store import Store, opened
from streambank_local.emulator import keeping, machine, moto_repair, stack
from streambank_local.emulator.functions import Functions, InvocationResult
from streambank_local.emulator.schedule import DueTimes, MinuteTimer
from streambank_local.emulator.stream import StreamPoller
from streambank_local.http.gateway import HOST, Gateway, HttpServer
from streambank_local.installation import stack_folder
from streambank_local.process import environment, importable
from streambank_local.user_aws import UserAws

IDLE_TIMEOUT_SECONDS = 60.0
IDLE_POLL_SECONDS = 0.01

# Ten years of a stream that is due each hour take 87,660 steps; more than this is a due time that never goes away.
MAXIMUM_STEPS = 100_000

_ENVIRONMENT = {
    # Without this boto3 sends stream calls to a host that the emulator does not know.
    "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",
    "AWS_ACCESS_KEY_ID": "local",
    "AWS_SECRET_ACCESS_KEY": "local",
    "AWS_SESSION_TOKEN": "local",
    "AWS_REGION": stack.REGION,
    "AWS_DEFAULT_REGION": stack.REGION,
    # No files, or boto3 would read those of the user's home, with credentials and endpoints.
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    # Metrics would be lines on standard output.
    "POWERTOOLS_METRICS_DISABLED": "true",
}
_log = logging.getLogger(__name__)


def set_overrides(clock: Clock) -> None:
    """Give the composition root *clock*, and the basic model if it is selected."""
    overrides.current.clock = clock
    overrides.current.models = BasicModels() if os.environ.get("STREAMBANK_MODEL") == "embedded" else None


class LocalService:
    """The running service, as a context manager."""

    def __init__(
        self,
        folder: Path | None = None,
        port: int = 0,
        *,
        data: Path | None = None,
        host: str = HOST,
        operator: OperatorToken | None = None,
        prepare: Callable[[Clock], None] = set_overrides,
        parameters: Mapping[str, str] = stack.LOCAL_PARAMETERS,
        poller_enabled: bool = True,
        timer_enabled: bool = True,
        user_aws: UserAws | None = None,
        target: Target | None = None,
    ) -> None:
        """Keep the state in the folder *data*, or without one in memory alone; send changes to *target*, if any."""
        self.clock = MovableClock()
        self._data = data
        self._folder = folder or stack_folder()
        self._port = port
        self._host = host
        self._operator = operator
        self._prepare = prepare
        self._parameters = {**stack.LOCAL_PARAMETERS, **parameters}
        self._poller_enabled = poller_enabled
        self._timer_enabled = timer_enabled
        self._user_aws = user_aws
        self._target = target
        self._running = ExitStack()
        self._ticking = threading.Lock()
        self._advancing = threading.Lock()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start everything.

        Raises:
            FolderError, NotKeptError: the folder of the data cannot be used.
            ModuleNotFoundError: a module is not installed.
            OSError: the port is in use.
            StackError: the template cannot be deployed.
        """
        with ExitStack() as starting:
            self._start(starting)
            self._running = starting.pop_all()

    def stop(self) -> None:
        """Stop everything; what the emulator stored is gone, or in the folder of the data."""
        self._running.close()

    @property
    def base_url(self) -> str:
        return self._server.url

    @property
    def poller_enabled(self) -> bool:
        """Whether stream records are delivered to their functions; while it is False they are dropped."""
        return self._poller.enabled

    @poller_enabled.setter
    def poller_enabled(self, enabled: bool) -> None:
        self._poller.enabled = enabled

    @property
    def timer_enabled(self) -> bool:
        """Whether the schedule runs each minute on its own."""
        return self._timer.enabled

    @timer_enabled.setter
    def timer_enabled(self, enabled: bool) -> None:
        self._timer.enabled = enabled

    def now(self) -> datetime:
        """Return the service's current time."""
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

    def wait_until_idle(self, timeout_seconds: float = IDLE_TIMEOUT_SECONDS) -> bool:
        """Wait until the stream is empty and no execution runs; return False after *timeout_seconds*."""
        deadline = time.monotonic() + timeout_seconds
        while not self._is_idle():
            if time.monotonic() > deadline:
                return False
            time.sleep(IDLE_POLL_SECONDS)
        return True

    def advance(self, by: timedelta) -> bool:
        """Move the clock in steps from due time to due time, run what is due, and return whether all of it finished."""
        with self._advancing:
            target = self.now() + by
            is_finished = self._run_due_times(self._run_due_now(), target)
            self.clock.advance_to(target)
            return self._run_due_now() is not None and is_finished

    def counters(self) -> dict[str, Any]:
        """Return counts of what has happened since the start."""
        return {
            "streamRecordsSeen": self._poller.counts.read,
            "streamRecordsPassed": self._poller.counts.matched,
            "executionsStarted": self._machine.started(),
            "executionsRunning": self._machine.running(),
            "invocations": self._functions.counts(),
        }

    def _is_idle(self) -> bool:
        # The order matters. The records of an execution that has ended are in the stream before the stream is read.
        # What another thread reads or starts meanwhile changes the totals.
        before = self._totals()
        running = self._machine.running()
        records = self._poller.drain()
        return not running and not records and self._totals() == before

    def _totals(self) -> tuple[int, int]:
        return self._machine.started(), self._poller.counts.read

    def _run_due_times(self, start: datetime | None, target: datetime) -> bool:
        """Run what is due at each due time after *start*, up to *target*."""
        for _ in range(MAXIMUM_STEPS):
            if start is None:
                return False
            due = self._due_times.next(start, target)
            if due is None:
                return True
            self.clock.advance_to(max(due, self.now()))
            # From the start of a run: a due time that is written during the run is still ahead.
            start = self._run_due_now()
        return False

    def _run_due_now(self) -> datetime | None:
        """Run what is due now; return when that began, or None if it did not finish in time."""
        begun = self.now()
        self.tick()
        return begun if self.wait_until_idle() else None

    def _start(self, starting: ExitStack) -> None:
        store = starting.enter_context(opened(self._data)) if self._data else None
        if store:
            self.clock = keeping.clock_of(store)
        starting.enter_context(environment(_ENVIRONMENT))
        starting.enter_context(importable(self._folder))
        starting.enter_context(_emulator())
        self.stack = stack.deploy(self._folder, self._parameters)
        starting.enter_context(environment(self.stack.environment()))
        # The logger read its level when it was imported, before the stack had set one.
        telemetry.LOGGER.setLevel(os.environ["POWERTOOLS_LOG_LEVEL"])
        self._prepare(self.clock)
        if store:
            starting.enter_context(keeping.kept_in(store, self.stack, self.now))
        if self._user_aws:
            overrides.current.models = self._user_aws.models(Settings.read(os.environ).models)
        self._functions = Functions(self.stack.functions.values())
        starting.enter_context(machine.tasks_in_process(self._functions))
        self._machine = machine.Machine(self.stack)
        self._due_times = DueTimes(self.stack.table_name)
        self._start_drivers(starting, store)

    def _start_drivers(self, starting: ExitStack, store: Store | None) -> None:
        self._poller = StreamPoller(self.stack.stream_arn, self.stack.mappings, self.invoke)
        self._timer = MinuteTimer(self.clock, self.tick, starts_at_once=self._data is not None)
        self.poller_enabled, self.timer_enabled = self._poller_enabled, self._timer_enabled
        self._server = HttpServer(self._gateway(self._callers(store)), self._port, self._host)
        # They stop in reverse order, so that no request arrives after the executions have ended.
        starting.callback(self._machine.end_executions)
        followers = self._followers(store)
        drivers: list[StreamPoller | MinuteTimer | ChangeFollower | HttpServer]
        drivers = [self._poller, self._timer, *followers, self._server]
        for driver in drivers:
            driver.start()
            starting.callback(driver.stop)

    def _gateway(self, callers: Callers) -> Gateway:
        return Gateway(self.stack.routes, self, callers, self._operator)

    def _followers(self, store: Store | None) -> list[ChangeFollower]:
        """Return the thread that sends changes, if they have a target."""
        if self._target is None:
            return []
        kept, stream = store or InMemory(), self._poller
        return [ChangeFollower(self._table(), self._target, kept, self.now, lambda: stream.counts.read)]

    def _table(self) -> Table:
        return Table(boto3.client("dynamodb"), self.stack.table_name, RetryPolicy(time.sleep, random.random))

    def _callers(self, store: Store | None) -> Callers:
        mode = self._parameters["AuthMode"]
        kept = store.setting if store else make_anew
        if mode == "keys":
            return KeyCallers(ApiKeys(self._table()), self.now, kept)
        return TokenCallers(self.now, kept) if mode == "jwt" else LocalCallers()


@contextmanager
def _emulator() -> Iterator[None]:
    moto_repair.install()
    with mock_aws(config=machine.EMULATOR_CONFIG):
        yield
