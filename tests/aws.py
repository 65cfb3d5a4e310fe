"""AWS as the tests have it: moto's DynamoDB, repaired, and executions that run when a test says so."""

import copy
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import boto3
import yaml
from botocore.config import Config
from botocore.exceptions import ClientError
from moto import mock_aws
from moto.backends import get_backend
from moto.core.models import DEFAULT_ACCOUNT_ID

from streambank_local.emulator import moto_indexes, moto_items
from streambank_local.emulator.moto_repair import install
from streambank_local.emulator.requests import one_request

ROOT = Path(__file__).resolve().parents[1]
ASL = json.loads((ROOT / "infra" / "generation.asl.json").read_text())
MACHINE_ARN = "arn:aws:states:us-east-1:123456789012:stateMachine:generation"
TABLE = "streambank-test"
BUCKET = "streambank-test-exports"
# Without one botocore puts one together for each call.
USER_AGENT = "streambank-tests"


T = TypeVar("T")


class Killed(BaseException):
    """The process dies here: no handler of ours may catch it."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads CloudFormation's short tags as their values."""


_Loader.add_multi_constructor("!", lambda loader, _tag, node: _plain(loader, node))


def _plain(loader: Any, node: Any) -> Any:
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    return loader.construct_mapping(node, deep=True)


def template() -> dict[str, Any]:
    return copy.deepcopy(_template())


@cache
def _template() -> dict[str, Any]:
    return yaml.load((ROOT / "template.yaml").read_text(), _Loader)


def _table_definition() -> dict[str, Any]:
    properties = template()["Resources"]["Table"]["Properties"]
    names = ("AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes", "VectorIndexes", "BillingMode")
    return {name: properties[name] for name in names}


@cache
def _session() -> Any:
    """Return the one session of the tests, after moto's repair is in place: a session reads botocore's models once."""
    return boto3.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name="us-east-1")


@contextmanager
def dynamodb() -> Iterator[Any]:
    """Yield a client of an emulator that holds an empty table with the template's keys and indexes."""
    install()
    with mock_aws():
        client = _session().client(
            "dynamodb",
            config=Config(retries={"total_max_attempts": 1}, max_pool_connections=64, user_agent=USER_AGENT),
        )
        client.create_table(TableName=TABLE, **_table_definition())
        try:
            yield client
        finally:
            client.delete_table(TableName=TABLE)  # another emulator may be under way around this one


def bucket() -> Any:
    """Return a client of the running emulator's S3, in which the bucket of exports is there and empty."""
    client = _session().client(
        "s3",
        config=Config(retries={"total_max_attempts": 1}),
    )
    client.create_bucket(Bucket=BUCKET)
    for item in client.list_objects_v2(Bucket=BUCKET).get("Contents", []):
        client.delete_object(Bucket=BUCKET, Key=item["Key"])
    return client


def objects(client: Any) -> dict[str, bytes]:
    """Return all that the bucket of exports holds, by key."""
    keys = [item["Key"] for item in client.list_objects_v2(Bucket=BUCKET).get("Contents", [])]
    return {key: client.get_object(Bucket=BUCKET, Key=key)["Body"].read() for key in keys}


def _table(client: Any) -> Any:
    """Return moto's own table: a scan by *client* takes ten times as long."""
    return get_backend("dynamodb")[DEFAULT_ACCOUNT_ID][client.meta.region_name].get_table(TABLE)


def _items(client: Any) -> list[Any]:
    """Return moto's own items, sorted by their keys."""
    with one_request():
        items = [item for partition in _table(client).items.values() for item in partition.values()]
    return sorted(items, key=lambda item: (item.hash_key.value, item.range_key.value))


def keys(client: Any) -> list[tuple[str, str]]:
    """Return the keys of all items of the table, sorted."""
    return [(item.hash_key.value, item.range_key.value) for item in _items(client)]


def dump(client: Any) -> list[dict[str, Any]]:
    """Return all items of the table, sorted: what tests compare, never what the product does."""
    return [moto_items.plain(item)["Attributes"] for item in _items(client)]


def empty(client: Any) -> None:
    """Delete all items of the table."""
    with one_request():
        moto_indexes.forget(_table(client))
        _table(client).items.clear()


def spread(points: Sequence[T], most: int | None) -> Sequence[T]:
    """Return all *points*, or *most* of them, the first and the last among them and the rest evenly between."""
    if most is None or len(points) <= most:
        return points
    return [points[round(place * (len(points) - 1) / (most - 1))] for place in range(most)]


