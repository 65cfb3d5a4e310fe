"""One run of the demo: a local service, the conversation, the report."""

import gc
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

from streambank_local.demo import findings, report
from streambank_local.demo.api import Api, DemoError
from streambank_local.demo.conversation import load
from streambank_local.demo.player import play
from streambank_local.demo.screen import Screen
from streambank_local.emulator.translation import StackError
from streambank_local.installation import RUN_COMMAND
from streambank_local.service import LocalService

_NEXT = f"Next: `{RUN_COMMAND}` serves the API on this machine until Ctrl-C; docs/tutorial.md goes on from here."


def run(screen: Screen) -> list[str]:
    """Play the conversation through a new local service, write the report, and return a line for each failure."""
    try:
        with LocalService(timer_enabled=False) as service:
            gc.enable()
            with _interruptible_once():
                return _play(service.base_url, screen)
    except (DemoError, ModuleNotFoundError, OSError, StackError) as error:
        return [" ".join(str(error).split())]


@contextmanager
def _interruptible_once() -> Iterator[None]:
    """Let the first Ctrl-C through; a second one must not interrupt the shutdown."""
    try:
        yield
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise


def _play(base_url: str, screen: Screen) -> list[str]:
    conversation, begun = load(), time.monotonic()
    report.announce(conversation, screen)
    api = Api(base_url)
    try:
        result = play(conversation, api, screen)
        gathered = findings.gather(conversation, result, api)
    finally:
        api.close()
    report.show(conversation, result, gathered, screen)
    failures = findings.problems(conversation, result, gathered)
    if not failures:
        screen.line()
        seconds = time.monotonic() - begun
        screen.item(f"Five weeks in {seconds:.0f} seconds. {_NEXT}", indent=0, style="bold")
    return failures
