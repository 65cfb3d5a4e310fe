"""The OpenAPI document: every route with its request, its reply and its errors."""

import re
from typing import Any

from infra.openapi import schemas
from streambank import __version__
from streambank.api.app import ROUTER
from streambank.api.route import Route
from streambank.wire import http, parameters

JsonObject = dict[str, Any]
BANKS = "/v1beta1/projects/{project}/locations/{location}/reasoningEngines"
BANK = f"{BANKS}/{{bank}}"
_KINDS = ("memories", "sessions", "operations", "chatHistory")
_DESCRIPTION = """Long-term memory for agents: stream conversation events in, get memories out.

Every path also exists under `/v1`, without `projects/{project}/locations/{location}`, and with `memoryBanks` in the
place of `reasoningEngines`. `GET` of an operation also exists under `memories/{memory}` and `sessions/{session}`.
Fields may be spelled in camelCase or snake_case at every level, null counts as absent, whole numbers may be strings,
and the lengths of strings are counted in bytes of UTF-8."""
_SECURITY = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "Local mode accepts the token `local`."},
    "apiKey": {"type": "apiKey", "in": "header", "name": "x-goog-api-key"},
}
_REFUSALS = {
    "400": "A field breaks a rule, or the state does not allow this; nothing of the call is stored.",
    "401": "There is no token, or it is not valid.",
    "403": "The caller may not do this.",
    "404": "There is no such resource, or no such route.",
    "405": "The path has other methods: those in the header Allow.",
    "409": "The id is taken, or the idempotency key was used with another body.",
    "412": "The resource is not in the expected version; nothing was written.",
    "413": "The body is too large.",
    "429": "The gateway accepts no more calls for now, or the tokens of the bank's day are used up.",
    "503": "Too busy, or out of reach; send the same call again after Retry-After seconds.",
}
_BY_GATEWAY = {"401", "403", "404", "413", "429", "503"}
_EVERYWHERE = {"400", "401", "403", "404", "429", "503"}


def document() -> JsonObject:
    """Return the OpenAPI document."""
    paths: JsonObject = {}
    for route in ROUTER.routes:
        paths.setdefault(full_path(route), {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Streambank", "version": __version__, "description": _DESCRIPTION},
        "servers": [{"url": "http://127.0.0.1:8080", "description": "Local mode"}],
        "security": [{name: []} for name in _SECURITY],
        "paths": paths,
        "components": {
            "parameters": parameters.IN_PATH,
            "responses": {f"Refused{code}": _error_response(code) for code in _REFUSALS},
            "schemas": _schemas(),
            "securitySchemes": _SECURITY,
        },
    }


def full_path(route: Route) -> str:
    """Return the path of a route from the root, in the longest of its spellings."""
    return BANKS if route.is_collection else BANK + route.path


def _schemas() -> JsonObject:
    replies = {shape for route in ROUTER.routes for shape in schemas.alternatives(route.reply)}
    bodies = {route.body for route in ROUTER.routes if route.body}
    return schemas.components(replies | {http.Error, http.GatewayError}, bodies)


def _operation(route: Route) -> JsonObject:
    in_path = re.findall(r"{(\w+)}", full_path(route))
    operation: JsonObject = {"operationId": route.name, "summary": route.summary, "tags": [_tag(route)]}
    operation["parameters"] = [{"$ref": f"#/components/parameters/{name}"} for name in in_path] + list(route.parameters)
    if route.body:
        operation["requestBody"] = {"required": route.needs_body, "content": _json(schemas.reference(route.body))}
    success = {"description": "Done.", "content": _json(schemas.reference(route.reply))}
    return {**operation, "responses": {"200": success, **_errors(route)}}


def _tag(route: Route) -> str:
    """Return the kind of resource that a route is about."""
    return next((kind for kind in _KINDS if f"/{kind}" in route.path or kind in route.name), "banks")


def _errors(route: Route) -> JsonObject:
    conditional = {
        "413": route.body is not None,
        "409": route.creates or parameters.IDEMPOTENCY_KEY in route.parameters,
        "412": parameters.IF_MATCH in route.parameters,
    }
    codes = _EVERYWHERE | {code for code, is_possible in conditional.items() if is_possible}
    return {code: {"$ref": f"#/components/responses/Refused{code}"} for code in sorted(codes)}


def _error_response(code: str) -> JsonObject:
    error, gateway = schemas.reference(http.Error), schemas.reference(http.GatewayError)
    response: JsonObject = {"description": _REFUSALS[code]}
    if code == "503":
        response["headers"] = {"Retry-After": {"schema": {"type": "integer"}}}
    return response | {"content": _json({"anyOf": [error, gateway]} if code in _BY_GATEWAY else error)}


def _json(schema: JsonObject) -> JsonObject:
    return {"application/json": {"schema": schema}}
