"""The check of the token that callers of the HTTP transport send."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
_REFUSED = b"A bearer token is required."


class CallerCheck:
    """An ASGI application that passes on requests with the token alone, before their body is read."""

    def __init__(self, app: App, token: str) -> None:
        self._app = app
        self._credential = f"Bearer {token}".encode()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request: 401 without the token."""
        if scope["type"] == "lifespan" or self._is_allowed(scope):
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await _refuse(send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _is_allowed(self, scope: Message) -> bool:
        credentials = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
        return len(credentials) == 1 and hmac.compare_digest(_normalised(credentials[0]), self._credential)


def _normalised(credential: bytes) -> bytes:
    """Return a credential with its scheme, whose case is free, as we write it."""
    scheme, _, token = credential.partition(b" ")
    return b" ".join((scheme.lower().capitalize(), token.strip()))


async def _refuse(send: Send) -> None:
    headers = [(b"content-type", b"text/plain"), (b"www-authenticate", b"Bearer"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": _REFUSED})
