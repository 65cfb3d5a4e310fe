"""`python -m streambank_local.demo`: a conversation over five weeks, played through a local service in seconds."""

import gc
import logging
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from streambank_local.demo.conversation import load
from streambank_local.demo.screen import Screen

INTERRUPTED = 130
# Those that would be missed only in the middle of the demo: the rest is imported when it starts.
_MODULES = ("antlr4", "aws_lambda_powertools", "graphql", "jsonpath_ng", "numpy", "openapi_spec_validator", "wordllama")
_NEXT = "Next: `make run` serves the API on this machine until Ctrl-C; README.md shows the first calls."


def main() -> int:
    """Play, show, stop; return the exit status."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    # SIGINT too: a shell starts what it puts in the background with SIGINT ignored.
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
    missing = [name for name in _MODULES if find_spec(name) is None]
    if missing:
        return [_told_missing(f"missing {', '.join(missing)}")]
    screen.line("Streambank demo: the whole service in this process, nothing leaves this machine", style="bold")
    screen.line("Starting the service ...", style="dim")
    # A seventh of the start is garbage collection among the emulator's modules, which stay.
    gc.disable()
    try:
        from streambank_local.demo.api import DemoError
        from streambank_local.emulator.stack import StackError
        from streambank_local.service import LocalService
    except ModuleNotFoundError as error:
        return [_told_missing(str(error))]
    try:
        with LocalService(timer_enabled=False) as service:
            gc.enable()
            with _stopping_once():
                return _with_service(service.base_url, screen)
    except (DemoError, ModuleNotFoundError, OSError, StackError) as error:
        return [" ".join(str(error).split())]


@contextmanager
def _stopping_once() -> Iterator[None]:
    """Let the first Ctrl-C through; a second one must not tear the shutdown apart."""
    try:
        yield
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise


def _told_missing(what: str) -> str:
    return f"{what}; install what is missing with: pip install -e '.[server,local,client]'"


def _with_service(base_url: str, screen: Screen) -> list[str]:
    from streambank_local.demo import findings, report
    from streambank_local.demo.api import Api
    from streambank_local.demo.player import play

    conversation, began = load(), time.monotonic()
    report.announce(conversation, screen)
    api = Api(base_url)
    try:
        played = play(conversation, api, screen)
        found = findings.gather(conversation, played, api)
    finally:
        api.close()
    report.show(conversation, played, found, screen)
    failures = findings.problems(conversation, played, found)
    if not failures:
        screen.line()
        seconds = time.monotonic() - began
        screen.item(f"Five weeks in {seconds:.0f} seconds. {_NEXT}", indent=0, style="bold")
    return failures


if __name__ == "__main__":
    sys.exit(main())
