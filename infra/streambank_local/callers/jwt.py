"""Tokens with a signature of RSA and SHA-256, and how API Gateway's JWT authorizer reads them.

Source: https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-jwt-authorizer.html
"""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256

_HEADER = {"alg": "RS256", "typ": "JWT", "kid": "local"}


def _new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@dataclass(frozen=True, slots=True)
class TokenIssuer:
    """An issuer with a key pair of its own, which ends with the process."""

    issuer: str
    audience: str
    _key: rsa.RSAPrivateKey = field(default_factory=_new_key, repr=False)

    def issue(self, claims: Mapping[str, Any]) -> str:
        """Return a token with *claims*."""
        text = f"{_encoded(_HEADER)}.{_encoded(claims)}"
        return f"{text}.{_base64(self._key.sign(text.encode(), padding.PKCS1v15(), SHA256()))}"

    def read(self, token: str, now: datetime) -> dict[str, Any] | None:
        """Return the claims of a token that is valid at *now*, or None."""
        text, _, signature = token.rpartition(".")
        header, _, body = text.partition(".")
        try:
            self._key.public_key().verify(_bytes(signature), text.encode(), padding.PKCS1v15(), SHA256())
            claims: dict[str, Any] = json.loads(_bytes(body))
            is_ours = json.loads(_bytes(header)) == _HEADER
        except (InvalidSignature, ValueError, binascii.Error):
            return None
        return claims if is_ours and self._is_valid(claims, now.timestamp()) else None

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


def _encoded(document: Mapping[str, Any]) -> str:
    return _base64(json.dumps(document, separators=(",", ":")).encode())


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
