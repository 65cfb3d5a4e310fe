"""MiniStack: a second emulator, in another process, on loopback."""

import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from infra.stack.outcome import RequirementError
from infra.stack.tools import REGION, environment, tool

HOST = "127.0.0.1"
START_SECONDS = 60.0
POLL_SECONDS = 0.1


@contextmanager
def ministack(extra: Mapping[str, str], log: Path) -> Iterator[str]:
    """Yield the endpoint of a running MiniStack, which passes *extra* to its functions.

    Raises RequirementError if it does not start.
    """
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="streambank-stack-") as home, log.open("w") as out:
        own = {
            "HOME": home,
            "TMPDIR": home,
            "BIND_HOST": HOST,
            "GATEWAY_PORT": str(port),
            "MINISTACK_REGION": REGION,
            "S3_DATA_DIR": f"{home}/s3",
            "STATE_DIR": f"{home}/state",
            "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",
            **extra,
        }
        process = subprocess.Popen(  # noqa: S603  our own tool
            [tool("ministack", "python"), "-m", "ministack"],
            cwd=home,
            env=environment(own),
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            await_port(port, process)
            yield f"http://{HOST}:{port}"
        finally:
            terminate(process)


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def await_port(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until *process* listens on *port*; raises RequirementError if it ends, or takes too long."""
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                return
        time.sleep(POLL_SECONDS)
    raise RequirementError(f"{process.args!r} does not listen on {port}")


def terminate(process: subprocess.Popen[bytes]) -> None:
    """Terminate a process, and kill it after ten seconds."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
