"""The operator's token of a service that other machines can reach: there the token `local` opens nothing."""

import hmac
import ipaddress
import os
import secrets
from dataclasses import dataclass, replace

from streambank_local.callers.callers import TOKEN
from streambank_local.http.payload import Request, Response, json_response

VARIABLE = "STREAMBANK_OPERATOR_TOKEN"
MIN_TOKEN_LENGTH = 24
_LOCAL_ROUTES = "/_local/"
_CREDENTIAL_HEADERS = {"authorization", "x-goog-api-key"}


@dataclass(frozen=True, slots=True)
class OperatorToken:
    """Stands in for the token `local`, which everybody knows."""

    token: str

    def check(self, request: Request) -> Request | Response:
        """Return the request with `local` in place of this token.

        What has `local` itself is refused, and so is a local route without this token.
        """
        if TOKEN in _credentials(request):
            return _refusal()
        if any(hmac.compare_digest(one.encode(), self.token.encode()) for one in _credentials(request)):
            return replace(request, headers=(*_others(request), ("authorization", f"Bearer {TOKEN}")))
        return _refusal() if request.path.startswith(_LOCAL_ROUTES) else request


def of_host(host: str) -> tuple[OperatorToken | None, str]:
    """Return the operator's token of a service on *host*, none on loopback, and what to print as the token.

    Raises:
        ValueError: the token of the environment is too short.
    """
    if ipaddress.IPv4Address(host).is_loopback:
        return None, TOKEN
    token = os.environ.get(VARIABLE, "")
    if not token:
        token = secrets.token_urlsafe(MIN_TOKEN_LENGTH)
        return OperatorToken(token), token
    if len(token) < MIN_TOKEN_LENGTH:
        raise ValueError(f"{VARIABLE} needs {MIN_TOKEN_LENGTH} characters at least")
    return OperatorToken(token), f"that of {VARIABLE}"


def _credentials(request: Request) -> set[str]:
    """Return the credentials of every header that may have one, also where a header comes twice."""
    values = [value.strip() for name, value in request.headers if name.lower() in _CREDENTIAL_HEADERS]
    return {*values, *(value.partition(" ")[2].strip() for value in values)} - {""}


def _others(request: Request) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in request.headers if name.lower() not in _CREDENTIAL_HEADERS)


def _refusal() -> Response:
    message = "This service needs a key, or its operator's token."
    return json_response(401, {"error": {"code": 401, "message": message, "status": "UNAUTHENTICATED"}})
