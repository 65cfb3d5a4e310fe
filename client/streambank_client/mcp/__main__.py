"""The entry point of `python -m streambank_client.mcp`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

from streambank_client.mcp.options import settings_of

MISSING = 'the package {} is missing; install it with: pip install "streambank-client[mcp]"'


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the server and return its exit status: 0 at the end of the input, 1 for a failure, 130 when interrupted."""
    for interrupt in (signal.SIGINT, signal.SIGTERM):
        signal.signal(interrupt, signal.default_int_handler)
    settings = settings_of(arguments, os.environ)
    try:
        # Imported here, so that a missing package is one line and no traceback.
        from streambank_client.mcp.running import run  # noqa: PLC0415

        return run(settings)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("streambank_client"):
            raise
        return _fail(MISSING.format(error.name))
    except KeyboardInterrupt:
        return 130
    except (OSError, ValueError) as error:
        return _fail(str(error))


def _fail(message: str) -> int:
    sys.stderr.write("streambank mcp: " + " ".join(message.split()) + "\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
