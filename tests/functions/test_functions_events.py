"""The recorded events: each is taken by its function, against an emulator, within the function's own role."""

import importlib.util
import json
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import boto3
import pytest

from streambank.model import ids
from streambank.model.replay import ReplaySpec
from streambank.model.window import WindowState
from streambank.store.replays import Replays
from streambank.store.windows import Windows
from streambank.wire import http
from streambank.wire.ingest import ingest_call
from streambank.wiring import overrides
from streambank.wiring.deployment import Deployment
from streambank_local.basic.models import BasicModels
from streambank_local.emulator.filters import passes
from tests import aws
from tests.functions.declared import FILTERS, FUNCTIONS, filters, statements

NAMES = ["ingest", "api", "on_stream", "on_change", "on_schedule", "extract", "consolidate", "commit", "fail", "replay"]
SID = ids.stream_key({"user_id": "123"}, "my-custom-stream")
CONTEXT = SimpleNamespace(get_remaining_time_in_millis=lambda: 300_000)
# What a call needs to be allowed; a transaction needs what its actions are.
ACTIONS = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem"}


def recorded(name):
    return json.loads((aws.ROOT / "events" / f"{name}.json").read_text())


class Clock:
    def __init__(self):
        self.instant = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    def now(self):
        return self.instant


class Stack:
    """The functions of the template, loaded as Lambda loads them, and what each asked of AWS."""

    def __init__(self, client):
        self.client, self.clock, self.asked = client, Clock(), []
        overrides.current.clock, overrides.current.models = self.clock, BasicModels()

    def heard(self, params, model, **_):
        service, operation = model.service_model.service_name, model.name
        for action in params["TransactItems"] if operation == "TransactWriteItems" else [None]:
            name = ACTIONS[next(iter(action))] if action else operation
            self.asked.append(
                (f"{'states' if service == 'stepfunctions' else service}:{name}", params.get("IndexName"))
            )

    def invoke(self, name, event=None):
        path = aws.ROOT / "functions" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(f"loaded_{name}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.handler(recorded(name) if event is None else event, CONTEXT)

    def window(self):
        return Windows(Deployment.load().table).get("default", SID, 1)


@pytest.fixture
def stack(monkeypatch):
    real = overrides.current.clock
    environment = {
        "TABLE_NAME": aws.TABLE,
        "STATE_MACHINE_ARN": aws.MACHINE_ARN,
        "STREAMBANK_MODEL": "embedded",
        "AUTH_MODE": "open",
        "CHANGE_EVENT_BUS": "default",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    with aws.dynamodb() as client:
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        machines = boto3.client("stepfunctions", region_name="us-east-1")
        role = "arn:aws:iam::123456789012:role/generation"
        machines.create_state_machine(name="generation", definition=json.dumps(aws.ASL), roleArn=role)
        stack = Stack(client)
        boto3.DEFAULT_SESSION.events.register("before-parameter-build", stack.heard)
        yield stack
    overrides.current.clock, overrides.current.models = real, None


def sealed(stack):
    """Bring the stream of the recorded events to where its first window is sealed."""
    stack.invoke("ingest")
    stack.invoke("on_stream")
    assert stack.window() is not None


def test_there_is_an_event_for_every_function():
    """Each function has one recorded event, under its own name."""
    assert sorted(path.stem for path in (aws.ROOT / "events").glob("*.json")) == sorted(NAMES)
    assert sorted(NAMES) == sorted(found["Handler"].split(".")[0] for found in FUNCTIONS.values())


def test_the_ingest_event_is_the_documented_example():
    """Its body is what the SDK sends for the reference's first example, with the flush that makes it go at once."""
    event = recorded("ingest")
    path = http.bank_path(event)
    call = ingest_call(http.body(event), bank=path.bank, idempotency_key=http.header(event, "x-idempotency-key"))
    assert (path.bank, path.rest) == ("default", "/memories:ingestEvents")
    assert (call.stream.sid, call.force, len(call.events)) == (SID, True, 1)


def test_ingest_accepts_its_event(stack):
    """The reply is an operation that names the open window, and a repeat is recognised."""
    reply = stack.invoke("ingest")
    document = json.loads(reply["body"])
    assert reply["statusCode"] == 200
    assert document["name"].endswith(f"reasoningEngines/default/operations/{SID}-1")
    assert (document["done"], document["metadata"]["acceptedEvents"]) == (False, 1)
    again = json.loads(stack.invoke("ingest")["body"])
    assert again["name"] == document["name"]
    assert (again["metadata"]["acceptedEvents"], again["metadata"]["duplicateEvents"]) == (0, 1)


def test_api_answers_its_event(stack):
    """A retrieval in a scope without memories is an empty answer."""
    reply = stack.invoke("api")
    assert (reply["statusCode"], json.loads(reply["body"])) == (200, {"retrievedMemories": []})


def test_the_stream_event_is_what_the_stream_would_send():
    """Its records pass the template's filters, and have the keys of the stream that the ingest event fills."""
    records = recorded("on_stream")["Records"]
    assert all(passes(FILTERS, record) for record in records)
    assert [record["dynamodb"]["Keys"]["SK"]["S"] for record in records] == ["HEAD", "W#000000000001"]
    assert {record["dynamodb"]["Keys"]["PK"]["S"] for record in records} == {f"S#default#{SID}"}


def test_the_images_of_the_stream_event_are_ours(stack):
    """The recorded images have the attributes that the items of the same stream really have."""
    images = [record["dynamodb"]["NewImage"] for record in recorded("on_stream")["Records"]]
    stack.invoke("ingest")
    head = next(item for item in aws.dump(stack.client) if item["SK"]["S"] == "HEAD")
    stack.invoke("on_stream")
    window = next(item for item in aws.dump(stack.client) if item["SK"]["S"].startswith("W#"))
    for image, item in zip(images, (head, window), strict=True):
        assert set(image) == set(item)
        assert {key: next(iter(value)) for key, value in image.items()} == {k: next(iter(v)) for k, v in item.items()}


def test_on_stream_seals_and_starts(stack):
    """The ripe head is sealed and the sealed window's execution started, once, however often the records come."""
    stack.invoke("ingest")
    for _ in range(2):
        assert stack.invoke("on_stream") == {"batchItemFailures": []}
    machines = boto3.client("stepfunctions")
    found = machines.list_executions(stateMachineArn=aws.MACHINE_ARN)["executions"]
    assert [execution["name"] for execution in found] == [f"default-{SID}-1-0"]
    sent = json.loads(machines.describe_execution(executionArn=found[0]["executionArn"])["input"])
    assert (sent.pop("kind"), sent.pop("loop")) == ("window", {"conflicts": 0})
    assert sent == recorded("extract") == recorded("consolidate") == recorded("commit")


def test_on_stream_names_the_record_that_it_could_not_handle(stack):
    """A record whose stream cannot be read is reported by its number, the others are handled."""
    event = recorded("on_stream")
    event["Records"][0]["dynamodb"]["Keys"]["PK"]["S"] = "nonsense"
    number = event["Records"][0]["dynamodb"]["SequenceNumber"]
    assert stack.invoke("on_stream", event) == {"batchItemFailures": [{"itemIdentifier": number}]}


def test_on_schedule_sweeps(stack):
    """The sweep alone does what the stream would have done, a minute later."""
    stack.invoke("ingest")
    stack.clock.instant += timedelta(minutes=1)
    report = stack.invoke("on_schedule")
    assert (report["sealed"], report["faults"], report["is_complete"]) == (1, [], True)
    stack.clock.instant += timedelta(minutes=3)
    assert stack.invoke("on_schedule")["started"] == 1


@pytest.mark.parametrize("name", ["extract", "consolidate", "commit", "replay"])
def test_a_stage_without_its_window_is_late(stack, name):
    """Against an empty table a stage ends quietly: that is what a first `sam local invoke` shows."""
    assert stack.invoke(name) == {"outcome": "late"}


def test_the_events_play_a_whole_generation(stack):
    """In order, the recorded events bring a sentence from ingest to retrieval."""
    sealed(stack)
    outcomes = [stack.invoke(name)["outcome"] for name in ("extract", "consolidate", "commit")]
    assert outcomes == ["extracted", "planned", "committed"]
    assert stack.window().state is WindowState.DONE
    found = json.loads(stack.invoke("api")["body"])["retrievedMemories"]
    assert len(found) == 1
    assert "blue" in found[0]["memory"]["fact"]


def test_the_replay_event_compares_that_generation(stack):
    """Once the window is generated and a replay of it was called for, the recorded event runs the replay."""
    sealed(stack)
    for name in ("extract", "consolidate", "commit"):
        stack.invoke(name)
    replays, window = Replays(Deployment.load().table), stack.window()
    begun = replays.begin("default", window, ReplaySpec(), now=stack.clock.now())
    assert recorded("replay")["replay"] == begun.id
    assert stack.invoke("replay") == {"outcome": "replayed"}
    compared = replays.find("default", begun.operation, now=stack.clock.now()).comparison
    assert [one.verdict for one in compared.replayed.verdicts] == ["CREATED"]


def test_fail_books_a_failure(stack):
    """The window waits for its next try, and the same failure is not booked twice."""
    sealed(stack)
    assert stack.invoke("fail") == {"outcome": "failed"}
    window = stack.window()
    assert (window.attempt, window.failures, window.failure) == (1, 1, "MODEL_UNAVAILABLE")
    assert window.due > stack.clock.now()
    stack.invoke("fail")
    assert stack.window() == window


@pytest.mark.parametrize("name", NAMES)
def test_a_role_allows_what_its_function_does(stack, name):
    """Whatever a function asks of AWS for its event is in its own policy, index by index."""
    if name != "ingest":
        stack.invoke("ingest")
    if name in ("extract", "consolidate", "commit", "fail", "api"):
        stack.invoke("on_stream")
    for before in {"consolidate": ["extract"], "commit": ["extract", "consolidate"]}.get(name, []):
        stack.invoke(before)
    stack.clock.instant += timedelta(minutes=5)
    stack.asked.clear()
    stack.invoke(name)
    function = next(key for key, found in FUNCTIONS.items() if found["Handler"] == f"{name}.handler")
    assert stack.asked
    for action, index in stack.asked:
        allowing = [statement for statement in statements(function) if action in statement["Action"]]
        assert allowing, f"{function} may not {action}"
        resources = json.dumps([statement["Resource"] for statement in allowing])
        assert index is None or f"/index/{index}" in resources


# ---- changes of memories


class Heard:
    """What was put on event buses."""

    def __init__(self):
        self.entries = []
        boto3.DEFAULT_SESSION.events.register("before-parameter-build.eventbridge.PutEvents", self)

    def __call__(self, params, **_):
        self.entries += params["Entries"]


def test_the_change_event_is_what_the_stream_would_send(stack):
    """The recorded record passes the template's filter, and its image has the attributes of an item of ours."""
    [record] = recorded("on_change")["Records"]
    assert passes(filters("OnChange"), record)
    sealed(stack)
    for name in ("extract", "consolidate", "commit"):
        stack.invoke(name)
    [item] = [one for one in aws.dump(stack.client) if one["SK"]["S"].startswith("L#")]
    image = record["dynamodb"]["NewImage"]
    assert {key: next(iter(value)) for key, value in image.items()} == {k: next(iter(v)) for k, v in item.items()}
    assert (image["PK"], image["SK"], image["op"]) == (item["PK"], item["SK"], item["op"])


@pytest.mark.parametrize("detail", ["METADATA_ONLY", "FULL"])
def test_on_change_publishes_what_a_record_tells(stack, monkeypatch, detail):
    """An event names the change, the memory and its scope, and has the text where the stack says so."""
    monkeypatch.setenv("CHANGE_EVENT_DETAIL", detail)
    sealed(stack)
    for name in ("extract", "consolidate", "commit"):
        stack.invoke(name)
    heard = Heard()
    for _ in range(2):
        assert stack.invoke("on_change") == {"batchItemFailures": []}
    [entry, again] = heard.entries
    assert entry == again, "a repeat has the same id"
    told = json.loads(entry["Detail"])
    assert (entry["Source"], entry["DetailType"], entry["EventBusName"]) == ("streambank", "Memory Change", "default")
    assert (told["bank"], told["kind"], told["scope"]) == ("default", "CREATED", {"user_id": "123"})
    assert told["operation"] == f"memoryBanks/default/operations/{SID}-1"
    assert told["memory"].startswith("memoryBanks/default/memories/")
    assert ("fact" in told) is (detail == "FULL")
    assert ("blue" in entry["Detail"]) is (detail == "FULL")


def test_on_change_has_nothing_to_tell_of_what_is_gone(stack):
    """A record that was erased before it was published is no failure, and no event."""
    heard = Heard()
    assert stack.invoke("on_change") == {"batchItemFailures": []}
    assert heard.entries == []
