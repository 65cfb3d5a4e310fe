"""`python -m streambank_local`: the whole service on this machine."""

import argparse
import gc
import ipaddress
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from streambank_local.installation import (
    COMMAND_VARIABLE,
    install_message,
    missing_embedder,
    missing_modules,
    option,
    stack_folder,
    with_option,
)

if TYPE_CHECKING:
    from streambank_local.changes.targets import Target
    from streambank_local.user_aws import UserAws

HOST = "127.0.0.1"
PORT = 8080

# The modes of --auth, each with the route that makes its credentials.
_ROUTES = {"keys": "/_local/keys", "jwt": "/_local/tokens"}
_OPTIONS = ("port", "host", "auth", "data")
# What a server of models needs.
_OPENAI_VARIABLES = ("OPENAI_BASE_URL", "MODEL_ID", "EMBEDDING_MODEL_ID")


def main(arguments: Sequence[str] | None = None, command: str | None = None) -> int:
    """Serve until interrupted; return the exit status. Messages name *command* and its options."""
    command = command or os.environ.get(COMMAND_VARIABLE) or "python -m streambank_local"
    options = _options(arguments, command)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    # SIGINT too: a shell starts a background job with SIGINT ignored.
    for interrupt in (signal.SIGINT, signal.SIGTERM):
        signal.signal(interrupt, signal.default_int_handler)
    try:
        problem = _problem(options.port, options.host, command) or _serve(options, command)
    except KeyboardInterrupt:
        problem = None
    if problem:
        print(f"streambank local: {problem}", file=sys.stderr)
    return 1 if problem else 0


class _Parser(argparse.ArgumentParser):
    """Names options as the command does."""

    def error(self, message: str) -> NoReturn:
        for name in _OPTIONS:
            message = message.replace(f"--{name}", option(self.prog, name))
        self.exit(2, f"{self.prog}: {message}\n")


def _options(arguments: Sequence[str] | None, command: str) -> argparse.Namespace:
    parser = _Parser(prog=command, description=__doc__)
    parser.add_argument("--port", type=int, default=PORT, help=f"port on {HOST}, 0 for any free one (default {PORT})")
    parser.add_argument("--auth", choices=_ROUTES, help="ask callers for API keys, or for tokens (JWT)")
    parser.add_argument("--data", type=_folder, metavar="DIR", help="folder that keeps everything, the clock included")
    sent = parser.add_mutually_exclusive_group()
    sent.add_argument("--changes-webhook", metavar="URL", help="post each change of a memory, signed (docs/local.md)")
    sent.add_argument("--changes-stdout", action="store_true", help="write each change of a memory as a line of JSON")
    parser.add_argument("--host", type=_address, default=HOST, help=f"IPv4 address to serve on (default {HOST})")
    options = parser.parse_args(arguments)
    if not options.auth and not ipaddress.IPv4Address(options.host).is_loopback:
        parser.error("--host needs --auth: other machines may reach the service")
    if not 0 <= options.port <= 65535:
        parser.error(f"no such port: {options.port}")
    return options


def _address(text: str) -> str:
    try:
        return str(ipaddress.IPv4Address(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not an IPv4 address") from None


def _folder(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("it names no folder")
    return Path(text).expanduser().absolute()


def _problem(port: int, host: str, command: str) -> str | None:
    model = os.environ.get("STREAMBANK_MODEL") or "embedded"
    if model not in ("embedded", "bedrock", "openai"):
        return f"STREAMBANK_MODEL is {model!r}; it can be embedded, bedrock or openai"
    missing = [name for name in _OPENAI_VARIABLES if not os.environ.get(name)]
    if model == "openai" and missing:
        return f"STREAMBANK_MODEL=openai needs {', '.join(missing)}"
    if message := missing_modules():
        return message
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            other = with_option(command, "port", "8111")
            return f"port {port} cannot be used ({error.strerror}); choose another one, as in: {other}"
    return None


def _serve(options: argparse.Namespace, command: str) -> str | None:
    keeps = with_option(command, "data", "DIR")
    start = (
        f"with the data in {options.data}" if options.data else f"and forgets everything at its end ({keeps} keeps it)"
    )
    print(f"Streambank is starting {start}; this takes some seconds ...", flush=True)
    if notice := missing_embedder():
        print(f"streambank local: {notice}", file=sys.stderr)
    # A seventh of the start-up time would be garbage collection of the emulator's modules, all of which stay.
    gc.disable()
    # Imported here, because this takes seconds: the line above appears first.
    from botocore.exceptions import ProfileNotFound  # noqa: PLC0415

    try:
        from streambank_local.callers import operator_token  # noqa: PLC0415
        from streambank_local.disk.folder import FolderError  # noqa: PLC0415
        from streambank_local.disk.store import NotKeptError  # noqa: PLC0415
        from streambank_local.emulator.translation import StackError  # noqa: PLC0415
        from streambank_local.service import LocalService  # noqa: PLC0415
    except ModuleNotFoundError as error:
        return install_message(str(error))
    except ProfileNotFound as error:  # AWS_PROFILE names none; the emulator looks for it while it is imported
        return str(error)
    try:
        parameters, aws, target = _parameters(options.auth), _user_aws(), _target(options)
        operator, token = operator_token.of_host(options.host)
        with LocalService(
            port=options.port,
            host=options.host,
            operator=operator,
            data=options.data,
            parameters=parameters,
            user_aws=aws,
            target=target,
        ) as service:
            gc.enable()
            print(_ready_line(options, f"{service.base_url}, token: {token}", keeps), flush=True)
            _wait_for_interrupt()
    except (FolderError, ModuleNotFoundError, NotKeptError, OSError, StackError, ValueError) as error:
        return " ".join(str(error).split())
    return None


def _ready_line(options: argparse.Namespace, access: str, keeps: str) -> str:
    more = f", an operator's; POST {_ROUTES[options.auth]} makes others" if options.auth else ""
    end = f"the data stay in {options.data}" if options.data else f"everything is forgotten then ({keeps} keeps it)"
    return f"Streambank is ready on {access}{more}. Ctrl-C stops it; {end}."


def _parameters(auth: str | None) -> dict[str, str]:
    """Return the template's parameters: the mode, and those that the environment sets, such as models and budgets."""
    # Imported here, because it takes a second.
    from streambank_local.parameters import parameters_of  # noqa: PLC0415

    return parameters_of(stack_folder(), os.environ) | ({"AuthMode": auth} if auth else {})


def _target(options: argparse.Namespace) -> "Target | None":
    """Return where changes are sent to, or None. Raises ValueError for a webhook that cannot be used."""
    if not (options.changes_webhook or options.changes_stdout):
        return None
    # Imported here, because it takes a second.
    from streambank_local.changes.targets import StandardOutput, webhook  # noqa: PLC0415

    return webhook(options.changes_webhook) if options.changes_webhook else StandardOutput()


def _user_aws() -> "UserAws | None":
    """Return the user's own AWS where models on Bedrock are selected, else None. Raises as `UserAws.load`."""
    # Imported here, because it takes seconds.
    from streambank_local.user_aws import ENDPOINT, UserAws  # noqa: PLC0415

    is_needed = os.environ.get("STREAMBANK_MODEL") == "bedrock" and not os.environ.get(ENDPOINT)
    return UserAws.load() if is_needed else None


def _wait_for_interrupt() -> None:
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        # A second Ctrl-C must not interrupt the shutdown.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


if __name__ == "__main__":
    sys.exit(main())
