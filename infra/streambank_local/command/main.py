"""The command line: its commands, and how it ends."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Sequence

import click
from click.exceptions import NoArgsIsHelpError

from streambank_client import __version__
from streambank_client.errors import PermissionDenied, StreambankError, Unauthenticated
from streambank_local.command import (
    changes,
    chat,
    console,
    doctor,
    erase,
    evaluation,
    ingest,
    keys,
    mcp,
    memories,
    move,
    policy,
    replay,
    reviews,
    serve,
    streams,
    transfers,
    why,
)
from streambank_local.command.entry import INTERRUPTED

WRONG_ARGUMENTS = 2

_EPILOG = """\b
Examples:
  streambank serve --data ./memory
  streambank chat --scope user_id=ada
  streambank ingest conversations.json --scope user_id=ada
  streambank search "Where do I live?" --scope user_id=ada
  streambank why EVENT_ID --scope user_id=ada

Each command takes --url, --token and --bank; STREAMBANK_URL, STREAMBANK_TOKEN and STREAMBANK_BANK are their defaults.
"""


@click.group(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="streambank")
def cli() -> None:
    """Long-term memory for agents: run a service on this machine, or use one."""


for command in (
    serve.serve,
    chat.chat,
    console.console,
    ingest.ingest,
    memories.memories,
    memories.search,
    memories.forget,
    memories.pin,
    memories.unpin,
    reviews.reviews,
    reviews.accept,
    reviews.reject,
    why.why,
    streams.streams,
    changes.changes,
    streams.usage,
    erase.erase,
    move.move,
    transfers.export,
    transfers.import_,
    transfers.reindex,
    policy.policy,
    policy.consent,
    replay.replay,
    keys.keys,
    doctor.doctor,
    evaluation.evaluate,
    mcp.mcp,
):
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status: 0, 1 for a failure, 2 for wrong arguments, 130 when interrupted.

    A reader that closes the pipe of the output ends the command without a message, with status 1.
    """
    for interrupt in (signal.SIGINT, signal.SIGTERM):
        signal.signal(interrupt, signal.default_int_handler)
    if sys.stdin is None:  # the caller has closed it
        sys.stdin = io.StringIO()
    try:
        status = cli.main(arguments, prog_name="streambank", standalone_mode=False)
        _flush()
    except NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)
        return WRONG_ARGUMENTS
    except BrokenPipeError:
        return _discard_output()
    except (click.Abort, KeyboardInterrupt):
        return _fail("interrupted", INTERRUPTED)
    except (click.ClickException, StreambankError, OSError, ValueError) as error:
        return _fail(*_explained(error))
    return status if isinstance(status, int) else 0


def _explained(error: Exception) -> tuple[str, int]:
    """Return the error in one line, with a cure where one is known, and the exit status."""
    message = str(error) or type(error).__name__
    match error:
        case click.UsageError():
            command = error.ctx.command_path if error.ctx else "streambank"
            return f"{_sentence(error.format_message())} See `{command} --help`.", WRONG_ARGUMENTS
        case click.ClickException():
            return error.format_message(), error.exit_code
        case Unauthenticated():
            return f"{_sentence(message)} Give the key or the token with --token, or in STREAMBANK_TOKEN.", 1
        case PermissionDenied():
            return f"{_sentence(message)} `streambank doctor` says what the key may do.", 1
    return message, 1


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _flush() -> None:
    """Write what is buffered: when the interpreter ends, it is too late to report a failure."""
    if sys.stdout is not None:  # as it is where the caller has closed it
        sys.stdout.flush()


def _discard_output() -> int:
    """Keep the interpreter from writing what is buffered, and return the status of a failure."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def _fail(message: str, status: int) -> int:
    try:
        _flush()
    except OSError:
        _discard_output()
    print("streambank: " + " ".join(message.split()), file=sys.stderr)
    return status
