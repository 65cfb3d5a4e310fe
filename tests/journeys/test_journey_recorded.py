"""Every request that Google's SDK was recorded to send, replayed.

The recording is beside the repository, not in it. Each label is a conversation of its own: what it is about is in a
bank of its own, and its later requests poll the operation that its earlier ones were answered with.
What the SDK's own types make of the replies is checked by the contract's google_sdk.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import httpx
import pytest

from infra.local.service import LocalService
from tests.journeys.caller import DEFAULT_BANK, VERSION, Caller, Document, Stream

RECORDING = Path(__file__).resolve().parents[3] / "shared" / "contract" / "recorded_requests.jsonl"
BANK = "4242424242424242424"
SCOPE = {"user_id": "123"}

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


def conversations() -> list[Any]:
    """Return the recorded requests by label, in their order."""
    if not RECORDING.exists():
        return []
    lines = [json.loads(line) for line in RECORDING.read_text().splitlines()]
    labels = groupby(sorted(lines, key=lambda line: line["label"]), key=lambda line: line["label"])
    return [_conversation(label, list(requests)) for label, requests in labels]


def _conversation(label: str, requests: list[Document]) -> Any:
    return pytest.param(label, requests, id=label)


def rewritten(request: Document, bank: str, operation: str, token: str) -> tuple[str, dict[str, str], Any]:
    """Return path, query and body of a request for *bank*, after replies with *operation* and *token*."""
    path, *rest = re.split(r"(?<=/operations/)\d{5,}$", request["path"])
    if rest and operation:
        path = f"{path.split('/projects/', maxsplit=1)[0]}/{operation}"
    path = request["path"] if rest and not operation else path
    path = path.replace(BANK, bank).replace("memoryBanks/mb1", f"memoryBanks/{bank}")
    # Ids of memories begin with a letter here: the memory that the recorder called 1 is `one`.
    path = re.sub(r"/memories/1(?=/|:|$)", "/memories/one", path)
    query = dict(parse_qsl(request["query"], keep_blank_values=True))
    path = path.replace("/sessions/77", _session(operation) or "/sessions/77")
    # A page of one has a next; the other lists were recorded with a token that no reply of ours gives.
    if token and query.keys() >= {"pageToken", "pageSize"}:
        query["pageToken"] = token
    return path, query, json.loads(json.dumps(request["body"]).replace(BANK, bank))


def _session(operation: str) -> str:
    found = re.search(r"/sessions/[^/]+", operation)
    return found[0] if found else ""


def has_own_bank(label: str, requests: list[Document]) -> bool:
    """Tell whether *label* is about what is in a bank, or changes the bank itself."""
    changes = any(request["method"] in {"PATCH", "DELETE"} for request in requests)
    return changes or label.startswith(("mem:", "rev:", "sess:", "gen:session", "x:"))


def furnished(caller: Caller, bank: str, label: str) -> None:
    """Put into *bank* what the requests of *label* are about."""
    if label.startswith(("mem:", "rev:", "x:SNAKERESP", "x:NEWENUM", "x:ERRAPIGW", "x:ERRFLAKY")):
        memories = f"{bank}/memories"
        caller.post(memories, {"fact": "f1", "scope": SCOPE}, params={"memoryId": "one"})
        caller.post(memories, {"fact": "other", "scope": SCOPE}, params={"memoryId": "two"})
        for number in range(2, 10) if label in {"mem:rollback", "rev:get"} else ():
            caller.call("PATCH", f"{memories}/one", {"fact": f"f{number}"})
    if label == "gen:session" or (label.startswith("sess:") and label != "sess:create"):
        caller.post(f"{bank}/sessions", {"userId": "u"}, params={"sessionId": "77"})


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


@pytest.mark.skipif(not RECORDING.exists(), reason="the recording is not beside this checkout")
@pytest.mark.parametrize(("label", "requests"), conversations())
def test_recorded_requests_are_answered(caller: Caller, common: str, label: str, requests: list[Document]) -> None:
    """Each recorded request has the status that the contract gives it, and a reply in the contract's shape."""
    bank = caller.bank() if has_own_bank(label, requests) else common
    furnished(caller, bank, label)
    operation = token = ""
    statuses = []
    for request in requests:
        path, query, body = rewritten(request, bank.rsplit("/", 1)[-1], operation, token)
        _remember(caller, bank, path, body)
        reply = caller.client.request(request["method"], path, params=query, json=body)
        caller.settle()
        statuses.append(reply.status_code)
        document = reply.json()
        if reply.is_success:
            check_shape(request, path, document)
            operation = document["name"] if "/operations/" in document.get("name", "") else operation
            token = document.get("nextPageToken", "")
        else:
            assert document["error"]["code"] == reply.status_code
    expected, why = EXPECTED.get(label, ([200] * len(requests), "success is 200 and nothing else"))
    assert statuses == expected, why


def _remember(caller: Caller, bank: str, path: str, body: Any) -> None:
    """Let the caller flush in the end what an ingest leaves pending."""
    if path.endswith(":ingestEvents") and path.startswith("/v1"):
        caller.streams.append(Stream(caller, bank, body["scope"], body["streamId"], may_wait=True))


def test_table_names_labels_of_the_recording() -> None:
    """The table of exceptions has no label that is not recorded."""
    if not RECORDING.exists():
        pytest.skip("the recording is not beside this checkout")
    known = {parameters.values[0] for parameters in conversations()}
    assert known >= EXPECTED.keys()


@pytest.mark.parametrize("key", ["authorization", "x-goog-api-key"])
def test_recorded_ways_to_authorise(client: httpx.Client, key: str) -> None:
    """The SDK's credentials are a bearer token, its api_key a header of Google's: either is a caller."""
    value = {"authorization": "Bearer local", "x-goog-api-key": "local"}[key]
    request = client.build_request("GET", f"{VERSION}/{DEFAULT_BANK}", headers={"x-goog-user-project": "quota"})
    del request.headers["authorization"]
    request.headers[key] = value
    assert client.send(request).status_code == 200
