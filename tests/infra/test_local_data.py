"""Local mode with a data folder: what is there after a restart, and after `kill -9`."""

import json
import random
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest
from botocore.exceptions import ClientError

from streambank_local.disk.record import Kind, Record
from streambank_local.disk.store import FILE, Store, opened
from streambank_local.emulator import keeping
from streambank_local.emulator.functions import Failure, InvocationResult
from streambank_local.service import LocalService
from tests.journeys.caller import DEFAULT_BANK, VERSION, Caller, said
from tests.killed import WAITS, Sender, ingest_until_killed

LONG = timedelta(days=3)


@contextmanager
def running(data: Path, token: str = "local", **options: Any) -> Iterator[Caller]:
    with (
        LocalService(data=data, **{"timer_enabled": False, **options}) as service,
        httpx.Client(base_url=service.base_url, headers={"authorization": f"Bearer {token}"}, timeout=60) as client,
    ):
        yield Caller(service, client)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_everything_is_there_after_a_restart(data: Path) -> None:
    """Memories, markers, an export, a page token and the clock survive, and a waiting window fires at its time."""
    scope, other = {"user_id": "keeper"}, {"user_id": "other"}
    with running(data) as before:
        before.stream(scope, "s").flush(said("I keep bees.", "e1"), said("I live in Lyon.", "e2"))
        before.stream(other, "waits").send(said("I like tea.", "e3"), rule=WAITS)
        memories = before.memories(scope)
        assert len(memories) == 2
        assert before.service.advance(timedelta(minutes=5))
        export = before.post(f"{DEFAULT_BANK}:export", {})["response"]["source"]
        token = before.get(f"{DEFAULT_BANK}/memories", params={"pageSize": 1})["nextPageToken"]
        assert before.service.advance(LONG - timedelta(minutes=5)) is True
        before.stream({"user_id": "late"}, "late").send(said("I like coffee.", "e4"), rule=WAITS)
        now = before.service.now()
    with running(data) as after:
        assert timedelta(0) <= after.service.now() - now < timedelta(minutes=1)
        assert after.memories(scope) == memories
        assert after.facts(other) == ["I like tea"]
        page = after.get(f"{DEFAULT_BANK}/memories", params={"pageSize": 1, "pageToken": token})
        assert len(page["memories"]) == 1
        repeated = after.stream(scope, "s").send(said("I keep bees.", "e1"))
        assert repeated["metadata"]["duplicateEvents"] == 1
        moved = after.post(f"{after.bank()}:import", {"source": export})
        assert moved["response"]["imported"]["memories"] == 2
        assert after.facts({"user_id": "late"}) == []
        assert after.service.advance(timedelta(minutes=11))
        assert after.facts({"user_id": "late"}) == ["I like coffee"]


@pytest.mark.slow
def test_work_that_was_lost_is_done_soon_after_the_start(data: Path) -> None:
    """The schedule runs once at the start, so that a stream record that was not delivered is not missed."""
    with running(data, poller_enabled=False) as before:
        lost = before.stream({"user_id": "lost"}, "lost")
        lost.send(said("I keep bees.", "e1"), force_flush=True)
        assert before.service.wait_until_idle()
    with running(data, timer_enabled=True) as after:
        deadline = time.monotonic() + 20
        while not after.facts(lost.scope) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert after.facts(lost.scope) == ["I keep bees"]


