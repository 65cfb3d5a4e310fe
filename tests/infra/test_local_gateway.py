"""The HTTP side: what API Gateway does around a function."""

import base64
import gzip
import io
import json
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.local import body
from infra.local.functions import Reply
from infra.local.gateway import Gateway, HttpServer
from infra.local.payload import BadAnswerError, Request, event, response, route_of
from infra.local.stack import Route

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LONG = Route("POST", "/{version}/projects/{project}/{collection}/{bank}/memories:ingestEvents", "Ingest")
SHORT = Route("POST", "/{version}/{collection}/{bank}/memories:ingestEvents", "Ingest")
REST = Route("ANY", "/{proxy+}", "Api")
ROUTES = (REST, SHORT, LONG)
TOKEN = {"authorization": "Bearer local"}


class Echo:
    """A backend whose functions answer with the event that they got."""

    def now(self) -> datetime:
        return NOW

    def invoke(self, function: str, event: Any) -> Reply:
        return Reply(event)

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
    """Return all that the server says to raw bytes before it ends the connection."""
    with socket.create_connection(server.server_address[:2], timeout=5) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize(
    ("method", "path", "route", "parameters"),
    [
        ("POST", "/v1/banks/b/memories:ingestEvents", SHORT, {"version": "v1", "collection": "banks", "bank": "b"}),
        (
            "POST",
            "/v1/projects/p/banks/b/memories:ingestEvents",
            LONG,
            {"version": "v1", "project": "p", "collection": "banks", "bank": "b"},
        ),
        ("GET", "/v1/banks/b/memories:ingestEvents", REST, {"proxy": "v1/banks/b/memories:ingestEvents"}),
        ("POST", "/v1/banks/b/c/memories:ingestEvents", REST, {"proxy": "v1/banks/b/c/memories:ingestEvents"}),
        ("DELETE", "/a", REST, {"proxy": "a"}),
        ("GET", "/a/", REST, {"proxy": "a/"}),
    ],
)
def test_most_specific_route_wins(method: str, path: str, route: Route, parameters: dict[str, str]) -> None:
    """A parameter takes one segment, a full match goes before a greedy one, and the order of the routes is irrelevant."""
    for routes in (ROUTES, ROUTES[::-1]):
        match = route_of(routes, method, path)
        assert match is not None
        assert (match.route, match.parameters) == (route, parameters)


def test_literal_goes_before_parameter_and_method_before_any() -> None:
    """Among full matches the earlier literal wins, and among equal paths the named method."""
    routes = [Route("ANY", "/{a}/b", "1"), Route("GET", "/x/{b}", "2"), Route("ANY", "/x/{b}", "3")]
    found = [route_of(routes, method, "/x/b") for method in ("GET", "PUT")]
    assert [match.route.function for match in found if match] == ["2", "3"]


def test_nothing_matches_the_root() -> None:
    """A greedy parameter takes at least one character."""
    assert route_of(ROUTES, "GET", "/") is None


def made(request: Request) -> dict[str, Any]:
    match = route_of(ROUTES, request.method, request.path)
    assert match is not None
    return event(request, match, NOW)


def test_event_is_a_payload_of_format_2() -> None:
    """Path decoded, query kept and parsed, headers lower-cased and joined, cookies apart, caller and time given."""
    headers = (("Host", "h"), ("X-A", "1"), ("x-a", "2"), ("Cookie", "a=1; b=2"), ("User-Agent", "u"))
    got = made(Request("POST", "/v1/banks/b%20c/memories:ingestEvents?q=a%26b&q=2&empty=", headers, b'{"\xc3\xa9":1}'))
    context = got.pop("requestContext")
    assert got == {
        "version": "2.0",
        "routeKey": f"POST {SHORT.path}",
        "rawPath": "/v1/banks/b c/memories:ingestEvents",
        "rawQueryString": "q=a%26b&q=2&empty=",
        "queryStringParameters": {"q": "a&b,2", "empty": ""},
        "headers": {"host": "h", "x-a": "1,2", "user-agent": "u"},
        "cookies": ["a=1", "b=2"],
        "pathParameters": {"version": "v1", "collection": "banks", "bank": "b c"},
        "body": '{"é":1}',
        "isBase64Encoded": False,
    }
    assert context["http"]["path"] == "/v1/banks/b c/memories:ingestEvents"
    assert (context["http"]["method"], context["http"]["userAgent"], context["stage"]) == ("POST", "u", "$default")
    assert (context["time"], context["timeEpoch"]) == ("01/Mar/2026:12:00:00 +0000", 1_772_366_400_000)
    assert context["authorizer"]["iam"]["userId"] == "local"


