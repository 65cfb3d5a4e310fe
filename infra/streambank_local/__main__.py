"""`python -m streambank_local`: the whole service on this machine."""

import argparse
import gc
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from importlib.util import find_spec

HOST = "127.0.0.1"
PORT = 8080

# Told apart from what they import in their turn: a lazy import inside the emulator would fail as a server error.
_MODULES = (
    "antlr4",
    "aws_lambda_powertools",
    "boto3",
    "graphql",
    "jsonpath_ng",
    "moto",
    "openapi_spec_validator",
    "pydantic",
    "samtranslator",
)

# What local mode takes from the environment.
_MODEL_PARAMETERS = {
    "Model": "STREAMBANK_MODEL",
    "ModelId": "MODEL_ID",
    "EmbeddingModelId": "EMBEDDING_MODEL_ID",
    "DailyTokenBudget": "DAILY_TOKEN_BUDGET",
    "ModelPrices": "MODEL_PRICES",
    "OtlpEndpoint": "OTEL_EXPORTER_OTLP_ENDPOINT",
}
_BEDROCK_ENDPOINT = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until interrupted; return the exit status."""
    port = _port(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    # SIGINT too: a shell starts what it puts in the background with SIGINT ignored.
    for interrupt in (signal.SIGINT, signal.SIGTERM):
        signal.signal(interrupt, signal.default_int_handler)
    try:
        problem = _problem(port) or _serve(port)
    except KeyboardInterrupt:
        problem = None
    if problem:
        print(f"streambank local: {problem}", file=sys.stderr)
    return 1 if problem else 0


def _port(arguments: Sequence[str] | None) -> int:
    parser = argparse.ArgumentParser(prog="python -m streambank_local", description=__doc__)
    parser.add_argument("--port", type=int, default=PORT, help=f"port on {HOST}, 0 for any free one (default {PORT})")
    port: int = parser.parse_args(arguments).port
    if not 0 <= port <= 65535:
        parser.error(f"no such port: {port}")
    return port


def _problem(port: int) -> str | None:
    model = os.environ.get("STREAMBANK_MODEL") or "embedded"
    if model not in ("embedded", "bedrock"):
        return f"STREAMBANK_MODEL is {model!r}; it can be embedded or bedrock"
    if model == "bedrock" and not os.environ.get(_BEDROCK_ENDPOINT):
        return f"STREAMBANK_MODEL=bedrock needs {_BEDROCK_ENDPOINT}: local mode has no AWS credentials"
    missing = [name for name in _MODULES if find_spec(name) is None]
    if missing:
        return f"missing {', '.join(missing)}; install them with: pip install -e '.[server,local]'"
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            return f"port {port} cannot be used ({error.strerror}); choose another with --port"
    return None


def _serve(port: int) -> str | None:
    print("Streambank is starting, this takes some seconds ...", flush=True)
    # A seventh of the start is garbage collection among the emulator's modules, which stay.
    gc.disable()
    try:
        from streambank_local.emulator.stack import StackError
        from streambank_local.service import LocalService
    except ModuleNotFoundError as error:
        return f"{error}; install what is missing with: pip install -e '.[server,local]'"
    try:
        with LocalService(port=port, parameters=_parameters()) as service:
            gc.enable()
            print(
                f"Streambank is ready on {service.base_url}, token: local. Ctrl-C ends it and forgets everything.",
                flush=True,
            )
            _wait_for_interrupt()
    except (ModuleNotFoundError, OSError, StackError) as error:
        return " ".join(str(error).split())
    return None


def _parameters() -> dict[str, str]:
    """Return who generates, `embedded` (the default) or `bedrock`, at what cost, and who is sent traces."""
    named = {name: os.environ.get(variable) for name, variable in _MODEL_PARAMETERS.items()}
    return {name: value for name, value in named.items() if value}


def _wait_for_interrupt() -> None:
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        # A second Ctrl-C must not tear the shutdown apart.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


if __name__ == "__main__":
    sys.exit(main())
