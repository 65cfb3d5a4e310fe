"""What the drivers share: each runs in the environment of its tool and reaches this machine only."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

DIMENSIONS = 256
# The names that drivers give to the model and the embedder; the server accepts any name.
MODEL, EMBEDDER = "memory", "embedder"
# The runner sets the variable, and looks for the prefix in the output.
URL = "PEERS_MODEL_URL"
RESULT = "peers-result "
_LOCAL_HOSTS = ("127.0.0.1", "::1", "localhost", "0.0.0.0", "")

# A drive gets the URL of the model and a number of turns. It sends the conversation to its tool, so many turns at a
# time, and returns the texts of the tool's memories at the end.
Drive = Callable[[str, int], list[str]]


def run(drive: Drive, distribution: str) -> None:
    """Run a tool, and print its memories and the other hosts that it tried to reach."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, required=True)
    turns = parser.parse_args().turns
    refused = _block_network()
    memories = drive(os.environ[URL], turns)
    result = {"version": version(distribution), "memories": memories, "refused": sorted(refused)}
    print(f"{RESULT}{json.dumps(result)}", flush=True)


def _block_network() -> set[str]:
    """Refuse connections to other machines from now on; return the set to which their hosts are added."""
    refused: set[str] = set()

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        host = _host(event, arguments)
        if host is not None and host not in _LOCAL_HOSTS:
            refused.add(host)
            raise ConnectionRefusedError(f"no network here: {host}")

    sys.addaudithook(hook)
    return refused


def _host(event: str, arguments: tuple[Any, ...]) -> str | None:
    """Return the host of an audited call, or None if it concerns no host."""
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event in ("socket.connect", "socket.sendto") and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:
        return None
    return host.decode() if isinstance(host, bytes) else host
