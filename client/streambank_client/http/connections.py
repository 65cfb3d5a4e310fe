"""Connections to the service, and replies of a bounded size and time."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
from collections.abc import AsyncGenerator, Callable

import httpx

from streambank_client import errors

# Above what API Gateway and Lambda let through, so that no reply of the service is refused.
MAX_REPLY_BYTES = 32 * 1024 * 1024
# These headers describe the body as it was sent; it is kept decoded.
_TRANSFER_HEADERS = frozenset({"content-encoding", "content-length", "transfer-encoding"})


class _ReplyBuffer:
    """A reply as it arrives: bounded in size, and in time however slowly its bytes come."""

    def __init__(self, request: httpx.Request, deadline: float, now: Callable[[], float]) -> None:
        self._request = request
        self._deadline = deadline
        self._now = now
        self._body = bytearray()

    def add(self, chunk: bytes) -> None:
        self._body += chunk
        if len(self._body) > MAX_REPLY_BYTES:
            raise errors.UnexpectedReply(f"the reply is longer than {MAX_REPLY_BYTES} bytes")
        if self._now() > self._deadline:
            raise httpx.ReadTimeout("the reply took too long", request=self._request)

    def response(self, received: httpx.Response) -> httpx.Response:
        """Return the response with its whole body."""
        headers = [(name, value) for name, value in received.headers.multi_items() if name not in _TRANSFER_HEADERS]
        return httpx.Response(
            received.status_code,
            headers=headers,
            content=bytes(self._body),
            request=self._request,
            extensions=received.extensions,
        )


class Connections:
    """Connections for callers that wait; any number of threads may share them. *now* is a clock in seconds."""

    def __init__(self, transport: httpx.BaseTransport | None, now: Callable[[], float]) -> None:
        self._client = httpx.Client(transport=transport, follow_redirects=False)
        self._now = now

    def send(self, request: httpx.Request, deadline: float) -> httpx.Response:
        """Send a request and return the response, which must be complete at *deadline*.

        Raises:
            httpx.RequestError: there was no complete response.
            UnexpectedReply: the reply is too long.
        """
        reply = _ReplyBuffer(request, deadline, self._now)
        with contextlib.closing(self._client.send(request, stream=True)) as received:
            for chunk in received.iter_bytes():
                reply.add(chunk)
        return reply.response(received)

    def close(self) -> None:
        self._client.close()


class AsyncConnections:
    """Connections for callers that await; each event loop has its own, which are closed with the loop."""

    def __init__(self, transport: httpx.AsyncBaseTransport | None, now: Callable[[], float]) -> None:
        self._transport = transport
        self._now = now
        self._clients: dict[asyncio.AbstractEventLoop, tuple[httpx.AsyncClient, AsyncGenerator[None, None]]] = {}
        self._lock = threading.Lock()
        self._tls: ssl.SSLContext | None = None
        self._is_closed = False

    async def send(self, request: httpx.Request, deadline: float) -> httpx.Response:
        """Send a request and return the response, as `Connections.send` does.

        Raises:
            RuntimeError: the connections are closed.
        """
        reply = _ReplyBuffer(request, deadline, self._now)
        client = await self._client()
        async with contextlib.aclosing(await client.send(request, stream=True)) as received:
            async for chunk in received.aiter_bytes():
                reply.add(chunk)
        return reply.response(received)

    async def aclose(self) -> None:
        """Close the connections of the running loop; those of another loop are closed when that loop ends."""
        self._is_closed = True
        entry = self._clients.get(asyncio.get_running_loop())
        if entry:
            await entry[1].aclose()

    async def _client(self) -> httpx.AsyncClient:
        """Return the client of the running loop."""
        if self._is_closed:
            raise RuntimeError("the client is closed")
        loop = asyncio.get_running_loop()
        entry = self._clients.get(loop)
        if entry is None:
            entry = self._add(loop)
            # A loop that ends closes the generators that were started in it: asyncio.run() leaves no connection open.
            await anext(entry[1])
        return entry[0]

    def _add(self, loop: asyncio.AbstractEventLoop) -> tuple[httpx.AsyncClient, AsyncGenerator[None, None]]:
        with self._lock:
            for closed in [other for other in self._clients if other.is_closed()]:
                del self._clients[closed]
            client = self._new_client()
            self._clients[loop] = client, self._until_loop_ends(loop, client)
            return self._clients[loop]

    def _new_client(self) -> httpx.AsyncClient:
        if self._transport is not None:
            return httpx.AsyncClient(transport=self._transport, follow_redirects=False)
        # Reading the trusted certificates takes longer than a call: it is done once for all loops.
        self._tls = self._tls or httpx.create_ssl_context()
        return httpx.AsyncClient(verify=self._tls, follow_redirects=False)

    async def _until_loop_ends(
        self, loop: asyncio.AbstractEventLoop, client: httpx.AsyncClient
    ) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            self._clients.pop(loop, None)
            await client.aclose()
