"""What the gateway asks of a request before its function is called."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from streambank.errors import InvalidArgument
from streambank.wire import http, reader
from streambank_local.http.payload import Request, Response, json_response, response

TOKEN = "local"  # noqa: S105  nothing beyond this machine reaches the server
MAX_BODY_BYTES = 8_192
_BEARER = "bearer"

_log = logging.getLogger(__name__)

# Local mode's own routes, by method and path.
LocalRoutes = Mapping[tuple[str, str], Callable[[Request], Response]]


@dataclass(frozen=True, slots=True)
class Admitted:
    """A request that may go on to its function; *authorizer* is what the function is told of its caller."""

    request: Request
    authorizer: Mapping[str, Any] | None = None


class Callers(Protocol):
    """The callers of one mode."""

    @property
    def routes(self) -> LocalRoutes:
        """Return local mode's own routes of this mode."""

    def admit(self, request: Request) -> Admitted | Response:
        """Return the request as it goes on, or the refusal."""


class LocalCallers:
    """Without a mode: everybody has the token `local`, and may do everything."""

    def __init__(self) -> None:
        self.routes: LocalRoutes = {}

    def admit(self, request: Request) -> Admitted | Response:
        """Refuse a request without the token."""
        if bearer(request) == TOKEN or request.header("x-goog-api-key") == TOKEN:
            return Admitted(request)
        message = f"Local mode requires the header 'Authorization: Bearer {TOKEN}'."
        return json_response(401, {"error": {"code": 401, "message": message, "status": "UNAUTHENTICATED"}})


def bearer(request: Request) -> str:
    """Return the bearer's token of a request, or an empty string."""
    scheme, _, token = request.header("authorization").partition(" ")
    return token.strip() if scheme.lower() == _BEARER else ""


def with_operator(request: Request, token: str) -> Request:
    """Return *request* with *token* wherever it has the token `local`."""
    return replace(request, headers=tuple((name, _replaced(name, value, token)) for name, value in request.headers))


def _replaced(name: str, value: str, token: str) -> str:
    if name.lower() == "x-goog-api-key":
        return token if value == TOKEN else value
    scheme, _, credential = value.partition(" ")
    is_local = name.lower() == "authorization" and scheme.lower() == _BEARER and credential.strip() == TOKEN
    return f"{scheme} {token}" if is_local else value


def reply(request: Request, answer: Callable[[dict[str, Any]], dict[str, Any]]) -> Response:
    """Return what *answer* makes of the object in the body, or a refusal in Google's shape."""
    return response(http.to_response(lambda: http.response(answer(_document(request))), on_fault=_log_fault))


def _document(request: Request) -> dict[str, Any]:
    body = reader.json_body(request.body.decode(errors="replace"), is_base64=False, most_bytes=MAX_BODY_BYTES)
    if not isinstance(body, dict):
        raise InvalidArgument("", "the body must be a JSON object")
    return body


def _log_fault(fault: BaseException) -> None:
    _log.error("local route failed", exc_info=fault)
