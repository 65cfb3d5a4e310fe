"""`python -m streambank_local.demo`: a conversation over five weeks, played through a local service in seconds."""

import gc
import logging
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from streambank_local.demo.conversation import load
from streambank_local.demo.screen import Screen
from streambank_local.installation import RUN_COMMAND, install_message, missing_modules

INTERRUPTED = 130
_NEXT = f"Next: `{RUN_COMMAND}` serves the API on this machine until Ctrl-C; README.md shows the first calls."


def main() -> int:
    """Play the conversation, write the report, and return the exit status."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    # SIGINT too: a shell starts a background job with SIGINT ignored.
    for interrupt in (signal.SIGINT, signal.SIGTERM):
        signal.signal(interrupt, signal.default_int_handler)
    screen = Screen(sys.stdout)
    try:
        failures = _run(screen)
    except KeyboardInterrupt:
        screen.line("Interrupted.")
        return INTERRUPTED
    for failure in failures:
        print(f"streambank demo failed: {failure}", file=sys.stderr)
    return 1 if failures else 0


def _run(screen: Screen) -> list[str]:
    if message := missing_modules():
        return [message]
    screen.line("Streambank demo: the whole service in this process, nothing leaves this machine", style="bold")
    screen.line("Starting the service ...", style="dim")
    # A seventh of the start-up time would be garbage collection of the emulator's modules, all of which stay.
    gc.disable()
    try:
        # Imported here, because this takes seconds: the lines above appear first.
        from streambank_local.demo.api import DemoError
        from streambank_local.emulator.stack import StackError
        from streambank_local.service import LocalService
    except ModuleNotFoundError as error:
        return [install_message(str(error))]
    try:
        with LocalService(timer_enabled=False) as service:
            gc.enable()
            with _interruptible_once():
                return _with_service(service.base_url, screen)
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


def _with_service(base_url: str, screen: Screen) -> list[str]:
    from streambank_local.demo import findings, report
    from streambank_local.demo.api import Api
    from streambank_local.demo.player import play

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


if __name__ == "__main__":
    sys.exit(main())
