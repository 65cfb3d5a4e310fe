"""The smoke test of a deployed stack: against local mode, and against failures over real HTTP."""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import boto3
import httpx
import pytest
from moto import mock_aws

from streambank_local.command.main import main
from streambank_local.doctor import aws
from streambank_local.doctor.checks import STREAM_SECONDS, Smoke
from streambank_local.doctor.cures import Finding, generation
from streambank_local.doctor.reachability import reachability
from streambank_local.service import LocalService
from tests.bedrock.converse_server import Bedrock, error, running

NAME = "memoryBanks/default/operations/s-1"


def smoked(url: str, *, with_schedule: bool = False, moves_clock: bool = False) -> dict[str, Finding]:
    """Return the findings about the service at *url*; waiting moves the clock of local mode, or takes no time."""
    with httpx.Client(base_url=url, headers={"authorization": "Bearer local"}, timeout=60) as http:

        def sleep(seconds: float) -> None:
            if moves_clock:
                http.post("/_local/clock:advance", json={"seconds": seconds})

        smoke = Smoke(http, "default", {"smoke": os.urandom(4).hex()}, sleep, 90.0)
        return {finding.part: finding for finding in smoke.findings(with_schedule=with_schedule)}


# ---- local mode


@pytest.mark.slow
def test_a_service_that_works_passes() -> None:
    """Every part is seen to work: the API, the stream, the model, the embedder, and the sweep in time."""
    with LocalService(timer_enabled=False) as service:
        found = smoked(service.base_url, with_schedule=True, moves_clock=True)
    assert set(found) == {"API and key", "stream", "model", "embedder", "schedule"}
    assert [one.lines() for one in found.values() if not one.works] == []
    assert "bees" in found["embedder"].detail


def test_a_model_that_needs_a_profile_is_told_as_that(monkeypatch: pytest.MonkeyPatch) -> None:
    """The finding has the outcome and Bedrock's own code, and its cure names the profile, the region and the access."""
    refusal = error(400, "ValidationException", "Invocation of model ID x with on-demand throughput isn't supported.")
    with running(Bedrock(model=lambda _: refusal)) as bedrock:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", bedrock.url)
        with LocalService(timer_enabled=False, parameters={"Model": "bedrock"}) as service:
            found = smoked(service.base_url, moves_clock=True)
    assert found["stream"].works
    assert found["model"].detail == "RETRYING MODEL_NOT_CONFIGURED ValidationException"
    assert "inference profile" in found["model"].cure
    assert "embedder" not in found


# ---- scripted failures


