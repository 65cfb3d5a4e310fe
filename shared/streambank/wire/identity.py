"""Who calls: the token of a request, or the claims that API Gateway found in one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from streambank.errors import PermissionDenied, Unauthenticated
from streambank.model.ids import BANK_ID
from streambank.model.principal import EVERY_BANK, Principal, Role, operator
from streambank.wire import http

BANKS_CLAIM = "streambank_banks"
ROLES_CLAIM = "streambank_roles"
SCOPE_CLAIM = "streambank_scope"
EVERY_SCOPE = "*"
# API Gateway renders a list as "[a b]"; people write "a b" or "a, b", and some providers '["a","b"]'.
_WORD = re.compile(r"[^\s,\[\]\"]+")


def token(event: Mapping[str, Any]) -> str | None:
    """Return the token of a request: a bearer's, or x-goog-api-key, as Google's SDK sends either.

    Raises:
        Unauthenticated: there are two, or `Authorization` is of another scheme.
    """
    authorization, key = http.header(event, "authorization"), http.header(event, "x-goog-api-key")
    if authorization is None:
        return key
    scheme, _, bearer = authorization.partition(" ")
    if scheme.lower() != "bearer":
        raise Unauthenticated("Authorization must be of the scheme Bearer")
    if key is not None and key != bearer.strip():
        raise Unauthenticated("Authorization and x-goog-api-key differ; send one of them")
    return bearer.strip()


def anybody(_: Mapping[str, Any]) -> Principal:
    """Return the caller of an open service: local mode checks its own token before any function."""
    return operator("anybody")


def signed(event: Mapping[str, Any]) -> Principal:
    """Return who signed a request; IAM has authorized its method and path already. Raises Unauthenticated."""
    arn = _authorizer(event, "iam").get("userArn")
    if not arn:
        raise Unauthenticated("the request has no signature")
    return operator(str(arn), has_path_only=True)


def claimed(event: Mapping[str, Any]) -> Principal:
    """Return the caller that the claims of a token describe; API Gateway has verified the token.

    Raises:
        Unauthenticated: there are no claims.
        PermissionDenied: a claim is missing or says nothing that can be granted.
    """
    claims = _authorizer(event, "jwt").get("claims")
    if not isinstance(claims, Mapping) or not claims:
        raise Unauthenticated("the request has no token")
    return Principal(str(claims.get("sub", "")), _banks(claims), _roles(claims), _scope(claims))


def _authorizer(event: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    authorizer = ((event.get("requestContext") or {}).get("authorizer") or {}).get(kind)
    return authorizer if isinstance(authorizer, Mapping) else {}


def _words(claims: Mapping[str, Any], name: str) -> list[str]:
    claim = claims.get(name)
    words = [str(one) for one in claim] if isinstance(claim, list) else _WORD.findall(str(claim or ""))
    if not words:
        raise _denied(name)
    return words


def _banks(claims: Mapping[str, Any]) -> tuple[str, ...]:
    banks = tuple(_words(claims, BANKS_CLAIM))
    if not all(bank == EVERY_BANK or BANK_ID.fullmatch(bank) for bank in banks):
        raise _denied(BANKS_CLAIM)
    return banks


def _roles(claims: Mapping[str, Any]) -> frozenset[Role]:
    names = frozenset(_words(claims, ROLES_CLAIM))
    if not names <= frozenset(Role):
        raise _denied(ROLES_CLAIM)
    return frozenset(map(Role, names))


def _scope(claims: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the scope of the claim, or None for any scope, which must be claimed too.

    A provider that drops the claim must not widen what its users see.
    """
    claim = claims.get(SCOPE_CLAIM)
    if claim == EVERY_SCOPE:
        return None
    try:
        scope = json.loads(claim) if isinstance(claim, str) else None
    except (ValueError, RecursionError):
        scope = None
    if not isinstance(scope, dict) or not scope or not all(isinstance(value, str) for value in scope.values()):
        raise _denied(SCOPE_CLAIM)
    return scope


def _denied(claim: str) -> PermissionDenied:
    return PermissionDenied(f"the token's claim {claim} is missing or grants nothing that there is")
