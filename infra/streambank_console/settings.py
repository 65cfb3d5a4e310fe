"""How the console is started."""

from __future__ import annotations

from dataclasses import dataclass, field

HOST = "127.0.0.1"
PORT = 8092
# An API key begins with this; every other credential is a token.
_KEY_PREFIX = "sb_"


@dataclass(frozen=True, slots=True)
class ConsoleSettings:
    """The service, the credential, the bank that is shown first, and the port on loopback; 0 is any free one."""

    url: str
    token: str = field(repr=False)
    bank: str = "default"
    port: int = PORT

    @property
    def api_key(self) -> str | None:
        """The credential, if it is an API key."""
        return self.token if self.token.startswith(_KEY_PREFIX) else None

    @property
    def bearer(self) -> str | None:
        """The credential, if it is another token."""
        return None if self.api_key else self.token
