"""The document: routes, bodies, answers and refusals put together."""

import re
from typing import Any

from pydantic import BaseModel

from infra.openapi import asked, refused, schemas
from infra.openapi.parameters import IN_PATH, JsonObject
from infra.openapi.route import Route
from infra.openapi.routes import ROUTES
from streambank import __version__
from streambank.wire import requests

_DESCRIPTION = """Long-term memory for agents: stream conversation events in, get memories out.

Every path also exists under `/v1`, without `projects/{project}/locations/{location}`, and with `memoryBanks` in the
place of `reasoningEngines`. `GET` of an operation also exists under `memories/{memory}` and `sessions/{session}`.
Fields may be spelled in camelCase or snake_case at every level, null counts as absent, whole numbers may be strings,
and the lengths of strings are counted in bytes of UTF-8."""
_SECURITY = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "Local mode takes the token `local`."},
    "apiKey": {"type": "apiKey", "in": "header", "name": "x-goog-api-key"},
}
_UNREADABLE = "A field breaks a rule, or the state does not allow this; nothing of the call is stored."
_REFUSALS = {
    "400": _UNREADABLE,
    "401": "There is no token, or another one.",
    "403": "The caller may not do this.",
    "404": "There is no such resource, or no such route.",
    "409": "The id is taken.",
    "412": "It is not the version that was asked for; nothing was written.",
    "413": "The body is too large.",
    "429": "The gateway lets no more calls through; send the same call again.",
    "503": "Too busy, or out of reach: send the same call again after Retry-After seconds.",
}
_BY_GATEWAY = {"401", "403", "404", "413", "429", "503"}
_EVERYWHERE = {"400", "401", "403", "404", "429", "503"}


def document() -> JsonObject:
    """Return the OpenAPI document."""
    paths: JsonObject = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Streambank", "version": __version__, "description": _DESCRIPTION},
        "servers": [{"url": "http://127.0.0.1:8080", "description": "Local mode"}],
        "security": [{name: []} for name in _SECURITY],
        "paths": paths,
        "components": {
            "parameters": IN_PATH,
            "responses": {f"Refused{code}": _refusal(code) for code in _REFUSALS},
            "schemas": _schemas(),
            "securitySchemes": _SECURITY,
        },
    }


def _schemas() -> JsonObject:
    """The twins come last: a rule of a bank's is read by hand too, and more strictly than its model says."""
    bodies: set[type[BaseModel]] = {route.body for route in ROUTES if route.body}
    models: set[type[BaseModel]] = {body for body in bodies if body.__module__ == requests.__name__}
    answers: set[type[BaseModel]] = {route.answer for route in ROUTES} | {refused.Error, refused.GatewayError}
    return schemas.components(models, answers, [*(bodies - models), *asked.STRICTER])


def _operation(route: Route) -> JsonObject:
    found: JsonObject = {"operationId": route.name, "summary": route.summary, "tags": [route.tag]}
    in_path = re.findall(r"{(\w+)}", route.path)
    found["parameters"] = [{"$ref": f"#/components/parameters/{name}"} for name in in_path] + list(route.parameters)
    if route.body:
        found["requestBody"] = {"required": route.needs_body, "content": _json(schemas.reference(route.body))}
    found["responses"] = {"200": _success(route), **_refused(route)}
    return found


def _success(route: Route) -> JsonObject:
    return {"description": "Done.", "content": _json(schemas.reference(route.answer))}


def _refused(route: Route) -> JsonObject:
    sometimes = {"413": route.body is not None, "409": route.may_exist_already, "412": route.has_expectation}
    codes = _EVERYWHERE | {code for code, may_be in sometimes.items() if may_be}
    return {code: {"$ref": f"#/components/responses/Refused{code}"} for code in sorted(codes)}


def _refusal(code: str) -> JsonObject:
    error, gateway = schemas.reference(refused.Error), schemas.reference(refused.GatewayError)
    found: JsonObject = {"description": _REFUSALS[code]}
    if code == "503":
        found["headers"] = {"Retry-After": {"schema": {"type": "integer"}}}
    return found | {"content": _json({"anyOf": [error, gateway]} if code in _BY_GATEWAY else error)}


def _json(schema: JsonObject) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
