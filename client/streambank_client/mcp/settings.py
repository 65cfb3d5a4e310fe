"""The settings of the server: the service, the scope, and the transport."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from streambank_client.limits import checked_bank_id, checked_scope

Transport = Literal["stdio", "http"]
DEFAULT_URL = "http://127.0.0.1:8080"
DEFAULT_PORT = 8091
LOOPBACK = "127.0.0.1"
LOOPBACK_HOSTS = (LOOPBACK, "localhost", "::1")
MIN_CALLER_TOKEN_CHARACTERS = 16
# An API key begins with this; every other credential is a token.
KEY_PREFIX = "sb_"


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Where the server listens, the token that its callers must send, and the host names that they may use."""

    host: str = LOOPBACK
    port: int = DEFAULT_PORT
    caller_token: str | None = field(default=None, repr=False)
    host_names: Sequence[str] = ()

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches the server."""
        return self.host in LOOPBACK_HOSTS

    def allowed_hosts(self) -> list[str]:
        """Return the values of the header Host that are accepted; `:*` stands for any port."""
        return [form for name in self._names() for form in (name, f"{name}:*")]

    def allowed_origins(self) -> list[str]:
        """Return the values of the header Origin that are accepted."""
        return [f"{scheme}://{host}" for scheme in ("http", "https") for host in self.allowed_hosts()]

    def _names(self) -> list[str]:
        own = LOOPBACK_HOSTS if self.is_loopback else (self.host,)
        return [f"[{name}]" if ":" in name else name for name in dict.fromkeys((*own, *self.host_names))]


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The service and the credential for it, the bank, the scope, and the transport."""

    scope: Mapping[str, str]
    url: str = DEFAULT_URL
    token: str = field(default="local", repr=False)
    bank_id: str = "default"
    transport: Transport = "stdio"
    http: HttpSettings = HttpSettings()

    def key(self) -> str | None:
        """Return the credential if it is an API key."""
        return self.token if self.token.startswith(KEY_PREFIX) else None

    def bearer_token(self) -> str | None:
        """Return the credential if it is no API key."""
        return None if self.key() else self.token


def checked_settings(settings: ServerSettings) -> ServerSettings:
    """Return the settings.

    Raises:
        ValueError: the scope or the bank is not valid, or HTTP on another host than loopback has no caller token.
    """
    checked_scope(settings.scope)
    checked_bank_id(settings.bank_id)
    if settings.transport == "http":
        _check_http(settings.http)
    return settings


def _check_http(http: HttpSettings) -> None:
    token = http.caller_token
    if token is None:
        if not http.is_loopback:
            raise ValueError("host: another host than loopback needs a caller token")
        return
    if not (token.isascii() and token.isprintable() and " " not in token and len(token) >= MIN_CALLER_TOKEN_CHARACTERS):
        raise ValueError(
            f"caller token: must be at least {MIN_CALLER_TOKEN_CHARACTERS} printable ASCII characters without spaces"
        )
