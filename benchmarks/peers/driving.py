"""What every driver does: it runs in the environment of its tool and reaches this machine only."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

DIMENSIONS = 256
# The names that drivers give to the model and the embedder; the server serves any.
MODEL, EMBEDDER = "memory", "embedder"
# What the runner sets and finds.
URL = "PEERS_MODEL_URL"
RESULT = "peers-result "
_HERE = ("127.0.0.1", "::1", "localhost", "0.0.0.0", "")

# A drive sends the conversation, so many turns at a time, to a tool that uses the model at a URL, and returns the
# texts of the memories that the tool holds at the end.
Drive = Callable[[str, int], list[str]]


def run(drive: Drive, distribution: str) -> None:
    """Drive a tool and print what it kept, and what else it tried to reach."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, required=True)
    turns = parser.parse_args().turns
    refused = _stay_here()
    kept = drive(os.environ[URL], turns)
    result = {"version": version(distribution), "kept": kept, "refused": sorted(refused)}
    print(f"{RESULT}{json.dumps(result)}", flush=True)


def _stay_here() -> set[str]:
    """Refuse connections to other machines from now on; return where they will have been wanted to."""
    refused: set[str] = set()

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        host = _host(event, arguments)
        if host is not None and host not in _HERE:
            refused.add(host)
            raise ConnectionRefusedError(f"no network here: {host}")

    sys.addaudithook(hook)
    return refused


def _host(event: str, arguments: tuple[Any, ...]) -> str | None:
    """Return whom an audited call asks for, None where it is about no other machine."""
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event in ("socket.connect", "socket.sendto") and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:
        return None
    return host.decode() if isinstance(host, bytes) else host
