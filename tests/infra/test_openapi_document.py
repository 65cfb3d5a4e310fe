"""The description of the API is complete, valid, and the one that is checked in."""

import json
import re
from pathlib import Path

from openapi_spec_validator import validate
from samtranslator.yaml_helper import yaml_parse

from infra.openapi.__main__ import TARGET, text
from infra.openapi.document import document
from infra.openapi.parameters import MEMORY_ID
from infra.openapi.routes import BANK, BANKS, ROUTES
from streambank import api
from streambank.api import edits
from streambank.model.ids import BANK_ID
from streambank.model.session import SESSION_ID
from streambank.wire import http

TEMPLATE = Path(api.__file__).parents[3] / "template.yaml"


def unnamed(path: str) -> str:
    """Return *path* with its parameters as {}."""
    return re.sub(r"<\w+>|{\w+}", "{}", path)


def routes_of_api_function() -> set[tuple[str, str]]:
    found = [*api._APP._static_routes, *api._APP._dynamic_routes]
    return {(route.method.lower(), unnamed(_public(route.path))) for route in found}


def _public(path: str) -> str:
    if path == "/banks":
        return BANKS
    return BANK + path.removeprefix("/bank").replace("/:", ":", 1)


def routes_of_ingest_function() -> set[tuple[str, str]]:
    events = yaml_parse(TEMPLATE.read_text())["Resources"]["Ingest"]["Properties"]["Events"].values()
    full = [event["Properties"] for event in events if "{project}" in event["Properties"]["Path"]]
    named = {"{version}": "v1beta1", "{collection}": "reasoningEngines"}
    return {
        (one["Method"].lower(), unnamed(re.sub("|".join(named), lambda found: named[found[0]], one["Path"])))
        for one in full
    }


def test_every_route_is_described_and_nothing_else() -> None:
    """The resolver's routes and the template's for ingest are those of the description."""
    described = {(method, unnamed(path)) for path, methods in document()["paths"].items() for method in methods}
    assert described == routes_of_api_function() | routes_of_ingest_function()


def test_checked_in_file_is_fresh() -> None:
    """docs/openapi.json is what `python -m infra.openapi` writes."""
    assert TARGET.read_text(encoding="utf-8") == text()


def test_document_is_valid_openapi() -> None:
    """The description keeps the rules of OpenAPI 3.1, and each operation has its own name."""
    validate(json.loads(text()))
    assert len({route.name for route in ROUTES}) == len(ROUTES)


def test_every_described_path_reaches_a_bank_or_the_banks() -> None:
    """A path made from the description is one that the service takes apart."""
    for path in document()["paths"]:
        place = http.place({"rawPath": re.sub(r"{\w+}", "a", path)})
        assert bool(place.bank) is ("{bank}" in path)


def test_every_status_of_the_service_is_described() -> None:
    """What the table of statuses may answer, but for faults of ours, is a response of the description."""
    described = {int(name.removeprefix("Refused")) for name in document()["components"]["responses"]}
    assert {status for _, status, _ in http._STATUSES} - {500} <= described


def test_ids_are_described_as_they_are_checked() -> None:
    """The patterns of ids, in JavaScript's spelling, take and refuse what the service does."""
    parameters = document()["components"]["parameters"]
    patterns = {
        BANK_ID: parameters["bank"]["schema"]["pattern"],
        SESSION_ID: parameters["session"]["schema"]["pattern"],
        edits._MEMORY_ID: MEMORY_ID["schema"]["pattern"],
    }
    for ours, described in patterns.items():
        for word in ("a", "a-", "-a", "a-b", "A_b.c", ".", "..", "...", "a/b", "a" * 36, "a" * 63, "a" * 64, "a" * 129):
            assert bool(ours.fullmatch(word)) is bool(re.search(described, word)), (described, word)
