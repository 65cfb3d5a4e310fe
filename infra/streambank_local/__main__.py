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

from streambank_local.installation import install_message, missing_embedder, missing_modules

HOST = "127.0.0.1"
PORT = 8080

# The template's parameters that local mode takes from the environment.
_PARAMETERS = {
    "Model": "STREAMBANK_MODEL",
    "ModelId": "MODEL_ID",
    "EmbeddingModelId": "EMBEDDING_MODEL_ID",
    "AllowedModels": "ALLOWED_MODELS",
    "DailyTokenBudget": "DAILY_TOKEN_BUDGET",
    "ModelPrices": "MODEL_PRICES",
    "OtlpEndpoint": "OTEL_EXPORTER_OTLP_ENDPOINT",
}
# The modes of --auth, each with the route that makes its credentials.
_ROUTES = {"keys": "/_local/keys", "jwt": "/_local/tokens"}
_BEDROCK_ENDPOINT = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until interrupted; return the exit status."""
    options = _options(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    # SIGINT too: a shell starts a background job with SIGINT ignored.
    for interrupt in (signal.SIGINT, signal.SIGTERM):
        signal.signal(interrupt, signal.default_int_handler)
    try:
        problem = _problem(options.port, options.host) or _serve(options)
    except KeyboardInterrupt:
        problem = None
    if problem:
        print(f"streambank local: {problem}", file=sys.stderr)
    return 1 if problem else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m streambank_local", description=__doc__)
    parser.add_argument("--port", type=int, default=PORT, help=f"port on {HOST}, 0 for any free one (default {PORT})")
    parser.add_argument("--auth", choices=_ROUTES, help="ask callers for API keys, or for tokens (JWT)")
    parser.add_argument("--host", type=_address, default=HOST, help=f"IPv4 address to serve on (default {HOST})")
    options = parser.parse_args(arguments)
    if not options.auth and not ipaddress.IPv4Address(options.host).is_loopback:
        parser.error("--host needs --auth: other machines may reach the service")
    if not 0 <= options.port <= 65535:
        parser.error(f"no such port: {options.port}")
    return options


def _address(text: str) -> str:
    return str(ipaddress.IPv4Address(text))


def _problem(port: int, host: str) -> str | None:
    model = os.environ.get("STREAMBANK_MODEL") or "embedded"
    if model not in ("embedded", "bedrock"):
        return f"STREAMBANK_MODEL is {model!r}; it can be embedded or bedrock"
    if model == "bedrock" and not os.environ.get(_BEDROCK_ENDPOINT):
        return f"STREAMBANK_MODEL=bedrock needs {_BEDROCK_ENDPOINT}: local mode has no AWS credentials"
    if message := missing_modules():
        return message
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return f"port {port} cannot be used ({error.strerror}); choose another with --port"
    return None


def _serve(options: argparse.Namespace) -> str | None:
    auth: str | None = options.auth
    print("Streambank is starting, this takes some seconds ...", flush=True)
    if notice := missing_embedder():
        print(f"streambank local: {notice}", file=sys.stderr)
    # A seventh of the start-up time would be garbage collection of the emulator's modules, all of which stay.
    gc.disable()
    try:
        # Imported here, because this takes seconds: the line above appears first.
        from streambank_local.callers import operator_token  # noqa: PLC0415
        from streambank_local.emulator.stack import StackError  # noqa: PLC0415
        from streambank_local.service import LocalService  # noqa: PLC0415
    except ModuleNotFoundError as error:
        return install_message(str(error))
    try:
        operator, token = operator_token.of_host(options.host)
        parameters = _parameters(auth)
        with LocalService(port=options.port, host=options.host, operator=operator, parameters=parameters) as service:
            gc.enable()
            more = f", an operator's; POST {_ROUTES[auth]} makes others" if auth else ""
            print(
                f"Streambank is ready on {service.base_url}, token: {token}{more}. "
                "Ctrl-C stops it and deletes all data.",
                flush=True,
            )
            _wait_for_interrupt()
    except (ModuleNotFoundError, OSError, StackError, ValueError) as error:
        return " ".join(str(error).split())
    return None


def _parameters(auth: str | None) -> dict[str, str]:
    """Return the template's parameters: the mode, and those that the environment sets, such as models and budgets."""
    values = {name: os.environ.get(variable) for name, variable in _PARAMETERS.items()} | {"AuthMode": auth}
    return {name: value for name, value in values.items() if value}


def _wait_for_interrupt() -> None:
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        # A second Ctrl-C must not interrupt the shutdown.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


if __name__ == "__main__":
    sys.exit(main())
