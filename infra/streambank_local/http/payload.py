"""API Gateway's payload format 2.0: an HTTP request as an event, a function's reply as an HTTP response.

Source: https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
"""

import base64
import binascii
import json
import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, unquote

from streambank_local.emulator.stack import ACCOUNT, Route

STAGE = "$default"

_PARAMETER = re.compile(r"\{(\w+)(\+?)\}")
# The server writes these headers itself.
_HOP_HEADERS = {"connection", "content-length", "date", "keep-alive", "server", "transfer-encoding"}


@dataclass(frozen=True)
class Request:
    """An HTTP request as received: the target undecoded, headers in their order."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""

    @property
    def path(self) -> str:
        return unquote(self.target.partition("?")[0])

    @property
    def query(self) -> str:
        return self.target.partition("?")[2]

    def header(self, name: str) -> str:
        """Return a header's value, or an empty string."""
        return join_headers(self.headers).get(name, "")


@dataclass(frozen=True)
class Response:
    """An HTTP response."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Match:
    """The route that a request takes, with its path parameters."""

    route: Route
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return f"{self.route.method} {self.route.path}"


class BadResponseError(Exception):
    """A function's reply that API Gateway cannot turn into HTTP."""


def match_route(routes: Iterable[Route], method: str, path: str) -> Match | None:
    """Return the most specific route for a decoded *path*: literals first, greedy last, a method before ANY."""
    candidates = [
        (route, _expression(route.path).fullmatch(path)) for route in routes if route.method in {method, "ANY"}
    ]
    matches = [Match(route, match.groupdict()) for route, match in candidates if match]
    return min(matches, key=lambda match: _generality(match.route), default=None)


def _expression(path: str) -> re.Pattern[str]:
    pieces = _PARAMETER.split(path)
    literals = [re.escape(piece) for piece in pieces[::3]]
    groups = [
        f"(?P<{name}>{'.+' if greedy else '[^/]+'})" for name, greedy in zip(pieces[1::3], pieces[2::3], strict=True)
    ]
    return re.compile("".join(literal + group for literal, group in zip(literals, [*groups, ""], strict=True)))


def _generality(route: Route) -> tuple[bool, list[int], bool]:
    kinds = [2 if "+}" in segment else 1 if "{" in segment else 0 for segment in route.path.split("/")]
    return 2 in kinds, kinds, route.method == "ANY"


def event(request: Request, match: Match, now: datetime, authorizer: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the event that a function gets for *request*; by default an IAM user of this machine has signed it."""
    headers = join_headers(request.headers)
    cookies = [cookie.strip() for cookie in headers.pop("cookie", "").replace(",", ";").split(";") if cookie.strip()]
    body, encoded = _body(request.body)
    optional = {
        "cookies": cookies,
        "queryStringParameters": _join(parse_qsl(request.query, keep_blank_values=True)),
        "pathParameters": dict(match.parameters),
        "body": body,
    }
    return {
        "version": "2.0",
        "routeKey": match.key,
        "rawPath": request.path,
        "rawQueryString": request.query,
        "headers": headers,
        "requestContext": _request_context(request, match, now, authorizer or {"iam": _caller()}),
        "isBase64Encoded": encoded,
    } | {name: value for name, value in optional.items() if value}


def join_headers(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return headers under lower-case names, repeated ones joined by commas."""
    return _join((name.lower(), value) for name, value in headers)


def _join(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in pairs:
        joined[name] = f"{joined[name]},{value}" if name in joined else value
    return joined


def _body(body: bytes) -> tuple[str, bool]:
    try:
        return body.decode(), False
    except UnicodeDecodeError:
        return base64.b64encode(body).decode(), True


def _request_context(request: Request, match: Match, now: datetime, authorizer: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "accountId": ACCOUNT,
        "apiId": "local",
        "authorizer": dict(authorizer),
        "domainName": request.header("host"),
        "domainPrefix": "local",
        "http": {
            "method": request.method,
            "path": request.path,
            "protocol": "HTTP/1.1",
            "sourceIp": "127.0.0.1",
            "userAgent": request.header("user-agent"),
        },
        "requestId": str(uuid.uuid4()),
        "routeKey": match.key,
        "stage": STAGE,
        "time": now.strftime("%d/%b/%Y:%H:%M:%S +0000"),
        "timeEpoch": int(now.timestamp() * 1000),
    }


def _caller() -> dict[str, Any]:
    return {
        "accessKey": "local",
        "accountId": ACCOUNT,
        "callerId": "local",
        "cognitoIdentity": None,
        "principalOrgId": None,
        "userArn": f"arn:aws:iam::{ACCOUNT}:user/local",
        "userId": "local",
    }


def response(reply: Any) -> Response:
    """Return the HTTP response for a function's *reply*; raises BadResponseError."""
    if not isinstance(reply, dict) or "statusCode" not in reply:
        return json_response(200, reply)
    try:
        return Response(int(reply["statusCode"]), _response_body(reply), _response_headers(reply))
    except (AttributeError, TypeError, ValueError, binascii.Error) as error:
        raise BadResponseError(str(error)) from error


def json_response(status: int, content: Any) -> Response:
    """Return a response whose body is *content* as JSON; a string is the body itself."""
    text = content if isinstance(content, str) else json.dumps(content)
    return Response(status, text.encode(), (("content-type", "application/json"),))


def _response_body(reply: Mapping[str, Any]) -> bytes:
    text: str = reply.get("body") or ""
    return base64.b64decode(text, validate=True) if reply.get("isBase64Encoded") else text.encode()


def _response_headers(reply: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    named = {name.lower(): str(value) for name, value in (reply.get("headers") or {}).items()}
    headers = {"content-type": "text/plain;charset=UTF-8"} | {n: v for n, v in named.items() if n not in _HOP_HEADERS}
    return (*headers.items(), *(("set-cookie", cookie) for cookie in reply.get("cookies") or []))
