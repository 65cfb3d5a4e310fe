"""Every request that Google's SDK was recorded to send, replayed.

What the SDK's own types make of the replies is in test_journey_sdk_types.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from streambank_local.service import LocalService
from tests.journeys.caller import DEFAULT_BANK, VERSION, Caller, Document
from tests.journeys.recording import MISSING, RECORDING, conversations, replayed

NO_VERSION = "no version in the path: no such route"
ROOT = "base_url alone makes the SDK discard the path"
NO_FILTER = "a=b names no field of a memory, and an unknown filter is refused"
NO_OPERATION = "no call of the label was answered with this operation"
NO_TOKEN = "the recorder's token is none of ours"

# What is no 200: the statuses of a label's requests, in their order, and why.
EXPECTED: dict[str, tuple[list[int], str]] = {
    "auth:base_url-only": ([404], ROOT),
    "auth:base_url-only/short-name": ([404], ROOT),
    "auth:base_url-only+headers": ([404], ROOT),
    "auth:base_url-only+headers/short-name": ([404], ROOT),
    "auth:base-path-prefix": ([404], "a stage's prefix is API Gateway's, which takes it off before"),
    "auth:base-path-prefix/short-name": ([404], "a stage's prefix is API Gateway's, which takes it off before"),
    "auth:scope-COLLECTION": ([404], NO_VERSION),
    "auth:scope-COLLECTION/short-name": ([404], NO_VERSION),
    "aio:banks-list": ([200, 400], NO_TOKEN),
    "vertexai:list": ([200, 400], NO_TOKEN),
    "bank:_get_op": ([404], NO_OPERATION),
    "x:PURGE_DONE": ([400], NO_FILTER),
    "x:purge-polled": ([400, 404, 404], NO_FILTER),
    "x:vertexai-purge-polled": ([400, 404, 404], NO_FILTER),
    "x:OPNONAME-wait": ([200, 404], "{operationName} is what the SDK polls if a reply has no name: ours has one"),
    "x:event_count-string": ([400], "idle_duration and fixed_interval exclude each other"),
    "x:name-with-slash": ([404], "two slashes and two projects are no route"),
}


MAPS = {
    "metadata",
    "verdictCounts",
    "scope",
    "labels",
    "revisionLabels",
    "sessionState",
    "args",
    "profile",
    "properties",
}
CAMEL = re.compile(r"@?[a-z][a-zA-Z0-9]*")


def fields(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every field of a document but the entries of maps, whose keys are the caller's."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield f"{path}.{key}", item
            is_map = key in MAPS and not (key == "metadata" and "@type" in (item or {}))
            yield from () if is_map else fields(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from fields(item, path)


def check_shape(request: Document, path: str, reply: Document) -> None:
    """Check what every reply of success keeps to: camelCase, no nulls, names as the caller spells them."""
    assert '":null' not in json.dumps(reply, separators=(",", ":"))
    parent = re.sub(r"^/v1(beta1)?/", "", path)
    parent = parent[: re.search(r"(reasoningEngines|memoryBanks)", parent).end()]
    for where, value in fields(reply):
        assert CAMEL.fullmatch(where.rpartition(".")[2]), where
        if isinstance(value, str) and re.search(r"(reasoningEngines|memoryBanks)/", value):
            assert value.startswith(f"{parent}/"), (where, value)
    is_made = request["method"] in {"PATCH", "DELETE"} or re.search(r"(reasoningEngines|memories|sessions)$", path)
    is_operation = "/operations/" in path or re.search(r":(ingestEvents|generate|purge|rollback)$", path)
    if is_operation or (is_made and request["method"] != "GET"):
        assert "/operations/" in reply["name"]
        assert isinstance(reply["done"], bool)
        assert not (reply["done"] and "response" not in reply)
    if reply.get("contextSpec") is not None:
        assert reply["contextSpec"]["memoryBankConfig"]


@pytest.fixture(scope="module")
def common(service: LocalService, client: httpx.Client) -> str:
    """A bank for what leaves nothing behind that the next would notice."""
    return Caller(service, client).bank()


@pytest.mark.skipif(not RECORDING.exists(), reason=MISSING)
@pytest.mark.parametrize(("label", "requests"), [pytest.param(*one, id=one[0]) for one in conversations()])
def test_recorded_requests_are_answered(caller: Caller, common: str, label: str, requests: list[Document]) -> None:
    """Each recorded request has the status that the contract gives it, and a reply in the contract's shape."""
    statuses = []
    for request, path, reply in replayed(caller, common, label, requests):
        statuses.append(reply.status_code)
        if reply.is_success:
            check_shape(request, path, reply.json())
        else:
            assert reply.json()["error"]["code"] == reply.status_code
    expected, why = EXPECTED.get(label, ([200] * len(requests), "success is 200 and nothing else"))
    assert statuses == expected, why


@pytest.mark.skipif(not RECORDING.exists(), reason=MISSING)
def test_table_names_labels_of_the_recording() -> None:
    """The table of exceptions has no label that is not recorded."""
    known = {label for label, _ in conversations()}
    assert known >= EXPECTED.keys()


@pytest.mark.parametrize("key", ["authorization", "x-goog-api-key"])
def test_recorded_ways_to_authorise(client: httpx.Client, key: str) -> None:
    """The SDK's credentials are a bearer token, its api_key a header of Google's: either is a caller."""
    value = {"authorization": "Bearer local", "x-goog-api-key": "local"}[key]
    request = client.build_request("GET", f"{VERSION}/{DEFAULT_BANK}", headers={"x-goog-user-project": "quota"})
    del request.headers["authorization"]
    request.headers[key] = value
    assert client.send(request).status_code == 200
