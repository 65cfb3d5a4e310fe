"""Changes that local mode sends: signed, repeated, in order, and on from where it stopped."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from streambank_local.changes.follower import ChangeFollower, InMemory
from streambank_local.changes.targets import (
    SECRET,
    SECRET_FILE,
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    StandardOutput,
    Webhook,
    signature,
    webhook,
)
from streambank_local.service import LocalService
from tests.journeys.caller import DEFAULT_BANK, Caller
from tests.world import World, event

KEY = b"a secret"


class Receiver:
    """A webhook of somebody's: what it got, and how often it is to fail first."""

    def __init__(self) -> None:
        self.failures = 0
        self.got: list[tuple[dict[str, Any], bool]] = []
        self.url = ""

    def handle(self, request: BaseHTTPRequestHandler) -> int:
        body = request.rfile.read(int(request.headers["content-length"]))
        is_signed = request.headers[SIGNATURE_HEADER] == signature(KEY, request.headers[TIMESTAMP_HEADER], body)
        if self.failures:
            self.failures -= 1
            return 503
        self.got.append((json.loads(body), is_signed))
        return 204

    def kinds(self) -> list[str]:
        return [change["kind"] for change, _ in self.got]

    def await_kinds(self, kinds: list[str]) -> None:
        deadline = time.monotonic() + 20
        while self.kinds() != kinds and time.monotonic() < deadline:
            time.sleep(0.02)
        assert self.kinds() == kinds


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(receiver.handle(self))
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}/changes"
    yield receiver
    server.shutdown()
    server.server_close()
    thread.join()


@contextmanager
def serving(receiver: Receiver, data: Path) -> Iterator[Caller]:
    target = Webhook(receiver.url, KEY)
    with (
        LocalService(data=data, timer_enabled=False, target=target) as service,
        httpx.Client(base_url=service.base_url, headers={"authorization": "Bearer local"}, timeout=60) as client,
    ):
        yield Caller(service, client)


@pytest.mark.slow  # two starts of the service, before `world` starts an emulator for all
def test_a_webhook_is_told_each_change_also_after_a_restart(receiver: Receiver, tmp_path: Path) -> None:
    """Each change is posted once, in order and signed; after a restart the next one comes, and no old one again."""
    with serving(receiver, tmp_path) as caller:
        body = {"scope": caller.scope(), "fact": "Has bees."}
        name = caller.post(f"{DEFAULT_BANK}/memories", body)["response"]["name"]
        caller.call("PATCH", name, {"fact": "Has hens."})
        receiver.await_kinds(["CREATED", "UPDATED"])
    with serving(receiver, tmp_path) as caller:
        caller.delete(name)
        receiver.await_kinds(["CREATED", "UPDATED", "DELETED"])
    assert all(is_signed for _, is_signed in receiver.got)
    assert {change["memory"] for change, _ in receiver.got} == {f"memoryBanks/default/memories/{name.rsplit('/')[-1]}"}
    assert not any("fact" in change for change, _ in receiver.got)


def test_a_follower_goes_on_where_it_stopped(world: World, receiver: Receiver) -> None:
    """Each change of each scope is sent once, in the order of the feed, also by a follower that takes over."""
    kept, target = InMemory(), Webhook(receiver.url, KEY)
    for number in range(3):
        world.ingest(event(f"bee {number}", f"e{number}"), scope={"user_id": f"u{number % 2}"})
        world.settle()
        ChangeFollower(world.table, target, kept, world.clock, lambda: 0).send_all()
        assert receiver.kinds() == ["CREATED"] * (number + 1)
        world.clock.move(minutes=1)
    assert [change["scope"]["user_id"] for change, _ in receiver.got] == ["u0", "u1", "u0"]
    assert len({change["id"] for change, _ in receiver.got}) == 3


def test_what_a_webhook_does_not_take_is_sent_again(receiver: Receiver) -> None:
    """A failure is repeated with pauses that grow, until it is taken or the service stops."""
    receiver.failures, pauses = 3, list[float]()

    def wait(seconds: float) -> bool:
        pauses.append(seconds)
        return len(pauses) > 9

    target = Webhook(receiver.url, KEY)
    assert target.send({"id": "1", "kind": "CREATED"}, wait)
    assert (pauses, receiver.kinds()) == ([1.0, 2.0, 4.0], ["CREATED"])
    receiver.failures = 99
    assert not target.send({"id": "2", "kind": "CREATED"}, wait)
    assert pauses[3:] == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0]
    assert not Webhook("http://127.0.0.1:9/nobody", KEY).send({"id": "3"}, lambda _seconds: True)


def test_a_webhook_needs_a_url_and_a_secret(tmp_path: Path) -> None:
    """A secret comes from the environment or from a file; without one, or with a URL that is none, nothing starts."""
    file = tmp_path / "secret"
    file.write_text("a secret\n")
    assert isinstance(webhook("https://example.org/x", {SECRET: "s"}), Webhook)
    assert isinstance(webhook("https://example.org/x", {SECRET_FILE: str(file)}), Webhook)
    for url, environment in (("https://example.org/x", {}), ("ftp://example.org", {SECRET: "s"}), ("x", {SECRET: "s"})):
        with pytest.raises(ValueError, match="webhook"):
            webhook(url, environment)


def test_standard_output_has_a_line_for_each_change(capsys: pytest.CaptureFixture[str]) -> None:
    """Each change is one line of JSON."""
    for number in range(2):
        assert StandardOutput().send({"id": str(number)}, lambda _seconds: False)
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [{"id": "0"}, {"id": "1"}]
