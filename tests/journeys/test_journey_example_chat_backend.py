"""The example of a chat backend, run as it is written, against the service."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from streambank_local.service import LocalService
from tests.journeys.caller import Caller

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "chat_backend.py"
_numbers = itertools.count(1)


@contextmanager
def backend(service: LocalService, **environment: str) -> Iterator[httpx.Client]:
    """Run the example in a process of its own, and end it."""
    told = {"STREAMBANK_URL": service.base_url, "STREAMBANK_KEY": "local", **environment}
    command = [sys.executable, str(EXAMPLE), "--port", "0"]
    with subprocess.Popen(command, env={**os.environ, **told}, stdout=subprocess.PIPE, text=True) as process:
        try:
            with httpx.Client(base_url=process.stdout.readline().strip(), timeout=60) as client:
                yield client
        finally:
            process.kill()


def ask(client: httpx.Client, session: str, message: str, *, user: str = "7", **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.post("/chat", json={"sessionId": session, "userId": user, "message": message}, headers=named)


@pytest.fixture
def session() -> str:
    return f"backend {next(_numbers)}/&#"


def test_sessions_go_on_over_requests_and_restarts(service: LocalService, caller: Caller, session: str) -> None:
    """A request sees what was said before, also to a backend that was killed since, and it is remembered."""
    user = caller.scope()["user_id"]
    with backend(service) as client:
        first = ask(client, session, "My name is Ada.", user=user)
        assert first.json()["reply"] == "You said 1 things, the first was: My name is Ada."
        assert "You said 1" in ask(client, session + "other", "I like tea.", user=user).json()["reply"]
    with backend(service) as client:
        reply = ask(client, session, "What is my name?", user=user).json()["reply"]
    assert reply == "You said 2 things, the first was: My name is Ada."
    caller.settle()
    assert any("Ada" in fact for fact in caller.facts({"user_id": user}))


def test_requests_of_one_session_lose_nothing(service: LocalService, session: str) -> None:
    """Of requests at once one is answered and the others are told 409; sent again, all are in the history."""
    with backend(service) as client, ThreadPoolExecutor(4) as pool:

        def until_taken(number: int) -> int:
            for _ in range(100):
                answer = ask(client, session, str(number), x_request_id=f"r{number}")
                if answer.status_code != 409:
                    return answer.status_code
            raise AssertionError("never taken")

        assert set(pool.map(until_taken, range(8))) == {200}
        assert "You said 9 things" in ask(client, session, "last").json()["reply"]


def test_what_is_no_question_is_refused(service: LocalService) -> None:
    """The caller's faults are 400, and none of them ends the backend."""
    with backend(service) as client:
        for body in (b"", b"no json", b"[]", b'{"sessionId": ""}', b"x" * 100_001):
            assert client.post("/chat", content=body).status_code == 400
        too_long = ask(client, "x" * 513, "hi")
        assert (too_long.status_code, too_long.json()) == (400, {"error": "ValueError"})


def test_a_store_that_is_out_of_reach_is_no_empty_history(service: LocalService, session: str) -> None:
    """A key that opens nothing is 502: the request fails, rather than going on as if nothing had been said."""
    with backend(service, STREAMBANK_KEY="wrong") as client:
        answer = ask(client, session, "hi")
        assert (answer.status_code, answer.json()) == (502, {"error": "Unauthenticated"})
