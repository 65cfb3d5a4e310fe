"""The service that the console shows, through its client alone; and the clock of local mode."""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections.abc import AsyncIterator, Awaitable
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar
from urllib.parse import urlsplit

import httpx

from streambank_client import AsyncBank, AsyncStreambank, Hooks
from streambank_client.errors import StreambankError
from streambank_console.settings import ConsoleSettings
from streambank_console.views.problems import Problem, problem

T = TypeVar("T")
# Short, because a person waits: the page says what went wrong, and can be loaded again.
CALL_SECONDS = 30.0
RETRIES = 2
ROWS_OF_A_PAGE = 50


@dataclass(slots=True)
class CallCount:
    """The requests to the service that a page has made, and the seconds in which one of them was under way."""

    requests: int = 0
    _seconds: float = 0.0
    _under_way: int = 0
    _since: float = 0.0

    def seconds(self, now: float) -> float:
        """Return the seconds up to *now*; time that several requests share counts once."""
        return self._seconds + (now - self._since if self._under_way else 0.0)

    def begin(self, now: float) -> None:
        """Count a request that begins at *now*, in seconds of any clock."""
        self.requests += 1
        self._since = self._since if self._under_way else now
        self._under_way += 1

    def end(self, now: float) -> None:
        """Count the time of a request that ends at *now*."""
        self._under_way -= 1
        if not self._under_way:
            self._seconds += now - self._since


calls_of_page: ContextVar[CallCount] = ContextVar("calls_of_page")


def _begin(_: httpx.Request) -> None:
    if (counted := calls_of_page.get(None)) is not None:
        counted.begin(time.monotonic())


def _end(_: httpx.Response) -> None:
    if (counted := calls_of_page.get(None)) is not None:
        counted.end(time.monotonic())


class Service:
    """The client, and what of its replies all pages need."""

    def __init__(self, settings: ConsoleSettings) -> None:
        """Connect to nothing yet. Raises ValueError for a URL or a token that cannot be used."""
        self.url = settings.url.rstrip("/")
        self.client = AsyncStreambank(
            settings.url,
            timeout_seconds=CALL_SECONDS,
            retries=RETRIES,
            hooks=Hooks(on_request=[_begin], on_response=[_end]),
            key=settings.api_key,
            token=settings.bearer,
        )
        # What an action has done, by the address of the page that says so when it is loaded next.
        self.notices = dict[str, str]()
        self.local_clock = LocalClock(self.url, settings.token) if _is_loopback(self.url) else None

    def bank(self, bank: str) -> AsyncBank:
        """Return a bank by its id. Raises ValueError for what is none."""
        return self.client.bank(bank)

    async def now(self) -> datetime:
        """Return the time by the service's clock, which is this machine's but in local mode."""
        moved = await self.local_clock.now() if self.local_clock else None
        return moved or datetime.now(UTC)

    async def attempt(self, call: Awaitable[T]) -> T | Problem:
        """Return the result of a call, or what went wrong in words."""
        try:
            return await call
        except (StreambankError, ValueError) as error:
            return problem(error, self.url)

    async def close(self) -> None:
        """Close the connections."""
        await self.client.aclose()
        if self.local_clock:
            await self.local_clock.close()


class LocalClock:
    """The clock of local mode, which can be moved; a deployed service has none, and then *now* is None."""

    def __init__(self, url: str, token: str) -> None:
        # Kept, since each client of httpx reads all certificates anew.
        self._http = httpx.AsyncClient(base_url=url, headers={"authorization": f"Bearer {token}"}, timeout=120)

    async def now(self) -> datetime | None:
        """Return local mode's time, or None where no local mode answers."""
        return await self._time("GET", "/_local/counters", None)

    async def advance(self, by: timedelta) -> datetime | None:
        """Move the clock; all that is due until then is done first."""
        return await self._time("POST", "/_local/clock:advance", {"seconds": by.total_seconds()})

    async def close(self) -> None:
        """Close the connection."""
        await self._http.aclose()

    async def _time(self, method: str, path: str, body: object) -> datetime | None:
        try:
            reply = await self._http.request(method, path, json=body)
            return datetime.fromisoformat(reply.json()["now"])
        except (httpx.HTTPError, ValueError, KeyError, TypeError):
            return None


class Pager(Generic[T]):
    """The pages of a list: each is requested when it is first turned to, and kept."""

    def __init__(self, items: AsyncIterator[T], size: int = ROWS_OF_A_PAGE) -> None:
        """Page *items*, whose own pages have one item more than *size*: so that each page is one request."""
        self._items = items
        self._size = size
        self._read = list[T]()
        self.number = 0
        self._has_ended = False

    async def turn_to(self, number: int) -> None:
        """Turn to a page by its number from 0. Raises what the list raises."""
        while not self._has_ended and len(self._read) <= (number + 1) * self._size:
            try:
                self._read.append(await anext(self._items))
            except StopAsyncIteration:
                self._has_ended = True
        self.number = number

    @property
    def rows(self) -> list[T]:
        """The items of the page."""
        return self._read[self.number * self._size : (self.number + 1) * self._size]

    @property
    def has_next(self) -> bool:
        """Whether more items follow."""
        return len(self._read) > (self.number + 1) * self._size

    @property
    def span(self) -> str:
        """The numbers of the rows, from 1."""
        first = self.number * self._size
        return f"{first + 1:,} to {first + len(self.rows):,}"


async def first_page(items: AsyncIterator[T], size: int = ROWS_OF_A_PAGE) -> Pager[T]:
    """Return a pager at its first page."""
    pager = Pager(items, size)
    await pager.turn_to(0)
    return pager


async def together(*calls: Awaitable[T]) -> list[T]:
    """Return the results of calls that are made at the same time."""
    return list(await asyncio.gather(*calls))


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
