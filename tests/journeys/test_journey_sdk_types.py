"""What Google's SDK makes of the replies to its own requests.

The SDK has a virtual environment of its own: STREAMBANK_SDK_PYTHON names its interpreter, or it is in .venv-sdk.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import httpx
import pytest

from streambank_local.service import LocalService
from tests.journeys.caller import Caller, Document
from tests.journeys.recording import MISSING, RECORDING, conversations, replayed

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).with_name("sdk_types.py")
PYTHON = Path(os.environ.get("STREAMBANK_SDK_PYTHON") or ROOT / ".venv-sdk" / "bin" / "python")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not RECORDING.exists(), reason=MISSING),
    pytest.mark.skipif(not PYTHON.exists(), reason="no Python with Google's SDK: STREAMBANK_SDK_PYTHON, .venv-sdk"),
]

# What the SDK's types have no place for, whoever answers: the contract, sections 4 and 8.
NO_PLACE = {
    "MemoryBankIngestEventsOperation": "response",
    "MemoryBankOperation": "response.contextSpec",
    "RollbackMemoryOperation": "response",
    "DeleteMemoryOperation": "response",
    "DeleteMemoryBankOperation": "response",
    "DeleteRuntimeSessionOperation": "response",
}
# What we say beyond Google: a response's type and generation, a generation's verdicts, a memory's sources.
OURS = re.compile(r"response\.(@type|generateMemoriesOperation|verdicts)\b|(.+\.)?sources\b")


def read(answers: list[Document]) -> list[Document]:
    """Return what the SDK makes of *answers*."""
    command = [str(PYTHON), str(PROGRAM)]
    ran = subprocess.run(command, input=json.dumps(answers), capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stderr
    findings: list[Document] = json.loads(ran.stdout)
    return findings


@pytest.fixture(scope="module")
def answers(service: LocalService, client: httpx.Client) -> list[Document]:
    """Every reply of success to the recording, with the call that began what a poll asks for."""
    common = Caller(service, client).bank()
    found: list[Document] = []
    for label, requests in conversations():
        caller = Caller(service, client)
        for request, path, reply in replayed(caller, common, label, requests):
            if reply.is_success:
                told = {"label": label, "line": request["line"], "method": request["method"], "path": path}
                found.append(told | {"after": requests[0]["path"], "body": reply.text})
        caller.leave()
    return found


@pytest.fixture(scope="module")
def findings(answers: list[Document]) -> list[Document]:
    return read(answers)


def test_each_reply_parses(findings: list[Document]) -> None:
    """The SDK's own methods read every reply of success, and its enums know every value."""
    assert {told["line"]: told["error"] for told in findings if told["error"]} == {}
    assert len(findings) == len({told["line"] for told in findings}) > 140


def test_each_wait_ends(answers: list[Document]) -> None:
    """The SDK polls for ever what is never done: the last poll of every conversation is told that it is."""
    polls = {told["label"]: json.loads(told["body"]) for told in answers if "/operations/" in told["path"]}
    assert [label for label, last in polls.items() if not last["done"]] == []
    assert len(polls) > 10


def is_known(told: Document, place: str) -> bool:
    """Tell whether it is no wonder that the SDK's type has no *place*."""
    above = re.split(r"\[\]|\.", place)
    wanting = NO_PLACE.get(told["type"], "nothing").split(".")
    return above[: len(wanting)] == wanting or OURS.match(place) is not None


def test_no_field_of_a_reply_is_lost(findings: list[Document]) -> None:
    """The SDK drops a field that it does not know without a word: it drops none but what its types never have."""
    lost = {
        (one["line"], one["type"], place) for one in findings for place in one["dropped"] if not is_known(one, place)
    }
    assert lost == set()
