"""Tokens with a signature of RSA and SHA-256, and how API Gateway's JWT authorizer reads them.

Source: https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-jwt-authorizer.html
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from jwt.types import Options

_ALGORITHM = "RS256"
# The service's clock decides about times, and API Gateway's rules about the audience.
_SIGNATURE_ALONE: Options = {
    "verify_signature": True,
    "verify_exp": False,
    "verify_nbf": False,
    "verify_iat": False,
    "verify_aud": False,
    "verify_iss": False,
    "verify_sub": False,
    "verify_jti": False,
}


def _new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def new_pem() -> bytes:
    """Return a new private key in the form of PEM."""
    return _new_key().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@dataclass(frozen=True, slots=True)
class TokenIssuer:
    """An issuer with a key pair of its own."""

    issuer: str
    audience: str
    _key: rsa.RSAPrivateKey = field(default_factory=_new_key, repr=False)

    @classmethod
    def of_pem(cls, issuer: str, audience: str, pem: bytes) -> "TokenIssuer":
        """Return the issuer with a private key that `new_pem` made."""
        return cls(issuer, audience, cast("rsa.RSAPrivateKey", load_pem_private_key(pem, password=None)))

    def issue(self, claims: Mapping[str, Any]) -> str:
        """Return a token with *claims*."""
        return jwt.encode(dict(claims), self._key, algorithm=_ALGORITHM)

    def read(self, token: str, now: datetime) -> dict[str, Any] | None:
        """Return the claims of a token that is valid at *now*, or None."""
        try:
            claims = jwt.decode(token, self._key.public_key(), algorithms=[_ALGORITHM], options=_SIGNATURE_ALONE)
        except jwt.InvalidTokenError:
            return None
        return claims if self._is_valid(claims, now.timestamp()) else None

    def _is_valid(self, claims: Mapping[str, Any], now: float) -> bool:
        named = claims.get("aud", claims.get("client_id"))
        is_addressed = self.audience in (named if isinstance(named, list) else [named])
        is_begun = all(claims.get(name, 0) <= now for name in ("nbf", "iat"))
        return claims.get("iss") == self.issuer and is_addressed and is_begun and now < claims.get("exp", 0)


def rendered(claims: Mapping[str, Any]) -> dict[str, str]:
    """Return claims as API Gateway renders them: each is a text, a list is `[a b]`, an object `map[a:b]`."""
    return {name: _text(value) for name, value in claims.items()}


def _text(value: Any) -> str:
    if isinstance(value, list):
        return f"[{' '.join(map(_text, value))}]"
    if isinstance(value, dict):
        return f"map[{' '.join(f'{name}:{_text(value[name])}' for name in sorted(value))}]"
    return value if isinstance(value, str) else json.dumps(value)
