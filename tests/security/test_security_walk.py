"""The walk of tests/journeys/test_journey_threats.py is whole: no route can be added past it."""

from infra.openapi.document import full_path
from streambank.api.app import ROUTER
from streambank.wire import parameters
from tests.journeys import tenants


def test_every_route_is_walked():
    """A route that is added without being classified fails here before it fails anybody's privacy."""
    assert {*tenants.PROBES, *tenants.ABOVE} == {route.name for route in ROUTER.routes}
    assert all("{bank}" in full_path(tenants.BY_NAME[name]) for name in tenants.PROBES)
    assert not any("{bank}" in full_path(tenants.BY_NAME[name]) for name in tenants.ABOVE)


def test_every_kind_of_name_is_walked():
    """A path with an id of a new kind would be sent with the kind's name in braces: it fails here first."""
    kinds = {kind for kind in parameters.IN_PATH if any(f"{{{kind}}}" in full_path(route) for route in ROUTER.routes)}
    assert kinds == {"project", "location", "bank", "memory", "revision", "review", "session", "operation"}
    assert kinds == set(parameters.IN_PATH)


def test_every_route_that_takes_a_body_is_sent_one():
    """A probe of a route that needs a body has one: an empty call would be refused before anybody asked whose it is."""
    needing = {route.name for route in ROUTER.routes if route.body and route.needs_body} - set(tenants.ABOVE)
    assert {name for name, probes in tenants.PROBES.items() if all(one.body for one in probes)} >= needing
