"""The entry point of `streambank`, which says what is missing where a package is not installed."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> int:
    """Run the command and return its exit status."""
    try:
        # Imported here, so that a missing package, or Ctrl-C meanwhile, is one line and no traceback.
        from streambank_local.command import main as commands  # noqa: PLC0415
    except KeyboardInterrupt:
        print("streambank: interrupted", file=sys.stderr)
        return INTERRUPTED
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("streambank_local"):
            raise
        install = 'pip install "streambank[server,local]" streambank-client'
        print(f"streambank: the package {error.name} is missing; install it with: {install}", file=sys.stderr)
        return 1
    return commands.main()
