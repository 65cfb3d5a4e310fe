"""The requests that Google's SDK was recorded to send, and how they are sent again.

The recording is beside the repository, not in it. Each label is a conversation of its own: what it is about is in a
bank of its own, and its later requests poll the operation that its earlier ones were answered with.
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

from tests.journeys.caller import Caller, Document, Stream

RECORDING = Path(__file__).resolve().parents[3] / "shared" / "contract" / "recorded_requests.jsonl"
MISSING = "the recording is not beside this checkout"
BANK = "4242424242424242424"
SCOPE = {"user_id": "123"}

Answer = tuple[Document, str, httpx.Response]


def conversations() -> list[tuple[str, list[Document]]]:
    """Return the recorded requests by label, in their order, each with the line it stands in."""
    if not RECORDING.exists():
        return []
    lines = [json.loads(line) | {"line": at} for at, line in enumerate(RECORDING.read_text().splitlines(), 1)]
    labels = groupby(sorted(lines, key=lambda line: line["label"]), key=lambda line: line["label"])
    return [(label, list(requests)) for label, requests in labels]


def recorded(label: str) -> list[Document]:
    return dict(conversations())[label]


def replayed(caller: Caller, common: str, label: str, requests: list[Document]) -> Iterator[Answer]:
    """Send what was recorded under *label*, and yield each request with the path it went to and its reply."""
    bank = caller.bank() if has_own_bank(label, requests) else common
    furnished(caller, bank, label)
    operation = token = ""
    for request in requests:
        path, query, body = rewritten(request, bank.rsplit("/", 1)[-1], operation, token)
        _remember(caller, bank, path, body)
        reply = caller.client.request(request["method"], path, params=query, json=body)
        caller.settle()
        if reply.is_success:
            document = reply.json()
            operation = document["name"] if "/operations/" in document.get("name", "") else operation
            token = document.get("nextPageToken", "")
        yield request, path, reply


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
    if label == "x:FULLBANK":
        caller.call("PATCH", bank, recorded("bank:create-full")[0]["body"])
    if label == "gen:session" or (label.startswith("sess:") and label != "sess:create"):
        caller.post(f"{bank}/sessions", {"userId": "u"}, params={"sessionId": "77"})


def _remember(caller: Caller, bank: str, path: str, body: Any) -> None:
    """Let the caller flush in the end what an ingest leaves pending."""
    if path.endswith(":ingestEvents") and path.startswith("/v1"):
        caller.streams.append(Stream(caller, bank, body["scope"], body["streamId"], may_wait=True))
