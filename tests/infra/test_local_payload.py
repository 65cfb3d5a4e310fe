"""Routes and payloads: what API Gateway makes of a request and of an answer."""

import base64
import gzip
import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank_local.emulator.stack import Route
from streambank_local.http.payload import BadResponseError, Request, event, match_route, response

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LONG = Route("POST", "/{version}/projects/{project}/{collection}/{bank}/memories:ingestEvents", "Ingest")
SHORT = Route("POST", "/{version}/{collection}/{bank}/memories:ingestEvents", "Ingest")
REST = Route("ANY", "/{proxy+}", "Api")
ROUTES = (REST, SHORT, LONG)


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
    """A parameter matches one segment, and a full match comes before a greedy one, in any order of the routes."""
    for routes in (ROUTES, ROUTES[::-1]):
        match = match_route(routes, method, path)
        assert match is not None
        assert (match.route, match.parameters) == (route, parameters)


def test_literal_goes_before_parameter_and_method_before_any() -> None:
    """Among full matches the earlier literal wins, and among equal paths the named method."""
    routes = [Route("ANY", "/{a}/b", "1"), Route("GET", "/x/{b}", "2"), Route("ANY", "/x/{b}", "3")]
    found = [match_route(routes, method, "/x/b") for method in ("GET", "PUT")]
    assert [match.route.function for match in found if match] == ["2", "3"]


def test_nothing_matches_the_root() -> None:
    """A greedy parameter takes at least one character."""
    assert match_route(ROUTES, "GET", "/") is None


def made(request: Request) -> dict[str, Any]:
    match = match_route(ROUTES, request.method, request.path)
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


@given(st.text(st.characters(codec="utf-8", exclude_characters="/"), min_size=1), st.binary(max_size=64))
def test_path_and_body_survive(segment: str, content: bytes) -> None:
    """The function receives every segment and body unchanged."""
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
    """A reply that API Gateway cannot render is an error of its own."""
    with pytest.raises(BadResponseError):
        response(answer)
