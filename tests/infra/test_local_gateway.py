"""The HTTP side: what API Gateway does around a function."""

import io
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from streambank_local.emulator.functions import InvocationResult
from streambank_local.emulator.stack import Route
from streambank_local.http import body
from streambank_local.http.gateway import HOST, Gateway, HttpServer

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ROUTES = (Route("ANY", "/{proxy+}", "Api"),)
TOKEN = {"authorization": "Bearer local"}


class Echo:
    """A backend whose functions answer with the event that they got."""

    def now(self) -> datetime:
        return NOW

    def invoke(self, function: str, event: Any) -> InvocationResult:
        return InvocationResult(event)

    def advance(self, by: timedelta) -> bool:
        return True

    def counters(self) -> dict[str, Any]:
        return {"seen": 1}


@pytest.fixture(scope="module")
def server() -> Iterator[HttpServer]:
    server = HttpServer(Gateway(ROUTES, Echo()), 0)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def client(server: HttpServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, headers=TOKEN) as client:
        yield client


def spoken(server: HttpServer, request: bytes) -> bytes:
    """Return the server's whole reply to raw bytes, up to the end of the connection."""
    with socket.create_connection((HOST, server.server_port), timeout=5) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize(
    "headers", [{}, {"authorization": "Bearer other"}, {"authorization": "local"}, {"x-goog-api-key": "x"}]
)
def test_request_without_the_token_is_refused(server: HttpServer, headers: dict[str, str]) -> None:
    """No token, another one or no scheme: 401 in Google's shape."""
    answer = httpx.get(server.url + "/a", headers=headers)
    assert answer.status_code == 401
    error = answer.json()["error"]
    assert (error["code"], error["status"]) == (401, "UNAUTHENTICATED")


@pytest.mark.parametrize("headers", [TOKEN, {"authorization": "bearer local"}, {"x-goog-api-key": "local"}])
def test_token_opens_in_either_header(server: HttpServer, headers: dict[str, str]) -> None:
    """The token is taken as a bearer token or as an API key."""
    assert httpx.get(server.url + "/a", headers=headers).status_code == 200


@pytest.mark.parametrize(("method", "path"), [("POST", "/"), ("GET", "/_local/x"), ("GET", "/_local/clock:advance")])
def test_unknown_route_is_404(client: httpx.Client, method: str, path: str) -> None:
    """What no route takes is API Gateway's own 404."""
    answer = client.request(method, path)
    assert (answer.status_code, answer.json()) == (404, {"message": "Not Found"})


def test_local_routes_need_no_token(server: HttpServer) -> None:
    """Moving the clock and reading counters is for whoever sits at the machine."""
    advanced = httpx.post(server.url + "/_local/clock:advance", json={"seconds": 61.5})
    assert advanced.json() == {"now": "2026-03-01T12:00:00.000Z", "settled": True}
    assert httpx.get(server.url + "/_local/counters").json() == {"seen": 1, "now": "2026-03-01T12:00:00.000Z"}


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_every_method_reaches_the_function(client: httpx.Client, method: str) -> None:
    """The function receives the request's method."""
    assert client.request(method, "/a").json()["requestContext"]["http"]["method"] == method


def test_head_has_headers_only(client: httpx.Client) -> None:
    """HEAD answers with the length of a body that it does not send, and the connection stays usable."""
    answer = client.head("/a")
    assert (answer.status_code, answer.content) == (200, b"")
    assert int(answer.headers["content-length"]) > 0
    assert client.get("/a").status_code == 200


def test_chunked_body_is_put_together(client: httpx.Client) -> None:
    """A body of unknown length arrives whole."""
    answer = client.post("/a", content=iter([b"ab", b"", b"cd"]))
    assert answer.json()["body"] == "abcd"


def test_body_at_the_limit_passes_and_beyond_it_does_not(client: httpx.Client) -> None:
    """Ten megabytes are taken; a byte more is API Gateway's own 413."""
    assert len(client.post("/a", content=b"x" * body.MAXIMUM_BYTES).json()["body"]) == body.MAXIMUM_BYTES
    answer = client.post("/a", content=b"x" * (body.MAXIMUM_BYTES + 1))
    assert (answer.status_code, answer.json()) == (413, {"message": "Request Entity Too Large"})
    assert client.get("/a").status_code == 200


HEAD = b"POST /a HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer local\r\n"


@pytest.mark.parametrize(
    ("rest", "status"),
    [
        (b"Content-Length: x\r\n\r\n", b"400"),
        (b"Content-Length: -1\r\n\r\n", b"400"),
        (b"Content-Length: 9\r\n\r\nshort", b"400"),
        (b"Content-Length: 99999999999\r\n\r\n", b"413"),
        (b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n", b"400"),
        (b"Transfer-Encoding: chunked\r\n\r\n-5\r\nabcde\r\n", b"400"),
        (b"Transfer-Encoding: chunked\r\n\r\n5\r\nab", b"400"),
        (b"Transfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n", b"400"),
        (b"Transfer-Encoding: gzip\r\n\r\n", b"501"),
        (b"Transfer-Encoding: chunked\r\n\r\n2;x=y\r\nab\r\n0\r\nTrailer: z\r\n\r\n", b"200"),
        (b"\r\n", b"200"),
    ],
)
def test_odd_bodies_get_an_answer(
    server: HttpServer, caplog: pytest.LogCaptureFixture, rest: bytes, status: bytes
) -> None:
    """Wrong lengths and broken chunks are answered, and leave no trace in the log."""
    answer = spoken(server, HEAD + rest)
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert not [entry for entry in caplog.records if entry.levelname != "DEBUG"]


def test_bodies_of_chunks_are_limited_in_sum() -> None:
    """Many small chunks do not get around the limit."""
    chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    with pytest.raises(body.UnreadableBodyError, match="Too Large"):
        body.read(io.BufferedReader(io.BytesIO(chunk * 11)), None, "chunked")


def test_client_that_hangs_up_is_no_news(server: HttpServer, caplog: pytest.LogCaptureFixture) -> None:
    """A connection that ends in the middle of a request, or before the answer, is not logged as an error."""
    for content in (b"", b"GET", HEAD, HEAD + b"\r\n"):
        with socket.create_connection((HOST, server.server_port)) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
            connection.sendall(content)
    assert httpx.get(server.url + "/a", headers=TOKEN).status_code == 200
    assert not [entry for entry in caplog.records if entry.levelname not in {"DEBUG", "INFO"}]


def test_server_answers_on_loopback_only(server: HttpServer) -> None:
    """No other machine on the network can reach it."""
    assert server.server_address[0] == "127.0.0.1"


def test_stop_ends_kept_connections() -> None:
    """A client that kept its connection finds it closed."""
    server = HttpServer(Gateway(ROUTES, Echo()), 0)
    server.start()
    with httpx.Client(base_url=server.url, headers=TOKEN) as client:
        assert client.get("/a").status_code == 200
        server.stop()
        with pytest.raises(httpx.TransportError):
            client.get("/a")


def test_client_may_wait_for_leave_to_send(server: HttpServer) -> None:
    """Expect: 100-continue is answered before the body comes."""
    with socket.create_connection((HOST, server.server_port), timeout=5) as connection:
        connection.sendall(HEAD + b"Content-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        assert connection.recv(1024).startswith(b"HTTP/1.1 100 ")
        connection.sendall(b"{}")
        assert connection.recv(1024).startswith(b"HTTP/1.1 200 ")
