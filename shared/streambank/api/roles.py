"""What each route takes of its caller: one table, and a route that is not in it is not there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streambank.errors import NotFound
from streambank.model.principal import Role
from streambank.rules import access

ROLES: dict[tuple[str, str], Role] = {
    ("POST", "/banks"): Role.ADMIN,
    ("GET", "/banks"): Role.READ,
    ("GET", "/bank"): Role.READ,
    ("PATCH", "/bank"): Role.ADMIN,
    ("DELETE", "/bank"): Role.ADMIN,
    ("GET", "/bank/operations/create"): Role.READ,
    ("GET", "/bank/operations/update"): Role.READ,
    ("POST", "/bank/:ingestEvents"): Role.INGEST,
    ("POST", "/bank/memories:generate"): Role.INGEST,
    ("POST", "/bank/memories:retrieve"): Role.READ,
    ("POST", "/bank/memories:retrieveProfiles"): Role.READ,
    ("POST", "/bank/memories:purge"): Role.EDIT,
    ("POST", "/bank/memories"): Role.EDIT,
    ("GET", "/bank/memories"): Role.READ,
    ("GET", "/bank/memories/<memory_id>"): Role.READ,
    ("PATCH", "/bank/memories/<memory_id>"): Role.EDIT,
    ("DELETE", "/bank/memories/<memory_id>"): Role.EDIT,
    ("POST", "/bank/memories/<memory_id>:rollback"): Role.EDIT,
    ("GET", "/bank/memories/<memory_id>/revisions"): Role.READ,
    ("GET", "/bank/memories/<memory_id>/revisions/<revision>"): Role.READ,
    ("GET", "/bank/memories/<memory_id>/operations/<name>"): Role.READ,
    ("GET", "/bank/operations/<operation>"): Role.READ,
    ("POST", "/bank/operations/<operation>:redrive"): Role.EDIT,
    ("GET", "/bank/operations"): Role.READ,
    ("POST", "/bank/operations/<operation>:cancel"): Role.EDIT,
    ("DELETE", "/bank/operations/<operation>"): Role.EDIT,
    ("POST", "/bank/operations/<operation>:wait"): Role.READ,
    ("GET", "/bank/usage"): Role.READ,
    ("GET", "/bank/streams"): Role.READ,
    ("POST", "/bank/streams:findEvents"): Role.READ,
    ("POST", "/bank/operations:redrive"): Role.EDIT,
    ("POST", "/bank/:eraseScope"): Role.EDIT,
    ("POST", "/bank/:erase"): Role.ADMIN,
    ("POST", "/bank/:export"): Role.ADMIN,
    ("POST", "/bank/:import"): Role.ADMIN,
    ("POST", "/bank/sessions"): Role.EDIT,
    ("GET", "/bank/sessions"): Role.READ,
    ("GET", "/bank/sessions/<session_id>"): Role.READ,
    ("PATCH", "/bank/sessions/<session_id>"): Role.EDIT,
    ("DELETE", "/bank/sessions/<session_id>"): Role.EDIT,
    ("POST", "/bank/sessions/<session_id>:appendEvent"): Role.EDIT,
    ("GET", "/bank/sessions/<session_id>/events"): Role.READ,
    ("GET", "/bank/sessions/<session_id>/operations/create"): Role.READ,
    ("GET", "/bank/sessions/<session_id>/operations/delete"): Role.READ,
    ("GET", "/bank/chatHistory"): Role.READ,
    ("PUT", "/bank/chatHistory"): Role.EDIT,
    ("DELETE", "/bank/chatHistory"): Role.EDIT,
}
# What reaches over all scopes whatever the request says; other routes ask about the scope that they learn of.
OVER_ALL_SCOPES = {
    ("POST", "/banks"),
    ("PATCH", "/bank"),
    ("DELETE", "/bank"),
    ("POST", "/bank/memories:purge"),
    ("GET", "/bank/operations"),
    ("GET", "/bank/usage"),
    ("GET", "/bank/streams"),
    ("POST", "/bank/operations:redrive"),
    ("POST", "/bank/:erase"),
    ("POST", "/bank/:export"),
    ("POST", "/bank/:import"),
    # A conversation has no scope, so nobody can tell whether it is a bound caller's.
    ("GET", "/bank/chatHistory"),
    ("PUT", "/bank/chatHistory"),
    ("DELETE", "/bank/chatHistory"),
}


def admitted(app: Any, next_middleware: Callable[[Any], Any]) -> Any:
    """Let a request pass to its route if its caller may use it.

    Raises:
        NotFound: the route has no role, or the bank is none of the caller's.
        PermissionDenied: the caller lacks the role, or is bound to a scope.
    """
    route, principal = app.context["_route"], app.context["principal"]
    asked = (route.method, route.path)
    if asked not in ROLES:
        raise NotFound("there is no such route or method")
    access.check(principal, ROLES[asked], app.context["place"].bank)
    if asked in OVER_ALL_SCOPES:
        access.check_unbound(principal)
    return next_middleware(app)
