"""Mode `jwt`: the gateway checks tokens, as API Gateway does, and the functions read the claims."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from streambank.errors import InvalidArgument
from streambank.model.principal import EVERY_BANK, Role
from streambank.wire.identity import BANKS_CLAIM, EVERY_SCOPE, ROLES_CLAIM, SCOPE_CLAIM
from streambank_local.callers.callers import TOKEN, Admitted, LocalRoutes, bearer, reply
from streambank_local.callers.jwt import TokenIssuer, new_pem, rendered
from streambank_local.callers.secrets import Kept, make_anew
from streambank_local.http.payload import Request, Response, json_response

ISSUER = "https://streambank.local"
AUDIENCE = "streambank"
LIFETIME = timedelta(hours=1)
_KEY = "key that signs tokens"
_OPERATOR = {
    "sub": "local",
    BANKS_CLAIM: EVERY_BANK,
    ROLES_CLAIM: " ".join(Role),
    SCOPE_CLAIM: EVERY_SCOPE,
}
_TIMES = ("exp", "iat", "nbf")
_TEXTS = ("client_id", "iss", "sub")
_UNAUTHORIZED = json_response(401, {"message": "Unauthorized"})


class TokenCallers:
    """The bearers of tokens; `local` stands for the token of an operator."""

    def __init__(self, now: Callable[[], datetime], kept: Kept = make_anew) -> None:
        self._now = now
        self._issuer = TokenIssuer.of_pem(ISSUER, AUDIENCE, kept(_KEY, new_pem))
        self.routes: LocalRoutes = {("POST", "/_local/tokens"): lambda request: reply(request, self._answer)}

    def admit(self, request: Request) -> Admitted | Response:
        """Refuse a request without a valid token; hand its claims on to the function."""
        token = bearer(request)
        claims = _OPERATOR if token == TOKEN else self._issuer.read(token, self._now())
        if claims is None:
            return _UNAUTHORIZED
        return Admitted(request, {"jwt": {"claims": rendered(claims), "scopes": None}})

    def _answer(self, body: dict[str, Any]) -> dict[str, Any]:
        _check_claims(body)
        now = int(self._now().timestamp())
        standard = {"iss": ISSUER, "aud": AUDIENCE, "iat": now, "exp": now + int(LIFETIME.total_seconds())}
        return {"token": self._issuer.issue(standard | body)}


def _check_claims(claims: Mapping[str, Any]) -> None:
    """Check the claims that have a type of their own; the others are the caller's. Raises InvalidArgument."""
    for name in _TIMES:
        if name in claims and (isinstance(claims[name], bool) or not isinstance(claims[name], int | float)):
            raise InvalidArgument(name, "must be a number of seconds since 1970")
    for name in _TEXTS:
        if name in claims and not isinstance(claims[name], str):
            raise InvalidArgument(name, "must be a string")
    audience = claims.get("aud", "")
    if not all(isinstance(one, str) for one in (audience if isinstance(audience, list) else [audience])):
        raise InvalidArgument("aud", "must be a string, or a list of strings")
