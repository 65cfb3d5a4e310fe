"""How callers are told apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from streambank.model.principal import Principal
from streambank.pipeline.api_key_cache import ApiKeyCache
from streambank.settings import AuthMode
from streambank.store.api_keys import ApiKeys
from streambank.wire import identity
from streambank.wiring.deployment import Deployment

Authenticate: TypeAlias = Callable[[Mapping[str, Any]], Principal]


def authenticator(deployment: Deployment) -> Authenticate:
    """Return the authenticator: it takes an API Gateway event and returns who calls.

    It raises Unauthenticated, and PermissionDenied for a token that grants nothing.
    """
    cache = ApiKeyCache(ApiKeys(deployment.table), deployment.now)
    modes: dict[AuthMode, Authenticate] = {
        AuthMode.KEYS: lambda event: cache.principal(identity.token(event)),
        AuthMode.JWT: identity.claimed,
        AuthMode.IAM: identity.signed,
        AuthMode.OPEN: identity.anybody,
    }
    return modes[deployment.settings.auth_mode]
