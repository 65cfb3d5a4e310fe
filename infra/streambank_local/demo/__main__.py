"""`python -m streambank_local.demo`: a conversation over five weeks, played through a local service in seconds."""

import gc
import logging
import signal
import sys

from streambank_local.demo.screen import Screen
from streambank_local.installation import install_message, missing_embedder, missing_modules

INTERRUPTED = 130
_TITLE = "Streambank demo: the whole service in this process, nothing leaves this machine"


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
    screen.item(_TITLE, indent=0, style="bold")
    screen.line("Starting the service ...", style="dim")
    if notice := missing_embedder():
        screen.item(notice, indent=0)
    # A seventh of the start-up time would be garbage collection of the emulator's modules, all of which stay.
    gc.disable()
    try:
        # Imported here, because this takes seconds: the lines above appear first.
        from streambank_local.demo.run import run  # noqa: PLC0415
    except ModuleNotFoundError as error:
        return [install_message(str(error))]
    return run(screen)


if __name__ == "__main__":
    sys.exit(main())
