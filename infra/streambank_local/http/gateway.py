"""The HTTP API on loopback: what API Gateway does before and after a function, and local mode's own routes."""

import json
import logging
import socket
import threading
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, Protocol

from streambank_local.callers.callers import Callers, LocalCallers, LocalRoutes
from streambank_local.callers.operator_token import OperatorToken
from streambank_local.disk.store import NotKeptError
from streambank_local.emulator.functions import InvocationResult
from streambank_local.emulator.stack import Route
from streambank_local.http import body, pages
from streambank_local.http.payload import (
    BadResponseError,
    Request,
    Response,
    event,
    json_response,
    match_route,
    response,
)

HOST = "127.0.0.1"
LONGEST_ADVANCE = timedelta(days=3653)
IDLE_CONNECTION_SECONDS = 120

_UNKNOWN_ROUTE = json_response(404, {"message": "Not Found"})
_INTERNAL_ERROR = json_response(500, {"message": "Internal Server Error"})

_log = logging.getLogger(__name__)


class Backend(Protocol):
    """The service behind the gateway."""

    def now(self) -> datetime: ...

    def invoke(self, function: str, event: Any) -> InvocationResult: ...

    def advance(self, by: timedelta) -> bool: ...

    def counters(self) -> Mapping[str, Any]: ...


class Gateway:
    """Routes a request to its function or to local mode's own routes, without sockets."""

    def __init__(
        self,
        routes: Iterable[Route],
        backend: Backend,
        callers: Callers | None = None,
        operator: OperatorToken | None = None,
    ) -> None:
        """Serve *backend* to *callers*, by default whoever has the token `local`; *operator*'s token replaces that."""
        self._operator = operator
        self._routes = tuple(routes)
        self._backend = backend
        self._callers = callers or LocalCallers()
        self._local_routes: LocalRoutes = {
            ("POST", "/_local/clock:advance"): self._advance,
            ("GET", "/_local/counters"): self._counters,
            **self._callers.routes,
        }

    def handle(self, request: Request) -> Response:
        """Return the response to *request*."""
        checked = self._operator.check(request) if self._operator else request
        return checked if isinstance(checked, Response) else self._handle(checked)

    def _handle(self, request: Request) -> Response:
        if request.method in ("GET", "HEAD"):
            page = pages.page(request.path, f"http://{request.header('host')}")
            if page is not None:
                return page
        if request.path.startswith("/_local/"):
            route = self._local_routes.get((request.method, request.path))
            return route(request) if route else _UNKNOWN_ROUTE
        match = match_route(self._routes, request.method, request.path)
        if match is None:
            return _UNKNOWN_ROUTE
        admitted = self._callers.admit(request)
        if isinstance(admitted, Response):
            return admitted
        document = event(admitted.request, match, self._backend.now(), admitted.authorizer)
        return _to_response(self._backend.invoke(match.route.function, document))

    def _counters(self, _: Request) -> Response:
        return json_response(200, {**self._backend.counters(), "now": rfc3339(self._backend.now())})

    def _advance(self, request: Request) -> Response:
        by = _duration(request.body)
        if by is None:
            expected = f'{{"seconds": number from 0 to {int(LONGEST_ADVANCE.total_seconds())}}}'
            return _error_response(400, "INVALID_ARGUMENT", f"The body must be {expected}.")
        try:
            is_idle = self._backend.advance(by)
        except NotKeptError as error:
            return _error_response(503, "UNAVAILABLE", f"The clock cannot be moved: {error}.")
        return json_response(200, {"now": rfc3339(self._backend.now()), "settled": is_idle})


def rfc3339(time: datetime) -> str:
    """Return *time* as Google's APIs write it."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _to_response(result: InvocationResult) -> Response:
    if result.failure is not None:
        _log.error("function failed: %s\n%s", result.failure.error_type, "".join(result.failure.stack))
        return _INTERNAL_ERROR
    try:
        return response(result.payload)
    except BadResponseError as error:
        _log.error("function returned no HTTP response: %s", error)
        return _INTERNAL_ERROR


def _error_response(code: int, status: str, message: str) -> Response:
    return json_response(code, {"error": {"code": code, "message": message, "status": status}})


def _duration(content: bytes) -> timedelta | None:
    try:
        document = json.loads(content)
    except ValueError:
        return None
    seconds = document.get("seconds") if isinstance(document, dict) else None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    # Python's JSON allows NaN, which fails this comparison.
    return timedelta(seconds=seconds) if 0 <= seconds <= LONGEST_ADVANCE.total_seconds() else None


class _Handler(BaseHTTPRequestHandler):
    """Reads a request off a connection and writes the gateway's response."""

    server: "HttpServer"
    protocol_version = "HTTP/1.1"
    server_version = "streambank-local"
    sys_version = ""
    timeout = IDLE_CONNECTION_SECONDS
    # With Nagle's algorithm a response waits 40 ms for the client to acknowledge its headers.
    disable_nagle_algorithm = True

    def _handle(self) -> None:
        try:
            content = body.read(self.rfile, self.headers.get("content-length"), self.headers.get("transfer-encoding"))
        except body.UnreadableBodyError as error:
            self.close_connection = True
            self._send(json_response(error.status, {"message": str(error)}))
            return
        self._send(self.server.gateway.handle(Request(self.command, self.path, tuple(self.headers.items()), content)))

    # The base class looks methods up by these names.
    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _handle  # noqa: N815

    def _send(self, response: Response) -> None:
        self.send_response(response.status)
        for name, value in response.headers:
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("connection", "close")
        has_no_body = response.status in {204, 304}
        if not has_no_body:
            self.send_header("content-length", str(len(response.body)))
        self.end_headers()
        if not has_no_body and self.command != "HEAD":
            self.wfile.write(response.body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base class's name for it
        _log.debug(format, *args)


class HttpServer(ThreadingHTTPServer):
    """Serves a gateway, by default on loopback, with one thread per connection."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, gateway: Gateway, port: int, host: str = HOST) -> None:
        """Bind *port*, any free one for 0; raises OSError if it is taken."""
        self.gateway = gateway
        self._host = host
        self._connections: set[socket.socket] = set()
        self._connections_lock = threading.Lock()
        super().__init__((host, port), _Handler)

    @property
    def url(self) -> str:
        return f"http://{self._host}:{self.server_address[1]}"

    def start(self) -> None:
        """Serve in the background."""
        threading.Thread(target=self.serve_forever, args=(0.05,), name="local-http", daemon=True).start()

    def stop(self) -> None:
        """Stop serving, and close kept-alive connections too."""
        self.shutdown()
        self.server_close()
        with self._connections_lock:
            for connection in self._connections:
                _close(connection)

    def server_bind(self) -> None:
        # HTTPServer would look up the host's name, which can take seconds.
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self._host, self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._connections_lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._connections_lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002  the base class's
        _log.debug("connection failed", exc_info=True)


def _close(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        _log.debug("connection was closed already")
