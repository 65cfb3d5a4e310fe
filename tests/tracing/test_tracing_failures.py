"""Collectors that are down, slow, broken or not there at all: requests are answered all the same."""

import json
import re
import socket
import subprocess
import sys
import time

import pytest
from opentelemetry.sdk.trace import TracerProvider

from streambank import telemetry
from streambank.otlp import REST_SECONDS, Collector
from streambank.settings import Settings, TraceSettings
from tests import logs
from tests.aws import ROOT
from tests.tracing.collecting import receiving
from tests.tracing.deploying import deployed

# What a test may take at most; where a request waited for a collector to end, it would be 20 s and more.
BOUND_SECONDS = 8


@pytest.fixture
def collector():
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def lines():
    """What the service logs meanwhile."""
    with logs.written() as stream:
        yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]


def closed_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


WAYS = [(500, "at once"), (429, "at once"), (503, "at once"), (200, "never"), (200, "drop by drop"), (200, "nonsense")]


@pytest.mark.parametrize(("status", "way"), WAYS)
def test_a_collector_that_fails_is_left_alone(monkeypatch, collector, lines, status, way):
    """Every request is answered; the first loses its span, which is logged, and the others do not even try."""
    collector.status, collector.way = status, way
    began = time.monotonic()
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_EXPORTER_OTLP_TIMEOUT": "0.7"}
    with deployed(monkeypatch.setenv, **variables) as functions:
        assert [functions.retrieve()[0] for _ in range(5)] == [200] * 5
    assert time.monotonic() - began < BOUND_SECONDS
    lost = [(one["message"], one["spans"]) for one in lines() if one["level"] == "WARNING"]
    assert lost == [(telemetry.TRACES_LOST, 1)]
    # Nonsense is a broken connection, which the exporter tries once more at once.
    assert len(collector.raw) <= (2 if way == "nonsense" else 1)


def test_a_collector_that_is_down_delays_nothing(monkeypatch, lines):
    """A closed port is known at once, also under the timeout that holds by default."""
    with deployed(monkeypatch.setenv, OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{closed_port()}") as functions:
        assert [functions.retrieve()[0] for _ in range(3)] == [200] * 3
    assert [one["message"] for one in lines() if one["level"] == "WARNING"] == [telemetry.TRACES_LOST]


def test_a_collector_that_comes_back_is_found_again(collector):
    """After its rest it is asked again, and not before; what it takes then ends the rest."""
    seconds = [0.0]
    collector.status = 500
    sending = Collector.build(TraceSettings(f"{collector.url}/v1/traces", "10"))
    sending.clock = lambda: seconds[0]

    def send():
        opened = sending.open("search_memory", {}, None, is_call=False)
        opened.end()
        sending.send(opened.ended)
        return len(collector.raw)

    assert send() == 1
    seconds[0] = REST_SECONDS - 1
    assert send() == 1
    collector.status, seconds[0] = 200, REST_SECONDS
    assert [send(), send()] == [2, 3]


def test_one_thread_at_most_hangs(collector):
    """While an answer drips on, no other request is sent, however long the rest has been over."""
    seconds = [0.0]
    collector.way = "drop by drop"
    sending = Collector.build(TraceSettings(f"{collector.url}/v1/traces", "0.2"))
    sending.clock = lambda: seconds[0]
    for _ in range(3):
        opened = sending.open("search_memory", {}, None, is_call=False)
        opened.end()
        sending.send(opened.ended)
        seconds[0] += 2 * REST_SECONDS
    assert len(collector.raw) == 1


class Failing:
    """An exporter that does what no exporter should."""

    def export(self, spans):
        raise LookupError("secret")


def test_an_exporter_that_raises_harms_nobody(lines):
    """Its class is logged, and not what it says."""
    sending = Collector(TracerProvider(shutdown_on_exit=False).get_tracer("t"), Failing(), 1.0)
    opened = sending.open("search_memory", {}, None, is_call=False)
    opened.end()
    sending.send(opened.ended)
    assert [(one["problem"], one["spans"]) for one in lines()] == [("LookupError", 1)]


@pytest.mark.parametrize(
    ("said", "seconds"),
    [({}, 0.75), ({"OTEL_EXPORTER_OTLP_TIMEOUT": "1.5"}, 1.5), ({"OTEL_EXPORTER_OTLP_TIMEOUT": "10000"}, 10)],
)
def test_a_timeout_is_seconds_and_never_long(said, seconds):
    """Two at most unless the variable says otherwise, and ten whatever it says: elsewhere it is milliseconds."""
    variables = {"TABLE_NAME": "t", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", **said}
    assert Collector.build(Settings.read(variables).traces).timeout_seconds == seconds


@pytest.mark.parametrize(
    ("said", "endpoint"),
    [
        ({}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": " ", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": ""}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, "http://c:4318/v1/traces"),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c/x/", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": ""},
            "http://c/x/v1/traces",
        ),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://d/y"}, "http://d/y"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_SDK_DISABLED": "True"}, None),
    ],
)
def test_an_endpoint_is_what_the_variables_say(said, endpoint):
    """A base URL gets OTLP's path, one for traces is taken as it is, an empty one is none."""
    traces = Settings.read({"TABLE_NAME": "t", **said}).traces
    assert (traces and traces.endpoint) == endpoint


