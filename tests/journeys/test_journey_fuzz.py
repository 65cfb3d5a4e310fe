"""Requests that nobody would send: made from the description by a fuzzer, and those that a fuzzer cannot write."""

import subprocess
import sys
from typing import Any

import httpx
import pytest

from infra.fuzz.__main__ import FUZZER, ROOT
from tests.journeys.caller import DEFAULT_BANK, PARENT, VERSION

BANKS = f"{VERSION}/{PARENT}"
BANK = f"{VERSION}/{DEFAULT_BANK}"
HALF = r'"\ud800"'


def config(inner: str) -> str:
    return f'{{"contextSpec": {{"memoryBankConfig": {inner}}}}}'


def schema(inner: str) -> str:
    return config(f'{{"structuredMemoryConfigs": [{{"schemaConfigs": [{{"id": "a", "jsonSchema": {inner}}}]}}]}}')


def nested(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


def scoped(inner: str) -> str:
    return f'{{"scope": {{"user_id": "123"}}, {inner}}}'


BODIES = {
    "half a surrogate pair as a bank's name": (BANKS, f'{{"displayName": {HALF}}}'),
    "half a surrogate pair as a scope key": (BANKS, config(f'{{"customizationConfigs": [{{"scopeKeys": [{HALF}]}}]}}')),
    "half a surrogate pair in a schema": (BANKS, schema(f'{{"a": {HALF}}}')),
    "a schema of 300 levels": (BANKS, schema(nested(300))),
    "half a surrogate pair in a part": (
        f"{BANK}/memories:ingestEvents",
        scoped(f'"directContentsSource": {{"events": [{{"content": {{"parts": [{{"text": {HALF}}}]}}}}]}}'),
    ),
    "half a surrogate pair in a fact": (f"{BANK}/memories", scoped(f'"fact": {HALF}')),
    "half a surrogate pair in a filter": (f"{BANK}/memories:retrieve", scoped(f'"filter": {HALF}')),
    "half a surrogate pair in a state": (f"{BANK}/sessions", f'{{"userId": "u", "sessionState": {{"a": {HALF}}}}}'),
    "a state of 900 levels": (f"{BANK}/sessions", f'{{"userId": "u", "sessionState": {nested(900)}}}'),
    "100,000 brackets": (f"{BANK}/memories", "[" * 100_000),
    "5,000 digits": (f"{BANK}/memories", "1" * 5_000),
    "not a number": (f"{BANK}/memories", "NaN"),
}
CASES = list(BODIES)


@pytest.mark.parametrize("name", CASES)
def test_body_that_is_hardly_json_is_refused(client: httpx.Client, name: str) -> None:
    """Half a surrogate pair, endless nesting and endless numbers are the caller's fault, never ours."""
    path, body = BODIES[name]
    answer = client.post(path, content=body)
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["status"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize("name", ["m" * 3_000, "\U00020000" * 256, "%2F", "%00", "%FF", "a%23b", "..a", ":", "a:b"])
@pytest.mark.parametrize("kind", ["memories", "sessions", "operations"])
def test_name_that_nothing_has_is_not_found(client: httpx.Client, kind: str, name: str) -> None:
    """However long or odd an id is, there is nothing of that name."""
    answers: list[Any] = [client.get(f"{BANK}/{kind}/{name}"), client.delete(f"{BANK}/{kind}/{name}")]
    assert [one.status_code for one in answers] == [404, 404]


@pytest.mark.slow
@pytest.mark.skipif(not FUZZER.exists(), reason="make fuzz installs the fuzzer")
def test_no_request_meets_a_fault_or_an_undescribed_answer() -> None:
    """Of 2,000 requests none is answered with a 500, or with a status or a body that the description does not have."""
    done = subprocess.run(
        [sys.executable, "-m", "infra.fuzz"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=1_900
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-5_000:]
