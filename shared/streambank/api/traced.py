"""What each route does with memories, in the words of OpenTelemetry's conventions; other routes send no span."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from streambank import tracing
from streambank.wire import http

OPERATIONS: dict[tuple[str, str], str] = {
    ("POST", "/banks"): "create_memory_store",
    ("DELETE", "/bank"): "delete_memory_store",
    ("POST", "/bank/memories:generate"): "upsert_memory",
    ("POST", "/bank/memories:retrieve"): "search_memory",
    ("POST", "/bank/memories:retrieveProfiles"): "search_memory",
    ("POST", "/bank/memories"): "create_memory",
    ("PATCH", "/bank/memories/<memory_id>"): "update_memory",
    ("POST", "/bank/memories/<memory_id>:rollback"): "update_memory",
    ("DELETE", "/bank/memories/<memory_id>"): "delete_memory",
    ("POST", "/bank/memories:purge"): "delete_memory",
    ("POST", "/bank/:eraseScope"): "delete_memory",
    ("POST", "/bank/:erase"): "delete_memory",
}
# The conventions have no operation for events that are no memories yet.
_INGEST = ("POST", "/bank/:ingestEvents")
# What is longer or has other letters is no id of ours, but whatever a caller wrote into a path.
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def traced(app: Any, next_middleware: Callable[[Any], Any]) -> Any:
    """Trace a request that has to do with memories, below the span that its `traceparent` names."""
    context = app.context
    asked = (context["_route"].method, context["_route"].path)
    if asked != _INGEST and asked not in OPERATIONS:
        return next_middleware(app)
    attributes = _attributes(asked, context["place"].bank, context.get("_route_args") or {})
    name = OPERATIONS.get(asked, tracing.INGEST)
    with tracing.span(name, attributes, parent=http.header(context["event"], "traceparent")):
        return next_middleware(app)


def _attributes(asked: tuple[str, str], bank: str, arguments: Mapping[str, str]) -> dict[str, str]:
    memory_id = arguments.get("memory_id", "")
    told = {
        tracing.OPERATION_NAME: OPERATIONS.get(asked, ""),
        tracing.STORE_ID: bank,
        tracing.RECORD_ID: memory_id if _ID.fullmatch(memory_id) else "",
    }
    return {name: value for name, value in told.items() if value}