def test_event_leaves_out_what_the_request_lacks() -> None:
    """No body, cookies or query: no such fields."""
    assert not {"body", "cookies", "queryStringParameters"} & made(Request("GET", "/a")).keys()


def test_body_that_is_no_text_is_base64() -> None:
    """A compressed body arrives encoded."""
    content = gzip.compress(b"{}")
    got = made(Request("POST", "/a", body=content))
    assert got["isBase64Encoded"] is True
    assert base64.b64decode(got["body"]) == content


@given(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="/"), min_size=1), st.binary(max_size=64))
def test_path_and_body_survive(segment: str, content: bytes) -> None:
    """Whatever stands in a segment or a body is what the function gets."""
    got = made(Request("POST", f"/v1/banks/{quote(segment, safe='')}/memories:ingestEvents", body=content))
    assert got["pathParameters"]["bank"] == segment
    text = got.get("body", "")
    assert (base64.b64decode(text) if got["isBase64Encoded"] else text.encode()) == content


def test_answer_becomes_a_response() -> None:
    """Status, headers and cookies of the function's answer are the response's; framing headers are not."""
    answer = {"statusCode": 201, "body": "é", "headers": {"X-A": 1, "Content-Length": "99"}, "cookies": ["a=1", "b=2"]}
    got = response(answer)
    assert (got.status, got.body) == (201, "é".encode())
    assert got.headers == (
        ("content-type", "text/plain;charset=UTF-8"),
        ("x-a", "1"),
        ("set-cookie", "a=1"),
        ("set-cookie", "b=2"),
    )


def test_encoded_answer_is_decoded() -> None:
    """A base64 body goes out as bytes."""
    assert response({"statusCode": 200, "body": "AP8=", "isBase64Encoded": True}).body == b"\x00\xff"


@pytest.mark.parametrize("answer", [{"a": 1}, [1], "text", None])
def test_answer_without_status_is_200_and_json(answer: Any) -> None:
    """API Gateway takes what has no statusCode for the body."""
    got = response(answer)
    assert (got.status, got.headers) == (200, (("content-type", "application/json"),))
    assert got.body.decode() == (answer if isinstance(answer, str) else json.dumps(answer))


@pytest.mark.parametrize(
    "answer",
    [
        {"statusCode": "x"},
        {"statusCode": 200, "headers": ["a"]},
        {"statusCode": 200, "body": {"a": 1}},
        {"statusCode": 200, "body": "?", "isBase64Encoded": True},
    ],
)
def test_answer_that_is_no_response_is_an_error(answer: Any) -> None:
    """What API Gateway cannot render is told apart."""
    with pytest.raises(BadAnswerError):
        response(answer)


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


@pytest.mark.parametrize(("method", "path"), [("GET", "/"), ("GET", "/_local/x"), ("GET", "/_local/clock:advance")])
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
    """The function sees the method that was asked for."""
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
        body.read(io.BufferedReader(io.BytesIO(chunk * 11)), None, "chunked")  # type: ignore[arg-type]


def test_client_that_hangs_up_is_no_news(server: HttpServer, caplog: pytest.LogCaptureFixture) -> None:
    """A connection that ends in the middle of a request, or before the answer, is not logged as an error."""
    for content in (b"", b"GET", HEAD, HEAD + b"\r\n"):
        with socket.create_connection(server.server_address[:2]) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
            connection.sendall(content)
    assert httpx.get(server.url + "/a", headers=TOKEN).status_code == 200
    assert not [entry for entry in caplog.records if entry.levelname not in {"DEBUG", "INFO"}]


def test_server_answers_on_loopback_only(server: HttpServer) -> None:
    """Nobody else on the network can reach it."""
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