# ---- in a process of its own

PROGRAM = """
import logging, os, sys
logging.basicConfig()  # as in Lambda, whatever a library logs is written
sys.path[:0] = ["shared", "infra", "."]
{before}
from tests.tracing.deploying import deployed
with deployed(os.environ.__setitem__) as functions:
    print([functions.retrieve()[0] for _ in range(2)], functions.call("DELETE", "/default/memories/m1")[0])
    __import__("functions.ingest"), __import__("functions.extract"), __import__("functions.commit")
print("loaded", sorted(name for name in sys.modules if name.startswith("opentelemetry")))
"""


def ran(before="", **variables):
    """Return what a fresh process prints that answers requests, on both of its outputs."""
    quiet = {"PATH": "", "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled", "POWERTOOLS_SERVICE_NAME": "streambank"}
    program = PROGRAM.replace("{before}", before)
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, env=quiet | variables, timeout=120
    )
    assert found.returncode == 0, found.stderr
    assert "[200, 200] 404" in found.stdout
    return found.stdout + found.stderr


@pytest.mark.parametrize(
    "said",
    [
        {},
        pytest.param({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, marks=pytest.mark.slow),
        pytest.param(
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_SDK_DISABLED": "true"}, marks=pytest.mark.slow
        ),
    ],
)
def test_nothing_is_imported_where_nothing_is_configured(said):
    """Functions are loaded and requests answered without any module of OpenTelemetry's."""
    assert "loaded []" in ran(**said)


@pytest.mark.parametrize(
    "port",
    [
        pytest.param(str(closed_port()), id="nobody listens"),
        pytest.param("nowhere", id="no URL", marks=pytest.mark.slow),
    ],
)
def test_an_address_is_in_no_log(port):
    """Neither what stands in a URL nor a header, whether nobody listens or the URL is none; OpenTelemetry is silent."""
    said = ran(
        OTEL_EXPORTER_OTLP_ENDPOINT=f"http://user:hunter2@127.0.0.1:{port}/tenant",
        OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer swordfish",
    )
    assert "opentelemetry.sdk" in said
    assert said.count(telemetry.TRACES_LOST) == 1
    assert not re.search(f"hunter2|swordfish|tenant|{port}|Failed|Traceback", said)


def test_packages_that_are_missing_are_told_once():
    """Configured and not installed: one line names what is missing, and requests are answered."""
    before = 'sys.modules["opentelemetry.exporter.otlp.proto.http.trace_exporter"] = None'
    said = ran(before, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9")
    assert said.count(telemetry.NO_TRACES) == 1
    assert '"missing":"opentelemetry.exporter.otlp.proto.http.trace_exporter"' in said


@pytest.mark.slow
def test_a_variable_that_is_wrong_is_told_once():
    """A timeout that is no number stops traces, not requests."""
    said = ran(OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9", OTEL_EXPORTER_OTLP_TIMEOUT="soon")
    assert said.count(telemetry.NO_TRACES) == 1
    assert '"fault":"ValueError"' in said
