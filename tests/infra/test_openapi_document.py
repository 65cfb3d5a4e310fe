"""The description of the API is complete, valid, and the one that is checked in."""

import json
import re

from openapi_spec_validator import validate
from samtranslator.yaml_helper import yaml_parse

from infra.openapi.__main__ import TARGET, text
from infra.openapi.document import document, full_path
from streambank.api.app import ROUTER
from streambank.api.memory_changes import _MEMORY_ID
from streambank.model.ids import BANK_ID
from streambank.model.session import SESSION_ID
from streambank.wire import http
from streambank.wire.parameters import MEMORY_ID
from tests.aws import ROOT

TEMPLATE = ROOT / "template.yaml"


def unnamed(path: str) -> str:
    """Return *path* with its parameters as {}."""
    return re.sub(r"<\w+>|{\w+}", "{}", path)


def routes_of_ingest_function() -> set[tuple[str, str]]:
    events = yaml_parse(TEMPLATE.read_text())["Resources"]["Ingest"]["Properties"]["Events"].values()
    full = [event["Properties"] for event in events if "{project}" in event["Properties"]["Path"]]
    named = {"{version}": "v1beta1", "{collection}": "reasoningEngines"}
    return {
        (one["Method"].lower(), unnamed(re.sub("|".join(named), lambda found: named[found[0]], one["Path"])))
        for one in full
    }


def test_every_route_is_described_and_nothing_else() -> None:
    """The declared routes are those of the description, and the template's for ingest are among them."""
    described = {(method, unnamed(path)) for path, methods in document()["paths"].items() for method in methods}
    assert described == {(route.method.lower(), unnamed(full_path(route))) for route in ROUTER.routes}
    assert routes_of_ingest_function() <= described


def test_checked_in_file_is_fresh() -> None:
    """docs/openapi.json is what `python -m infra.openapi` writes."""
    assert TARGET.read_text(encoding="utf-8") == text()


def test_document_is_valid_openapi() -> None:
    """The description keeps the rules of OpenAPI 3.1, and each operation has its own name."""
    validate(json.loads(text()))
    assert len({route.name for route in ROUTER.routes}) == len(ROUTER.routes)


def test_every_described_path_reaches_a_bank_or_the_banks() -> None:
    """A path made from the description is one that the service takes apart."""
    for path in document()["paths"]:
        bank_path = http.bank_path({"rawPath": re.sub(r"{\w+}", "a", path)})
        assert bool(bank_path.bank) is ("{bank}" in path)


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
        _MEMORY_ID: MEMORY_ID["schema"]["pattern"],
    }
    for ours, described in patterns.items():
        for word in ("a", "a-", "-a", "a-b", "A_b.c", ".", "..", "...", "a/b", "a" * 36, "a" * 63, "a" * 64, "a" * 129):
            assert bool(ours.fullmatch(word)) is bool(re.search(described, word)), (described, word)
