"""What a caller may do: a bank outside its reach is not found, an action without the role is forbidden."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from datetime import datetime

from streambank.errors import NotFound, PermissionDenied
from streambank.model.api_key import ApiKey, Token
from streambank.model.principal import EVERY_BANK, Principal, Role

USER = "user_id"


def admits(key: ApiKey, token: Token, *, now: datetime) -> bool:
    """Tell whether *token* belongs to *key*, and the key is valid at *now*."""
    return hmac.compare_digest(key.digest, token.digest) and key.is_live(now)


def knows_bank(principal: Principal, bank: str) -> bool:
    """Tell whether a caller may know that a bank exists."""
    return principal.has_every_bank or bank in principal.banks


def check_bank(principal: Principal, bank: str) -> None:
    """Check that a caller may know of *bank*; an empty one is the collection of banks.

    Raises:
        NotFound: the caller may not; the message is that of a bank that does not exist.
    """
    if bank and (bank == EVERY_BANK or not knows_bank(principal, bank)):
        raise NotFound(f"there is no bank {bank!r}")


def check(principal: Principal, role: Role, bank: str) -> None:
    """Check that a caller has *role* in *bank*, or for requests without a bank if *bank* is empty.

    Raises:
        NotFound: the caller may not use the bank; the message is that of a bank that does not exist.
        PermissionDenied: the caller lacks the role.
    """
    check_bank(principal, bank)
    if role not in principal.roles:
        raise PermissionDenied(f"this requires the role {role}")


def check_source_bank(principal: Principal, role: Role, source: str, bank: str) -> None:
    """Check that a caller has *role* in the bank *source*, which the body of its request to *bank* names.

    Raises:
        NotFound, PermissionDenied: as `check` does.
        PermissionDenied: only the path of the request was authorized, and it names another bank.
    """
    if principal.has_path_only and source != bank:
        raise PermissionDenied(
            "IAM has authorized the path of this request alone, so its body must name the same bank; "
            f"copy the export under {bank}/ to import it here"
        )
    check(principal, role, source)


def sees(principal: Principal, scope: Mapping[str, str]) -> bool:
    """Tell whether a caller may see *scope*: the scope must contain each pair of the caller's own scope."""
    return principal.scope is None or principal.scope.items() <= scope.items()


def check_scope(principal: Principal, scope: Mapping[str, str]) -> None:
    """Check that a caller may use *scope*, which its request names. Raises PermissionDenied."""
    if not sees(principal, scope):
        raise PermissionDenied("these credentials are bound to another scope")


def check_unbound(principal: Principal) -> None:
    """Check that a caller is bound to no scope, since its request covers all scopes. Raises PermissionDenied."""
    if principal.scope is not None:
        raise PermissionDenied("these credentials are bound to a scope, and this request covers all scopes")


def check_new_bank(principal: Principal) -> None:
    """Check that a caller may use every bank, so that it may use a new one. Raises PermissionDenied."""
    if not principal.has_every_bank:
        raise PermissionDenied("creating a bank requires credentials for every bank")


def check_sessions(principal: Principal) -> None:
    """Check that a caller is unbound, or bound to a user alone: sessions have no scope. Raises PermissionDenied."""
    if principal.scope is not None and principal.scope.keys() != {USER}:
        raise PermissionDenied(f"sessions require credentials that are unbound, or bound to {USER} alone")


def check_user(principal: Principal, user_id: str | None) -> None:
    """Check that a caller may use the sessions of *user_id*, or of all users if it is None. Raises PermissionDenied."""
    if principal.scope is not None and (user_id is None or not sees_user(principal, user_id)):
        raise PermissionDenied("these credentials are bound to another user")


def sees_user(principal: Principal, user_id: str) -> bool:
    """Tell whether a caller may see the sessions of *user_id*."""
    return principal.scope is None or principal.scope == {USER: user_id}
