"""The routes of the function `Api`, put together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streambank.api import (
    banks,
    changes,
    chat,
    consent,
    events,
    generation,
    job_operations,
    jobs,
    memories,
    memory_batches,
    memory_changes,
    operations,
    replays,
    retrieval,
    reviews,
    sessions,
    streams,
    usage,
)
from streambank.api.api_request import ApiRequest
from streambank.api.router import Router
from streambank.rules import access
from streambank.wire import http
from streambank.wiring.api import ApiWiring

_MODULES = (
    usage,
    jobs,
    streams,
    banks,
    memories,
    memory_changes,
    memory_batches,
    reviews,
    changes,
    retrieval,
    generation,
    sessions,
    chat,
    consent,
    operations,
    job_operations,
    replays,
)
ROUTER = Router((*events.ROUTES, *(route for module in _MODULES for route in module.routes.declared)))


def respond(event: Mapping[str, Any], wiring: ApiWiring) -> http.Response:
    """Answer an API Gateway event. Raises StreambankError: whatever its route raises."""
    principal = wiring.authenticate(event)
    request = ApiRequest(event, http.bank_path(event), principal, wiring)
    access.check_bank(principal, request.path.bank)  # before the path's methods are told
    route, path_arguments = ROUTER.match(request.method, request.path)
    return route.respond(request, path_arguments)
