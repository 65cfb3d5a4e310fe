"""Routes: which a path has, which parameters they take, and what is said of others."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from streambank import api
from streambank.api.app import ROUTER, respond
from streambank.api.route import Route
from streambank.errors import MethodNotAllowed, NotFound, Unauthenticated
from streambank.wire import http
from streambank.wire.http import BankPath

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
API = Path(api.__file__).parent


def path_of(route: Route) -> BankPath:
    rest = route.path
    for name in ("memory", "session", "operation", "revision"):
        rest = rest.replace(f"{{{name}}}", "1")
    return BankPath("reasoningEngines", "" if route.is_collection else "default", rest)


def match(method: str, path: BankPath) -> Route | tuple[str, ...]:
    """Return the route of a request, or the methods that its path has instead."""
    try:
        return ROUTER.match(method, path)[0]
    except MethodNotAllowed as error:
        return error.allowed


@pytest.mark.parametrize("route", ROUTER.routes, ids=lambda route: route.name)
def test_a_path_has_its_methods_and_no_others(route):
    """A route is taken by its own method; the other methods are refused with those that the path has."""
    path = path_of(route)
    matches = {method: match(method, path) for method in METHODS}
    assert matches[route.method] is route
    taken = {method for method, one in matches.items() if isinstance(one, Route)}
    assert {frozenset(one) for one in matches.values() if not isinstance(one, Route)} == {frozenset(taken)}


@pytest.mark.parametrize(
    ("method", "rest", "allowed"),
    [
        ("GET", "/memories:ingestEvents", ("POST",)),
        ("GET", ":ingestEvents", ("POST",)),
        ("GET", "/memories/m1:rollback", ("POST",)),
        ("POST", "/memories/m1", ("DELETE", "GET", "PATCH")),
        ("HEAD", "/memories", ("GET", "POST")),
    ],
)
def test_a_refused_method_is_405_with_what_is_allowed(method, rest, allowed):
    """The header `Allow` and the message name the methods of the path."""
    with pytest.raises(MethodNotAllowed) as error:
        ROUTER.match(method, BankPath("reasoningEngines", "default", rest))
    reply = http.error_response(error.value)
    shown = json.loads(reply["body"])["error"]
    assert (reply["statusCode"], reply["headers"]["allow"]) == (405, ", ".join(allowed))
    assert (shown["code"], shown["status"]) == (405, "UNIMPLEMENTED")
    assert all(one in shown["message"] for one in (method, *allowed))


@pytest.mark.parametrize("rest", ["/nothing", "/memories/a/b/c", "/memories:nothing", ":nothing", "/"])
def test_a_path_without_any_method_is_404(rest):
    """What no route has is not found, whatever the method."""
    for method in METHODS:
        with pytest.raises(NotFound):
            ROUTER.match(method, BankPath("reasoningEngines", "default", rest))


def test_a_caller_without_credentials_learns_no_methods():
    """Who calls is asked first: the same refusal meets every path and method."""

    class Wiring:
        @staticmethod
        def authenticate(_):
            raise Unauthenticated("who are you?")

    for method, path in (("GET", "memories:ingestEvents"), ("POST", "memories:ingestEvents"), ("GET", "nothing")):
        event = {
            "rawPath": f"/v1/reasoningEngines/default/{path}",
            "requestContext": {"http": {"method": method}},
            "queryStringParameters": {"x": "1"},
        }
        with pytest.raises(Unauthenticated):
            respond(event, Wiring())


def reads(module: Path) -> set[str]:
    """Return the names of the parameters that a module reads from a query: `query.get("name")`, `query["name"]`."""
    found = set()
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            source, key = node.func.value, node.args[0]
        elif isinstance(node, ast.Subscript):
            source, key = node.value, node.slice
        else:
            continue
        if ast.unparse(source).split(".")[-1] == "query" and isinstance(key, ast.Constant):
            found.add(key.value)
    return found


@pytest.mark.parametrize("module", sorted(API.glob("*.py")), ids=lambda module: module.stem)
def test_what_a_module_reads_its_routes_declare(module):
    """A parameter that no route declares would be refused before it could be read."""
    of_module = [one for one in ROUTER.routes if one.handler.__module__ == f"streambank.api.{module.stem}"]
    routes = of_module or ROUTER.routes
    assert reads(module) <= {name for route in routes for name in route.query_parameters}
