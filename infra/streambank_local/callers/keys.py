"""Mode `keys`: the functions check API keys, as they do in a deployed stack."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from secrets import token_bytes
from typing import Annotated, Any

from pydantic import Field

from streambank.errors import Conflict, InvalidArgument
from streambank.model.api_key import ID_BYTES, SECRET_BYTES, ApiKey, Token
from streambank.model.ids import BANK_ID
from streambank.model.principal import EVERY_BANK, Principal, Role, operator
from streambank.store.api_keys import ApiKeys
from streambank.wire.fields import Scope
from streambank.wire.model import Read, RequestModel
from streambank_local.callers.callers import Admitted, LocalRoutes, reply, with_operator
from streambank_local.callers.secrets import Kept, make_anew
from streambank_local.http.payload import Request, Response

_OPERATOR = "operator's API key"


def _bank(value: Any, path: str) -> str:
    if not isinstance(value, str) or (value != EVERY_BANK and not BANK_ID.fullmatch(value)):
        raise InvalidArgument(path, f"must be a bank's id, or {EVERY_BANK} for every bank")
    return value


def _role(value: Any, path: str) -> Role:
    if not isinstance(value, str) or value not in set(Role):
        raise InvalidArgument(path, "must be one of " + ", ".join(Role))
    return Role(value)


class KeyRequest(RequestModel):
    """What a new key may do."""

    bank: Annotated[str, Read(_bank, {"type": "string"})]
    roles: Annotated[
        list[Annotated[Role, Read(_role, {"enum": list(Role)})]], Field(min_length=1, max_length=len(Role))
    ]
    scope: Scope | None = None


class KeyCallers:
    """The holders of keys; `local` stands for the key of an operator, which is made at the start."""

    def __init__(self, keys: ApiKeys, now: Callable[[], datetime], kept: Kept = make_anew) -> None:
        self._keys = keys
        self._now = now
        self._operator = self._operator_key(kept(_OPERATOR, _random_bytes))
        self.routes: LocalRoutes = {("POST", "/_local/keys"): lambda request: reply(request, self._answer)}

    def admit(self, request: Request) -> Admitted | Response:
        """Let every request go on to its function, which checks its key."""
        return Admitted(with_operator(request, self._operator))

    def _answer(self, body: dict[str, Any]) -> dict[str, Any]:
        request = KeyRequest.parse(body)
        principal = Principal("local", (request.bank,), frozenset(request.roles), request.scope)
        return {"key": self._create(principal, _random_bytes())}

    def _operator_key(self, random: bytes) -> str:
        with suppress(Conflict):  # an earlier start has made it
            self._create(operator("local"), random)
        return Token.from_random_bytes(random).reveal()

    def _create(self, principal: Principal, random: bytes) -> str:
        token = Token.from_random_bytes(random)
        self._keys.create(ApiKey(token.key_id, token.digest, principal, self._now()))
        return token.reveal()


def _random_bytes() -> bytes:
    return token_bytes(ID_BYTES + SECRET_BYTES)
