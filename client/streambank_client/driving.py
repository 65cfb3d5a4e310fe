"""Who does what a generator of steps says: one driver waits, one awaits."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

import httpx

from streambank_client import errors
from streambank_client.calls import Page
from streambank_client.sending import Answer, Send, Sender, Sleep, Steps

if TYPE_CHECKING:
    import asyncio
    import ssl

T = TypeVar("T")
# Above what API Gateway and Lambda let through, so that nothing of the service's is refused.
MAX_REPLY_BYTES = 32 * 1024 * 1024
# What describes the body as it came, which is not how it is kept.
_OF_TRANSFER = frozenset({"content-encoding", "content-length", "transfer-encoding"})


class _Incoming:
    """A reply as it comes in: bounded in size, and in time however slowly it trickles."""

    def __init__(self, sent: Send, sender: Sender) -> None:
        self._sent = sent
        self._sender = sender
        self._body = bytearray()

    def add(self, chunk: bytes) -> None:
        self._body += chunk
        if len(self._body) > MAX_REPLY_BYTES:
            raise errors.UnexpectedReply(f"the reply is longer than {MAX_REPLY_BYTES} bytes")
        if self._sender.now() > self._sent.deadline:
            raise httpx.ReadTimeout("the reply took too long", request=self._sent.request)

    def whole(self, response: httpx.Response) -> httpx.Response:
        """Return the response with its body, after the hooks have seen it."""
        headers = [(name, value) for name, value in response.headers.multi_items() if name not in _OF_TRANSFER]
        return self._sender.seen(
            httpx.Response(
                response.status_code,
                headers=headers,
                content=bytes(self._body),
                request=self._sent.request,
                extensions=response.extensions,
            )
        )


class Driver:
    """Waits for each step; may be used by any number of threads at once."""

    def __init__(self, transport: httpx.BaseTransport | None, sleep: Callable[[float], None]) -> None:
        self._client = httpx.Client(transport=transport, follow_redirects=False)
        self._sleep = sleep

    def run(self, sender: Sender, steps: Steps[T]) -> T:
        """Do every step and return what they come to."""
        answer: Answer = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            answer = self._done(sender, step)

    def pages(self, sender: Sender, steps: Callable[[str], Steps[Page[T]]]) -> Iterator[T]:
        """Yield the items of all pages, each asked for when it is needed."""
        token: str | None = ""
        while token is not None:
            page = self.run(sender, steps(token))
            yield from page.items
            token = page.next_token or None

    def close(self) -> None:
        self._client.close()

    def _done(self, sender: Sender, step: Send | Sleep) -> Answer:
        if isinstance(step, Sleep):
            self._sleep(step.seconds)
            return None
        incoming = _Incoming(step, sender)
        try:
            with contextlib.closing(self._client.send(step.request, stream=True)) as response:
                for chunk in response.iter_bytes():
                    incoming.add(chunk)
        except httpx.RequestError as lost:
            return lost
        return incoming.whole(response)


async def pause(seconds: float) -> None:
    """Do nothing for a while."""
    from asyncio import sleep

    await sleep(seconds)


class AsyncDriver:
    """Awaits each step; connections belong to the event loop that they were made in, and are closed with it."""

    def __init__(self, transport: httpx.AsyncBaseTransport | None, sleep: Callable[[float], Awaitable[None]]) -> None:
        self._transport = transport
        self._sleep = sleep
        self._held: dict[asyncio.AbstractEventLoop, tuple[httpx.AsyncClient, AsyncGenerator[None, None]]] = {}
        self._holding = threading.Lock()
        self._tls: ssl.SSLContext | None = None
        self._is_closed = False

    async def run(self, sender: Sender, steps: Steps[T]) -> T:
        """Do every step and return what they come to."""
        answer: Answer = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            answer = await self._done(sender, step)

    async def pages(self, sender: Sender, steps: Callable[[str], Steps[Page[T]]]) -> AsyncIterator[T]:
        """Yield the items of all pages, each asked for when it is needed."""
        token: str | None = ""
        while token is not None:
            page = await self.run(sender, steps(token))
            for item in page.items:
                yield item
            token = page.next_token or None

    async def aclose(self) -> None:
        """Close the connections of the running loop; those of another are closed when that one ends."""
        from asyncio import get_running_loop  # a third of what importing this library takes

        self._is_closed = True
        held = self._held.get(get_running_loop())
        if held:
            await held[1].aclose()

    async def _done(self, sender: Sender, step: Send | Sleep) -> Answer:
        if isinstance(step, Sleep):
            await self._sleep(step.seconds)
            return None
        incoming = _Incoming(step, sender)
        client = await self._client()
        try:
            async with contextlib.aclosing(await client.send(step.request, stream=True)) as response:
                async for chunk in response.aiter_bytes():
                    incoming.add(chunk)
        except httpx.RequestError as lost:
            return lost
        return incoming.whole(response)

    async def _client(self) -> httpx.AsyncClient:
        """Return the running loop's client."""
        from asyncio import get_running_loop

        if self._is_closed:
            raise RuntimeError("the client is closed")
        loop = get_running_loop()
        held = self._held.get(loop)
        if held is None:
            held = self._hold(loop)
            # A loop that ends closes the generators that it has begun: asyncio.run() leaves no connection open.
            await anext(held[1])
        return held[0]

    def _hold(self, loop: asyncio.AbstractEventLoop) -> tuple[httpx.AsyncClient, AsyncGenerator[None, None]]:
        with self._holding:
            for ended in [known for known in self._held if known.is_closed()]:
                del self._held[ended]
            client = self._made()
            self._held[loop] = client, self._open(loop, client)
            return self._held[loop]

    def _made(self) -> httpx.AsyncClient:
        if self._transport is not None:
            return httpx.AsyncClient(transport=self._transport, follow_redirects=False)
        # Reading the trusted certificates takes longer than a call: once, and not once a loop.
        self._tls = self._tls or httpx.create_ssl_context()
        return httpx.AsyncClient(verify=self._tls, follow_redirects=False)

    async def _open(self, loop: asyncio.AbstractEventLoop, client: httpx.AsyncClient) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            self._held.pop(loop, None)
            await client.aclose()
