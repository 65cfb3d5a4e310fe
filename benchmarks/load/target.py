"""Where the load goes: a service in local mode, never anything beyond this machine."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from benchmarks.load.counting import Counting

BANK = "/v1beta1/projects/load/locations/local/reasoningEngines/default"
# An advance of the clock waits for what is due on the way.
_TIMEOUT_SECONDS = 600.0


class Refused(Exception):
    """This is no place to put load on."""


def loopback(url: str) -> str:
    """Return *url* with an address in the place of `localhost`, so that no resolver decides where the load goes.

    Raises:
        Refused: it names another machine, or no machine.
    """
    parts = urlsplit(url)
    host = "127.0.0.1" if parts.hostname == "localhost" else parts.hostname or ""
    if parts.scheme != "http" or not _is_loopback(host):
        raise Refused(f"{url} is not on this machine: the load goes to http on a loopback address only")
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{parts.port or 80}"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Target:
    """A service in local mode; of one in this process also its table and its conflicts are seen."""

    url: str
    table: str | None = None
    counting: Counting | None = None

    def client(self) -> httpx.Client:
        """Return a client that leaves neither this machine nor this address."""
        headers = {"authorization": "Bearer local"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=_TIMEOUT_SECONDS, trust_env=False)


def existing(url: str) -> Target:
    """Return the service at *url*.

    Raises:
        Refused: it is on another machine, or nobody is there, or it is not in local mode.
    """
    target = Target(loopback(url))
    try:
        with target.client() as client:
            counters(client)
    except (httpx.HTTPError, ValueError) as error:
        raise Refused(f"there is no service in local mode at {target.url} ({type(error).__name__})") from error
    return target


@contextmanager
def own() -> Iterator[Target]:
    """Yield a service of our own, in this process; its clock moves only when told."""
    from streambank_local.service import LocalService

    with LocalService(timer_enabled=False) as service:
        from streambank import wiring

        with Counting(wiring.stores().table._client) as counting:
            yield Target(service.base_url, service.stack.table_name, counting)


def counters(client: httpx.Client) -> dict[str, Any]:
    """Return what local mode says has happened since its start."""
    found: dict[str, Any] = client.get("/_local/counters").raise_for_status().json()
    return found


def advance(client: httpx.Client, seconds: int) -> None:
    """Move the service's clock, and let it do what is due on the way and what is under way."""
    client.post("/_local/clock:advance", json={"seconds": seconds}).raise_for_status()
