"""API keys: the token that a caller sends, and the digest that is stored."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass, field
from datetime import datetime

from streambank.model.principal import Principal

# 16 characters of base32 are 80 bits; 43 of URL-safe base64 are 256.
_TOKEN = re.compile(r"sb_([a-z2-7]{12,32})_([A-Za-z0-9_-]{43})")
KEY_ID = re.compile(r"[a-z2-7]{12,32}")
ID_BYTES = 10
SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class Token:
    """The token that a caller sends: the id of a key and its secret, which `repr` leaves out."""

    key_id: str
    secret: str = field(repr=False)

    @property
    def digest(self) -> bytes:
        """Return the hash of the secret that is stored; 256 random bits need no slow hash."""
        return hashlib.sha256(self.secret.encode()).digest()

    def reveal(self) -> str:
        """Return the token as a caller sends it."""
        return f"sb_{self.key_id}_{self.secret}"

    @classmethod
    def from_random_bytes(cls, random: bytes) -> Token:
        """Return the token of *random*, ID_BYTES + SECRET_BYTES random bytes."""
        name, secret = random[:ID_BYTES], random[ID_BYTES : ID_BYTES + SECRET_BYTES]
        return cls(base64.b32encode(name).decode().lower(), base64.urlsafe_b64encode(secret).decode().rstrip("="))

    @classmethod
    def parse(cls, text: str) -> Token | None:
        """Return the token in *text*, or None if *text* is not one."""
        match = _TOKEN.fullmatch(text)
        return cls(match[1], match[2]) if match else None


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A stored key, without its secret."""

    id: str
    digest: bytes = field(repr=False)
    principal: Principal
    created: datetime
    expires: datetime | None = None
    revoked: datetime | None = None

    def is_live(self, now: datetime) -> bool:
        """Tell whether the key is valid at *now*; DynamoDB's TTL deletes late."""
        return self.revoked is None and (self.expires is None or self.expires > now)
