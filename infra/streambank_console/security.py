"""What is let in: requests of this machine's browser to this console, and the rules that its pages are shown under."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]

# NiceGUI starts its pages with inline scripts and compiles their templates, so scripts of the page itself are allowed.
# Nothing is loaded from, sent to, or framed by another place.
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "font-src 'self' data:; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'; object-src 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_STATIC = ("/_nicegui/", "/static/")
_REFUSAL = b"This console answers only under its own address on this machine.\n"


class Guard:
    """Lets in requests to 127.0.0.1 or localhost at *port* that no other site began, and adds the headers."""

    def __init__(self, app: AsgiApp, port: int) -> None:
        self._app = app
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._origins = {f"http://{host}" for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif self._is_own(scope["headers"]):
            await self._app(scope, receive, _with_headers(scope, send))
        else:
            await _refuse(scope, send)

    def _is_own(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Return whether the request names this console: a name that a stranger points at this machine does not.

        A browser sends the origin of the page that opens a socket or posts a form.
        """
        pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
        hosts = [value for name, value in pairs if name == "host"]
        origins = {value for name, value in pairs if name == "origin"}
        return len(hosts) == 1 and hosts[0] in self._hosts and origins <= self._origins


def _with_headers(scope: Scope, send: Send) -> Send:
    # A page may show private texts: the browser keeps none of them.
    kept = () if scope.get("path", "").startswith(_STATIC) else ((b"cache-control", b"no-store"),)

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            names = {name for name, _ in (*HEADERS, *kept)}
            own = [(name, value) for name, value in message["headers"] if name.lower() not in names]
            message = {**message, "headers": [*own, *HEADERS, *kept]}
        await send(message)

    return send_with_headers


async def _refuse(scope: Scope, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    await send({"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": _REFUSAL})