def earliest_due(client: Any, now: float = math.inf) -> int | None:
    """Return the epoch second at which something is due next, or None; indexes that are checked after *now* are not."""
    due = (item for item in _items(client) if {"G1PK", "G1SK"} <= item.attrs.keys())
    seconds = ((item.attrs["SK"].value, int(item.attrs["G1SK"].value)) for item in due)
    return min((second for name, second in seconds if name != "INDEX" or second <= now), default=None)


@dataclass
class Executions:
    """Step Functions' side of the contract: names are taken for ever, and an execution runs when `run` is called."""

    running: dict[str, dict[str, Any]] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)
    errors: dict[str, str] = field(default_factory=dict)
    starts: int = 0

    def start_execution(self, *, stateMachineArn: str, name: str, input: str) -> dict[str, Any]:  # noqa: A002
        assert stateMachineArn == MACHINE_ARN
        assert len(name) <= 80
        payload = json.loads(input)
        if name in self.closed or self.running.get(name, payload) != payload:
            raise ClientError({"Error": {"Code": "ExecutionAlreadyExists", "Message": name}}, "StartExecution")
        if name not in self.running:
            self.running[name] = payload
            self.starts += 1
        return {"executionArn": f"arn:{name}"}

    def describe_execution(self, *, executionArn: str) -> dict[str, Any]:
        name = executionArn.rsplit(":", 1)[-1]
        if name not in self.running and name not in self.closed:
            raise ClientError({"Error": {"Code": "ExecutionDoesNotExist", "Message": name}}, "DescribeExecution")
        error = {"error": self.errors[name]} if name in self.errors else {}
        return {"status": "RUNNING" if name in self.running else "FAILED", **error}

    def run(self, tasks: dict[str, Callable[[dict[str, Any]], dict[str, Any]]]) -> int:
        """Walk every running execution through the state machine of infra/generation.asl.json; return how many."""
        names = list(self.running)
        for name in names:
            payload = self.running[name]
            try:
                walk(payload, tasks)
            finally:
                self.running.pop(name, None)
                self.closed.add(name)
        return len(names)

    def die(self, error: str = "") -> None:
        """Let every running execution end without having done anything, as a timeout does, or a state's *error*."""
        self.errors |= dict.fromkeys(self.running, error) if error else {}
        self.closed |= set(self.running)
        self.running.clear()


def walk(payload: dict[str, Any], tasks: dict[str, Callable[[dict[str, Any]], dict[str, Any]]]) -> list[str]:
    """Interpret the state machine for one input: Task, Choice, Pass, Wait and Succeed, as far as ours uses them."""
    data, name, path = dict(payload), ASL["StartAt"], []
    for _ in range(400):
        state = ASL["States"][name]
        path.append(name)
        if state["Type"] == "Succeed":
            return path
        name = _STEPS[state["Type"]](name, state, data, tasks)
    raise AssertionError(f"the machine does not end: {path[-6:]}")


def _task(name, state, data, tasks):
    given = {key.removesuffix(".$"): _at(data, value) for key, value in state["Parameters"]["Payload"].items()}
    try:
        result = tasks[name](given)
    except Exception as error:
        if "Catch" not in state:
            raise
        data["error"] = {"Error": type(error).__name__, "Cause": "not for our eyes"}
        return state["Catch"][0]["Next"]
    if state["ResultPath"]:
        data["result"] = {"outcome": result["outcome"]}
    return state["Next"]


def _choice(_name, state, data, _tasks):
    for choice in state["Choices"]:
        value = _at(data, choice["Variable"])
        if value > choice["NumericGreaterThan"] if "NumericGreaterThan" in choice else value == choice["StringEquals"]:
            return choice["Next"]
    return state["Default"]


def _pass(_name, state, data, _tasks):
    given = {key.removesuffix(".$"): _value(data, value) for key, value in state.get("Parameters", {}).items()}
    data[state["ResultPath"].removeprefix("$.")] = state.get("Result", given)
    return state["Next"]


def _wait(_name, state, _data, _tasks):
    return state["Next"]


def _value(data: Any, expression: str) -> Any:
    """Return the value of a path, or of the intrinsic function that adds to one."""
    added = re.fullmatch(r"States\.MathAdd\((\S+), ([0-9]+)\)", expression)
    return _at(data, added[1]) + int(added[2]) if added else _at(data, expression)


def _at(data: Any, path: str) -> Any:
    for part in path.removeprefix("$.").split("."):
        data = data[part]
    return data


_STEPS = {"Task": _task, "Choice": _choice, "Pass": _pass, "Wait": _wait}
