"""The target of the load: a service in local mode on this machine, never another one."""

from __future__ import annotations

import ipaddress
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from benchmarks.load.request_counter import RequestCounter

BANK = "/v1beta1/projects/load/locations/local/reasoningEngines/default"
# An advance of the clock waits for what is due on the way.
_TIMEOUT_SECONDS = 600.0


class TargetRefused(Exception):
    """The load must not go to this target."""


def loopback(url: str) -> str:
    """Return *url* with an address in place of `localhost`, so that no resolver decides where the load goes.

    Raises:
        TargetRefused: it names another machine, or no machine.
    """
    parts = urlsplit(url)
    host = "127.0.0.1" if parts.hostname == "localhost" else parts.hostname or ""
    if parts.scheme != "http" or not _is_loopback(host):
        raise TargetRefused(f"{url} is not on this machine: the load goes to http on a loopback address only")
    address = f"[{host}]" if ":" in host else host
    return f"http://{address}:{parts.port or 80}"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Target:
    """A service in local mode, with its table and a request counter if it runs in this process."""

    url: str
    table: str | None = None
    counter: RequestCounter | None = None

    def client(self) -> httpx.Client:
        """Return a client that uses no proxy."""
        headers = {"authorization": "Bearer local"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=_TIMEOUT_SECONDS, trust_env=False)


def connect(url: str) -> Target:
    """Return the service at *url*.

    Raises:
        TargetRefused: it is on another machine, or there is no service in local mode.
    """
    target = Target(loopback(url))
    try:
        with target.client() as client:
            counters(client)
    except (httpx.HTTPError, ValueError) as error:
        raise TargetRefused(f"there is no service in local mode at {target.url} ({type(error).__name__})") from error
    return target


@contextmanager
def start_service() -> Iterator[Target]:
    """Start a service in this process, whose clock moves only by `advance`."""
    # Imported here: it takes seconds, and a running service needs none of it.
    from streambank_local.service import LocalService

    with LocalService(timer_enabled=False) as service, RequestCounter(*_clients()) as counter:
        yield Target(service.base_url, service.stack.table_name, counter)


def _clients() -> list[Any]:
    """Return the DynamoDB clients of the functions in this process."""
    functions = [module for name, module in sys.modules.items() if name.startswith("functions.")]
    return [function.WIRING.deployment.table._client for function in functions]


def counters(client: httpx.Client) -> dict[str, Any]:
    """Return local mode's counters since its start."""
    reply: dict[str, Any] = client.get("/_local/counters").raise_for_status().json()
    return reply


def advance(client: httpx.Client, seconds: int) -> None:
    """Advance the service's clock, and wait until the due work is done."""
    client.post("/_local/clock:advance", json={"seconds": seconds}).raise_for_status()
