"""Local mode as a whole, on a sample project."""

import importlib
import json
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest

from streambank_local.clock import Clock
from streambank_local.service import LocalService

SAMPLE = Path(__file__).parent / "sample"


def use_sample_clock(clock: Clock) -> None:
    # Importable once the service has put the sample on the path.
    importlib.import_module("sample_wiring").use_clock(clock)


@pytest.fixture(scope="module")
def shared_service() -> Iterator[LocalService]:
    before = set(os.environ)
    with LocalService(SAMPLE, prepare=use_sample_clock, timer_enabled=False) as service:
        yield service
    assert set(os.environ) == before


@pytest.fixture
def service(shared_service: LocalService) -> Iterator[LocalService]:
    yield shared_service
    shared_service.poller_enabled = True
    assert shared_service.wait_until_idle()


@pytest.fixture
def client(service: LocalService) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=service.base_url, headers={"authorization": "Bearer local"}, timeout=30) as client:
        yield client


def executions(status: str) -> set[str]:
    machine = boto3.client("stepfunctions", region_name="us-east-1")
    (arn,) = [found["stateMachineArn"] for found in machine.list_state_machines()["stateMachines"]]
    found = machine.list_executions(stateMachineArn=arn, statusFilter=status)["executions"]
    return {execution["name"] for execution in found}


def test_ripe_item_is_rung_through_stream_and_machine(service: LocalService, client: httpx.Client) -> None:
    """What a request writes reaches the stream function and runs the state machine, without any other call."""
    assert client.post("/reminders/at-once").status_code == 201
    deadline = time.monotonic() + 10
    while "rung" not in client.get("/at-once").json() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert client.get("/at-once").json()["rung"] == pytest.approx(service.now().timestamp(), abs=10)


def test_advance_stops_at_each_due_time_in_order(service: LocalService, client: httpx.Client) -> None:
    """Two reminders, an hour and a day away, each ring at their own time while the clock moves by a week."""
    due = {
        name: client.post(f"/reminders/{name}", json={"delay": delay}).json()["due"]
        for name, delay in (("tomorrow", 86_400), ("soon", 3_600))
    }
    before = service.now()
    answer = client.post("/_local/clock:advance", json={"seconds": 604_800}).json()
    assert answer["settled"] is True
    assert service.now() - before >= timedelta(days=7)
    for name, time_due in due.items():
        assert client.get(f"/{name}").json()["rung"] == pytest.approx(time_due, abs=30)


def test_schedule_alone_recovers_nothing_that_is_not_due(service: LocalService, client: httpx.Client) -> None:
    """With the pump switched off, stream records are lost for good."""
    service.poller_enabled = False
    client.post("/reminders/lost")
    assert service.wait_until_idle()
    service.poller_enabled = True
    assert service.advance(timedelta(seconds=1))
    assert client.get("/lost").json() == {"ripe": 1}


def test_poison_record_goes_to_the_queue_and_stops_no_other(service: LocalService, client: httpx.Client) -> None:
    """Records around a poison one are handled; the poison one is in the failure queue."""
    names = ["before", "poison-1", "after-1", "after-2"]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda name: client.post(f"/reminders/{name}"), names))
    assert service.wait_until_idle()
    assert all("rung" in client.get(f"/{name}").json() for name in names if name != "poison-1")
    (url,) = service.stack.queue_urls.values()
    received = boto3.client("sqs", region_name="us-east-1").receive_message(QueueUrl=url)["Messages"]
    assert [json.loads(message["Body"])["DDBStreamBatchInfo"]["batchSize"] for message in received] == [1]


def test_error_of_a_task_reaches_the_machine_by_its_class_name(service: LocalService, client: httpx.Client) -> None:
    """Catch matches the name of the exception that a function raised."""
    client.post("/reminders/deaf")
    assert service.wait_until_idle()
    assert "deaf" in executions("FAILED")


def test_twin_starts_of_one_name_run_once(service: LocalService, client: httpx.Client) -> None:
    """Eight threads start one execution, and there is one."""
    machine = boto3.client("stepfunctions", region_name="us-east-1")
    client.post("/reminders/twin")
    service.wait_until_idle()
    before = service.counters()["executionsStarted"]

    def start(_: int) -> bool:
        try:
            machine.start_execution(
                stateMachineArn=service.stack.machine_arn, name="twins", input=json.dumps({"name": "twin"})
            )
        except machine.exceptions.ExecutionAlreadyExists:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert any(pool.map(start, range(8)))
    assert service.counters()["executionsStarted"] == before + 1


def test_functions_see_the_environment_of_the_deployed_stack(client: httpx.Client) -> None:
    """References are resolved, and local mode's parameters are in force."""
    assert client.get("/environment").json() == {
        "MODEL": "embedded",
        "POWERTOOLS_LOG_LEVEL": "WARNING",
        "TABLE_NAME": "streambank-Table",
        "AWS_REGION": "us-east-1",
    }


def test_timeout_of_the_template_is_what_remains(client: httpx.Client) -> None:
    """A function can read the remaining time of its Timeout."""
    assert 2_000 < int(client.post("/reminders/left", json={"delay": 9}).headers["x-left"]) <= 3_000


def test_calls_of_a_function_run_side_by_side(client: httpx.Client) -> None:
    """Eight calls of half a second take about that, not four."""
    started = time.monotonic()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: client.post(f"/reminders/side-{n}", json={"seconds_to_work": 0.5}), range(8)))
    assert time.monotonic() - started < 3


def test_error_of_a_crashed_function_is_not_in_the_reply(
    client: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    """The client sees API Gateway's bare 500; the log has the reason."""
    for path in ("/crash", "/odd"):
        answer = client.get(path)
        assert (answer.status_code, answer.json()) == (500, {"message": "Internal Server Error"})
    assert "secret text" in caplog.text


def test_counters_tell_what_happened(service: LocalService, client: httpx.Client) -> None:
    """Stream records, executions and invocations are counted from the start."""
    before = client.get("/_local/counters").json()
    client.post("/reminders/counted")
    assert service.wait_until_idle()
    after = client.get("/_local/counters").json()
    assert after["invocations"]["Ingest"] == before["invocations"]["Ingest"] + 1
    assert after["executionsStarted"] == before["executionsStarted"] + 1
    # Put and rung; only the first one is ripe.
    assert after["streamRecordsSeen"] == before["streamRecordsSeen"] + 2
    assert after["streamRecordsPassed"] == before["streamRecordsPassed"] + 1
    assert after["now"].endswith("Z")


def test_service_can_be_driven_from_another_thread(service: LocalService, client: httpx.Client) -> None:
    """Whoever holds it may advance it."""
    client.post("/reminders/threaded", json={"delay": 600})
    done: list[bool] = []
    thread = threading.Thread(target=lambda: done.append(service.advance(timedelta(minutes=11))))
    thread.start()
    thread.join()
    assert done == [True]
    assert "rung" in client.get("/threaded").json()


def assert_refused(client: httpx.Client, content: Any) -> None:
    answer = client.post("/_local/clock:advance", content=content)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == 400
    assert answer.json()["error"]["status"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"{}", b'{"seconds": true}', b'{"seconds": "61"}', b'{"seconds": -1}', b'{"seconds": 1e9}',
     b'{"seconds": NaN}', b'{"seconds": null}', b"\xff"],
)  # fmt: skip
def test_clock_refuses_what_is_no_duration(client: httpx.Client, content: bytes) -> None:
    """Only a number of seconds within ten years moves the clock."""
    assert_refused(client, content)
