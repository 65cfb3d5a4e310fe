"""The client's methods against the table of routes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest

from infra.openapi.document import full_path
from streambank.api.app import ROUTER
from streambank.api.route import Route
from streambank_client import AsyncBank, AsyncStreambank, Bank, Streambank
from streambank_client.errors import NotFound
from streambank_client.http.encoding import camel_case
from streambank_client.routes import BaseRoute
from tests.client import samples
from tests.client.answering import refused, script

DOCS = Path(__file__).resolve().parents[2] / "docs" / "client.md"
# Fields that are written of the arguments named after what is in them.
MADE_OF_OTHERS = {
    "contextSpec",
    "directContentsSource",
    "directMemoriesSource",
    "generationTriggerConfig",
    "similaritySearchParams",
    "simpleRetrievalParams",
    "timeout",
    "vertexSessionSource",
}
# Read-only fields, and what the iterators do themselves.
NOT_GIVEN = {"createTime", "name", "pageToken", "updateTime", "userId"}
# The same function under the discovery document's name; one of the two is enough.
UNDER_ANOTHER_NAME = {"ingestEventsOfBank": "ingestEvents"}


def methods(kind: type) -> dict[str, Any]:
    """Return the routes among a class's attributes."""
    return {name: value for name, value in inspect.getmembers(kind) if isinstance(value, BaseRoute)}


def asked() -> Iterator[tuple[httpx.Request, Any]]:
    """Yield the request that each sample makes, and the function that made it."""
    for table, kind in ((samples.BANK, Bank), (samples.CLIENT, Streambank)):
        for name, calls in table.items():
            for arguments in calls:
                seam = script(refused(404, "NOT_FOUND"))
                owner = seam.client().bank() if kind is Bank else seam.client()
                with pytest.raises(NotFound):
                    list(getattr(owner, name)(**arguments))
                yield seam.asked[0], methods(kind)[name].make_call


ASKED = list(asked())


def fits(request: httpx.Request, route: Route) -> bool:
    path = full_path(route).replace("projects/{project}/locations/{location}/", "")
    template = "/prod" + re.sub(r"\\\{\w+\\\}", "[^/:]+", re.escape(path))
    return request.method == route.method.upper() and bool(re.fullmatch(template, request.url.path))


def given(call: Callable[..., Any]) -> Iterator[str]:
    """Yield the names of a function's arguments, those of its settings too."""
    for name, parameter in inspect.signature(call, eval_str=True).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            yield from get_args(parameter.annotation)[0].__annotations__
        else:
            yield name


def test_every_route_has_a_method() -> None:
    """What the service's table of routes holds is reached by some method of the client."""
    missing = {route.name for route in ROUTER.routes if not any(fits(request, route) for request, _ in ASKED)}
    assert missing == set(UNDER_ANOTHER_NAME)
    assert set(UNDER_ANOTHER_NAME.values()) <= {route.name for route in ROUTER.routes}


def test_every_method_is_sampled() -> None:
    """No method stands outside of the samples that other tests go through."""
    assert set(methods(Bank)) == set(samples.BANK)
    assert set(methods(Streambank)) == set(samples.CLIENT)


@pytest.mark.parametrize(
    "route", [one for one in ROUTER.routes if one.name not in UNDER_ANOTHER_NAME], ids=lambda one: one.name
)
def test_parameters_of_a_route_can_be_given(route: Route) -> None:
    """Each query parameter of a route, and each field of its body, is an argument of its methods or made of some."""
    named = {one["name"] for one in route.parameters if one["in"] == "query"}
    named |= {field.alias or name for name, field in route.body.model_fields.items()} if route.body else set()
    calls = {call for request, call in ASKED if fits(request, route)}
    arguments = {camel_case(name) for call in calls for name in given(call)}
    arguments |= {"ttl"} & {name.removesuffix("Seconds") for name in arguments}
    assert named - arguments - MADE_OF_OTHERS - NOT_GIVEN == set()


def test_both_clients_have_the_same_methods() -> None:
    """Whatever can be done waiting can be done awaiting, by the very same function."""
    for waiting, awaiting in ((Bank, AsyncBank), (Streambank, AsyncStreambank)):
        assert methods(waiting) == methods(awaiting)


def test_methods_tell_about_themselves() -> None:
    """Name, documentation and signature of a method are those of the call, without its place."""
    bank = script(refused(404, "NOT_FOUND")).client().bank()
    assert bank.get_memory.__name__ == "get_memory"
    assert bank.get_memory.__doc__ == Bank.get_memory.__doc__ == methods(Bank)["get_memory"].make_call.__doc__
    assert list(inspect.signature(bank.get_memory).parameters) == ["memory"]


def test_reference_has_every_method() -> None:
    """docs/client.md has an entry for each method of each class, and none for another."""
    told = set(re.findall(r"^### `(\w+)", DOCS.read_text(), re.MULTILINE))
    assert told == set(samples.BANK) | set(samples.CLIENT) | {"bank", "with_options", "close", "wait", "result"}