@pytest.mark.slow
def test_a_window_whose_execution_is_gone_is_generated(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A window that was being generated is started again within three minutes, as the attempt that it was."""
    scope = {"user_id": "held"}
    extracting, stopped = threading.Event(), threading.Event()

    def hold(function: str, event: Any) -> InvocationResult:
        if "Extract" in function:
            extracting.set()
            stopped.wait()
        return InvocationResult(None, Failure("Stopped", "the process has ended"))

    with monkeypatch.context() as patched, running(data) as before:
        patched.setattr(before.service._functions, "invoke_deployed", hold)
        sent = before.stream(scope, "held").send(said("I keep bees.", "e1"), force_flush=True)
        assert extracting.wait(20)
        shutil.copytree(data, data.with_name("killed"))
        stopped.set()
    with running(data.with_name("killed")) as after:
        assert after.facts(scope) == []
        assert after.service.advance(timedelta(minutes=3))
        assert after.facts(scope) == ["I keep bees"]
        done = after.get(sent["name"])
        assert (done["done"], done["metadata"]["state"]) == (True, "DONE")


@pytest.mark.parametrize(("mode", "route", "field"), [("keys", "keys", "key"), ("jwt", "tokens", "token")])
@pytest.mark.slow
def test_credentials_survive(data: Path, mode: str, route: str, field: str) -> None:
    """A key, or a token, that was made before a restart is good after it, and so is `local`; no start adds a key."""
    body: dict[str, Any] = {"bank": "default", "roles": ["read"]}
    if mode == "jwt":
        body = {"streambank_banks": "default", "streambank_roles": "read", "streambank_scope": "*"}
    parameters = {"AuthMode": mode}
    with running(data, parameters=parameters) as before:
        credential = before.post(f"/_local/{route}", body)[field]
    kept = key_items(data)
    with running(data, credential, parameters=parameters) as after:
        after.get(f"{VERSION}/{DEFAULT_BANK}")
        after.get(f"{VERSION}/{DEFAULT_BANK}", headers={"authorization": "Bearer local"})
    assert key_items(data) == kept


def key_items(data: Path) -> int:
    with closing(sqlite3.connect(data / FILE)) as file:
        return int(file.execute("SELECT count(*) FROM records WHERE first LIKE 'A#%'").fetchone()[0])


@pytest.mark.slow
def test_a_clock_that_cannot_be_kept_does_not_move(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An advance is on the disk before its reply; where that fails the reply is 503, as for an event and an object."""
    stores: list[Store] = []
    clock_of = keeping.clock_of
    monkeypatch.setattr(keeping, "clock_of", lambda store: (stores.append(store), clock_of(store))[1])
    with running(data) as caller:
        before = caller.service.now()
        database = stores[0]._database
        database.execute("PRAGMA query_only = 1")
        refused = caller.call("POST", "/_local/clock:advance", {"seconds": 3600}, status=503)
        assert f"the folder {data} cannot be written" in refused["error"]["message"]
        assert caller.service.now() - before < timedelta(minutes=1)
        event = caller.stream({"user_id": "u"}, "s").body(said("I keep bees.", "e1"))
        caller.call("POST", f"{DEFAULT_BANK}/memories:ingestEvents", event, status=503)
        bucket = caller.service.stack.environment()["EXPORT_BUCKET"]
        with pytest.raises(ClientError, match="SlowDown"):
            boto3.client("s3").put_object(Bucket=bucket, Key="k", Body=b"x")
        assert boto3.client("s3").list_objects_v2(Bucket=bucket)["KeyCount"] == 0
        database.execute("PRAGMA query_only = 0")
        sent = caller.post(f"{DEFAULT_BANK}/memories:ingestEvents", event)
        assert sent["metadata"]["acceptedEvents"] == 1


# ---- kill -9


def check_nothing_is_lost_or_doubled(caller: Caller, sender: Sender) -> None:
    path = f"{DEFAULT_BANK}/memories:ingestEvents"
    if sender.acknowledged:
        repeated = caller.post(path, sender.body(sender.acknowledged))["metadata"]
        assert repeated["acceptedEvents"] == 0
        assert repeated["duplicateEvents"] == len(sender.acknowledged)
    last = caller.post(path, sender.body(sender.sent))["metadata"]
    assert last["acceptedEvents"] <= len(sender.sent) - len(sender.acknowledged) <= 1
    assert last["acceptedEvents"] + last["duplicateEvents"] == len(sender.sent)


def check_all_is_generated(caller: Caller, senders: list[Sender]) -> None:
    """Each event was counted once over all windows of its stream, and each window has ended."""
    operations = caller.get(f"{DEFAULT_BANK}/operations", params={"pageSize": 1000})["operations"]
    assert all(operation["done"] for operation in operations)
    for sender in senders:
        facts = caller.facts({"user_id": sender.name})
        assert len(facts) == len(set(facts))
        assert len(facts) <= len(sender.sent)


def kill_and_check(data: Path, chance: random.Random, kills: int) -> None:
    senders = [
        sender for number in range(kills) for sender in ingest_until_killed(data, chance.uniform(0.5, 2.5), number)
    ]
    assert sum(len(sender.acknowledged) for sender in senders) > 0
    with running(data) as caller:
        for sender in senders:
            check_nothing_is_lost_or_doubled(caller, sender)
        assert caller.service.advance(timedelta(minutes=15))
        check_all_is_generated(caller, senders)


def test_nothing_acknowledged_is_lost_by_a_kill(data: Path) -> None:
    """`kill -9` while six threads ingest: what was acknowledged is a duplicate later, and nothing is doubled."""
    kill_and_check(data, random.Random(), kills=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_nothing_acknowledged_is_lost_by_many_kills(data: Path, seed: int) -> None:
    """The same over five kills of one folder."""
    kill_and_check(data, random.Random(seed), kills=5)


# ---- the size of the data


@pytest.mark.slow
def test_ten_thousand_memories_start_within_ten_seconds(data: Path) -> None:
    """A folder with all items of 10,000 memories costs at most ten seconds of a start, in CPU time."""
    scope = {"user_id": "collector"}
    with running(data) as caller:
        for start in range(0, 40, 5):
            events = [said(f"I own the bicycle {number}.", f"e{number}") for number in range(start, start + 5)]
            caller.stream(scope, "s").flush(*events)
        memories = len(caller.memories(scope))
    multiply(data, 10_000 // memories + 1)
    begun = time.process_time()
    with running(data.with_name("empty")):
        empty = time.process_time() - begun
    begun = time.process_time()
    with running(data) as caller:
        full = time.process_time() - begun
        assert len(caller.memories(scope)) == memories
    assert full - empty < 10, (full, empty)


def multiply(data: Path, times: int) -> None:
    """Store copies of all items in partitions of their own."""
    with opened(data) as store:
        records = store.read(Kind.ITEM)
        for number in range(1, times):
            store.write([copied(record, f"~{number}") for record in records])


def copied(record: Record, suffix: str) -> Record:
    attributes = json.loads(record.content or b"")
    attributes["PK"]["S"] += suffix
    attributes.pop("G1PK", None)
    return Record(record.kind, record.first + suffix, record.second, json.dumps(attributes).encode())
