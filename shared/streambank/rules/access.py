"""Who may do what. What a caller may not know of does not exist; what it may know of but not do is forbidden."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from datetime import datetime

from streambank.errors import NotFound, PermissionDenied
from streambank.model.api_key import ApiKey, Token
from streambank.model.principal import EVERY_BANK, Principal, Role

USER = "user_id"


def admits(key: ApiKey, token: Token, *, now: datetime) -> bool:
    """Tell whether *token* is the one that *key* was made for, and the key is good at *now*."""
    return hmac.compare_digest(key.digest, token.digest) and key.is_live(now)


def knows_bank(principal: Principal, bank: str) -> bool:
    """Tell whether a bank exists for a caller."""
    return principal.has_every_bank or bank in principal.banks


def check(principal: Principal, role: Role, bank: str) -> None:
    """Let a caller with *role* pass into *bank*, or above the banks where it is empty.

    Raises:
        NotFound: the bank is none of the caller's; said as if there were none.
        PermissionDenied: the caller lacks the role.
    """
    if bank and (bank == EVERY_BANK or not knows_bank(principal, bank)):
        raise NotFound(f"there is no bank {bank!r}")
    if role not in principal.roles:
        raise PermissionDenied(f"this takes the role {role}")


def sees(principal: Principal, scope: Mapping[str, str]) -> bool:
    """Tell whether what belongs to *scope* exists for a caller: each pair that binds it must be in the scope."""
    return principal.scope is None or principal.scope.items() <= scope.items()


def check_scope(principal: Principal, scope: Mapping[str, str]) -> None:
    """Let a caller pass that names *scope* itself. Raises PermissionDenied."""
    if not sees(principal, scope):
        raise PermissionDenied("these credentials are bound to another scope")


def check_unbound(principal: Principal) -> None:
    """Let a caller pass that no scope binds: what it asks for reaches over all scopes. Raises PermissionDenied."""
    if principal.scope is not None:
        raise PermissionDenied("these credentials are bound to a scope, and this reaches over all of them")


def check_new_bank(principal: Principal) -> None:
    """Let a caller pass that will see the bank that it makes. Raises PermissionDenied."""
    if not principal.has_every_bank:
        raise PermissionDenied("a new bank takes credentials for every bank")


def check_sessions(principal: Principal) -> None:
    """Let a caller pass that is bound to a user and nothing else: sessions have no scope. Raises PermissionDenied."""
    if principal.scope is not None and principal.scope.keys() != {USER}:
        raise PermissionDenied(f"sessions take credentials that are unbound, or bound to {USER} alone")


def check_user(principal: Principal, user_id: str | None) -> None:
    """Let a caller pass that names *user_id* itself, or nobody in particular. Raises PermissionDenied."""
    if principal.scope is not None and (user_id is None or not sees_user(principal, user_id)):
        raise PermissionDenied("these credentials are bound to another user")


def sees_user(principal: Principal, user_id: str) -> bool:
    """Tell whether the sessions of *user_id* exist for a caller."""
    return principal.scope is None or principal.scope == {USER: user_id}
