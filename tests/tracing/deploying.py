"""The functions over an emulated AWS, loaded as Lambda loads them, with a collector or without."""

import importlib.util
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import boto3

from streambank import tracing
from streambank.wiring import overrides
from streambank_local.basic.models import BasicModels
from tests import aws

BASE = "/v1beta1/projects/p/locations/l/reasoningEngines"
CONTEXT = SimpleNamespace(get_remaining_time_in_millis=lambda: 300_000)
ENVIRONMENT = {
    "TABLE_NAME": aws.TABLE,
    "STATE_MACHINE_ARN": aws.MACHINE_ARN,
    "STREAMBANK_MODEL": "embedded",
    "AUTH_MODE": "open",
    "AWS_DEFAULT_REGION": "us-east-1",
    "OTEL_SERVICE_NAME": "streambank",
}


def recorded(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((aws.ROOT / "events" / f"{name}.json").read_text())
    return found


class Functions:
    """What callers and AWS call; each function is loaded once, as a warm Lambda is."""

    def __init__(self) -> None:
        self.loaded: dict[str, Any] = {}

    def invoke(self, name: str, event: Any) -> Any:
        if name not in self.loaded:
            self.loaded[name] = self._load(name)
        return self.loaded[name].handler(event, CONTEXT)

    def _load(self, name: str) -> Any:
        spec = importlib.util.spec_from_file_location(
            f"traced_{name}", aws.ROOT / "shared" / "functions" / f"{name}.py"
        )
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def call(
        self, method: str, path: str, body: Any = None, *, function: str = "api", query: Any = None, **headers: str
    ) -> tuple[int, Any]:
        """Return the status and the document of the answer."""
        event = recorded("api")
        event |= {"rawPath": BASE + path, "headers": headers, "queryStringParameters": query or {}}
        event["body"] = None if body is None else json.dumps(body)
        event["requestContext"]["http"] |= {"method": method, "path": BASE + path}
        reply = self.invoke(function, event)
        return reply["statusCode"], json.loads(reply["body"])

    def retrieve(self, query: str = "tea", **headers: str) -> tuple[int, Any]:
        body = {"scope": {"user_id": "123"}, "similaritySearchParams": {"searchQuery": query}}
        return self.call("POST", "/default/memories:retrieve", body, **headers)

    def generate(self, text: str, scope: dict[str, str]) -> str:
        """Bring a sentence from ingest to its memories; return the operation."""
        event = {"content": {"role": "user", "parts": [{"text": text}]}, "eventId": "e1"}
        body = {"scope": scope, "directContentsSource": {"events": [event]}, "forceFlush": True}
        status, sent = self.call("POST", "/default/memories:ingestEvents", body, function="ingest")
        assert status == 200, sent
        operation: str = sent["name"].rsplit("/", 1)[-1]
        sid = operation.rsplit("-", 1)[0]
        records = recorded("on_stream")
        for record in records["Records"]:
            record["dynamodb"]["Keys"]["PK"]["S"] = f"S#default#{sid}"
        self.invoke("on_stream", records)
        for stage in ("extract", "consolidate", "commit"):
            self.invoke(stage, {"bank": "default", "sid": sid, "win": 1, "att": 0})
        return operation


@contextmanager
def deployed(set_variable: Callable[[str, str], None], **variables: str) -> Iterator[Functions]:
    """Run the functions in an environment of their own."""
    for name, value in (ENVIRONMENT | variables).items():
        set_variable(name, value)
    boto3.DEFAULT_SESSION = None
    with aws.dynamodb():
        machines = boto3.client("stepfunctions", region_name="us-east-1")
        role = "arn:aws:iam::123456789012:role/generation"
        machines.create_state_machine(name="generation", definition=json.dumps(aws.ASL), roleArn=role)
        overrides.current.models = BasicModels()
        tracing.configure(None)
        yield Functions()
    overrides.current.models = None
    tracing.configure(None)