@contextmanager
def scripted(replies: dict[str, tuple[int, Any]]) -> Iterator[str]:
    """Serve the reply whose key is in the path of a request."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            status, document = next(reply for part, reply in replies.items() if part in self.path)
            raw = document if isinstance(document, bytes) else json.dumps(document).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        do_POST = do_GET

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def operation(state: str, **metadata: Any) -> tuple[int, Any]:
    return 200, {"name": NAME, "metadata": {"state": state, **metadata}}


@pytest.mark.parametrize(
    ("status", "body", "cure"),
    [
        (401, {"error": {"message": "no key"}}, "FirstKey"),
        (403, {"message": "Forbidden"}, "roles ingest and read"),
        (404, {"error": {"message": "no bank"}}, "--bank"),
        (429, {"message": "Too Many Requests"}, "RequestsPerSecond"),
        (500, {"message": "Internal Server Error"}, "LogGroup"),
        (200, b"<html>", "output Url"),
    ],
)
def test_a_refused_event_has_its_cure(status: int, body: Any, cure: str) -> None:
    """Key, role, bank, throttle, a broken function and a wrong address are told apart."""
    with scripted({"ingestEvents": (status, body)}) as url:
        [finding] = smoked(url).values()
    assert (finding.part, finding.works) == ("API and key", False)
    assert cure in finding.cure


def test_an_address_without_a_service_has_its_cure() -> None:
    """Nobody listens: the URL, or its region."""
    [finding] = smoked("http://127.0.0.1:1").values()
    assert "region" in finding.cure


@pytest.mark.parametrize(
    ("failure", "cure"),
    [
        ("MODEL_NOT_CONFIGURED", "ModelId"),
        ("MODEL_THROTTLED", "Service Quotas"),
        ("MODEL_REJECTED", "tool choice"),
        ("Lambda.TooManyRequestsException", "quota"),
        ("SOMETHING_NEW", "operating.md"),
    ],
)
def test_a_failed_generation_has_its_cure(failure: str, cure: str) -> None:
    """Each outcome leads to what an operator does about it."""
    ended = operation("RETRYING", failure=failure, providerError="ThrottlingException r-1")
    with scripted({"ingestEvents": operation("SEALED"), "operations": ended}) as url:
        found = smoked(url)
    assert cure in found["model"].cure
    assert "ThrottlingException r-1" in found["model"].detail


def test_a_generation_that_never_starts_is_no_fault_of_the_model() -> None:
    """A window that stays sealed leads to the stream, the sweep and the quota."""
    with scripted({"ingestEvents": operation("SEALED"), "operations": operation("SEALED")}) as url:
        found = smoked(url)
    assert not found["stream"].works
    assert "SweepStopped" in found["model"].cure
    assert generation({"state": "GENERATING"}, 9).cure != found["model"].cure
    assert STREAM_SECONDS < 60


@pytest.mark.parametrize(("status", "cure"), [(503, "EmbeddingModelId"), (403, "roles")])
def test_an_embedder_that_fails_has_its_cure(status: int, cure: str) -> None:
    """The model works and the search does not: the embedding model's access, or the key's role."""
    replies = {"ingestEvents": operation("SEALED"), "operations": operation("DONE"), "retrieve": (status, {})}
    with scripted(replies) as url:
        found = smoked(url)
    assert found["model"].works
    assert cure in found["embedder"].cure


def test_a_schedule_that_never_comes_has_its_cure() -> None:
    """A window that only the sweep can seal stays open."""
    replies = {"ingestEvents": operation("BUFFERING"), "operations": operation("BUFFERING")}
    with scripted(replies) as url:
        found = smoked(url, with_schedule=True)
    assert "SweepStopped" in found["schedule"].cure


def test_the_command_tells_success_by_its_status(capsys: pytest.CaptureFixture[str]) -> None:
    """The key may come from the environment, and is not printed."""
    with scripted({"ingestEvents": (401, {}), "memoryBanks": (401, {})}) as url:
        assert main(["doctor", url, "--token", "sb_secret"]) == 1
    printed = capsys.readouterr().out
    assert "ok   reachability" in printed
    assert "FAIL version: the reply names none" in printed
    assert "FAIL API and key: HTTP 401" in printed
    assert "sb_secret" not in printed


def test_doctor_finds_nothing_wrong_with_a_service_that_works(capsys: pytest.CaptureFixture[str]) -> None:
    """Reachability, clock, version, key, stream, model and embedder of local mode work."""
    with LocalService(timer_enabled=False) as service:
        assert main(["doctor", service.base_url, "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert {one["part"] for one in findings} >= {"reachability", "clock", "version", "API and key", "model", "embedder"}
    assert all(one["works"] for one in findings)


@pytest.mark.parametrize(("shift_seconds", "works"), [(0, True), (90, True), (-300, False), (7_200, False)])
def test_a_clock_that_is_wrong_is_told(shift_seconds: float, works: bool) -> None:
    """Minutes of difference are a failure with a cure, seconds are not."""
    reply = httpx.Response(200, headers={"date": "Tue, 01 Dec 2026 12:00:00 GMT"})
    with httpx.Client(base_url="http://test", transport=httpx.MockTransport(lambda _: reply)) as http:
        findings = {one.part: one for one in reachability(http, 1_796_126_400 + shift_seconds)}
    assert findings["clock"].works is works


# ---- with AWS's credentials


@mock_aws
def test_a_stack_that_is_not_there_has_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong name, region or right is one finding, and no traceback."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    [finding] = aws.findings("nothing", "us-east-1")
    assert "--region" in finding.cure


@mock_aws
def test_an_alarm_that_rings_and_a_topic_without_listeners_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alarms in alarm are named; a topic needs a confirmed subscription."""
    keys = {"aws_access_key_id": "x", "aws_secret_access_key": "x", "region_name": "us-east-1"}
    cloudwatch, sns = boto3.client("cloudwatch", **keys), boto3.client("sns", **keys)
    for name in ("quiet", "ringing"):
        cloudwatch.put_metric_alarm(
            AlarmName=name, ComparisonOperator="GreaterThanThreshold", EvaluationPeriods=1, MetricName="m",
            Namespace="n", Period=60, Statistic="Sum", Threshold=0,
        )  # fmt: skip
    cloudwatch.set_alarm_state(AlarmName="ringing", StateValue="ALARM", StateReason="test")
    found = aws._alarms(cloudwatch, ["quiet", "ringing"])
    assert (found.works, found.detail) == (False, "2 alarms, in alarm: ringing")
    topic = sns.create_topic(Name="t")["TopicArn"]
    assert not aws._subscription(sns, topic).works
