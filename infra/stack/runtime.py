"""Runs every built function under Lambda's own runtime client and emulator, with its recorded event.

The emulator's binary is the one that SAM has for `sam local`. The functions run with the layer and the packages of
Lambda's runtime alone, in the environment of env.json.
"""

import json
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from infra.stack.building import LAYER, functions
from infra.stack.deployment import client, source
from infra.stack.emulator import HOST, await_port, free_port, terminate
from infra.stack.outcome import Outcome, RequirementError, failed, passed
from infra.stack.tools import ARCHITECTURE, BUILD, ROOT, environment, tool

ACCOUNT = "123456789012"
CALL_SECONDS = 60.0
# Checks of the replies when the events are sent in this order.
EXPECTED: dict[str, Callable[[Any], bool]] = {
    "Ingest": lambda reply: reply["statusCode"] == 200 and '"acceptedEvents":1' in reply["body"],
    "OnStream": lambda reply: reply == {"batchItemFailures": []},
    "Extract": lambda reply: reply == {"outcome": "extracted"},
    "Consolidate": lambda reply: reply == {"outcome": "planned"},
    "Commit": lambda reply: reply == {"outcome": "committed"},
    "OnChange": lambda reply: reply == {"batchItemFailures": []},
    "Api": lambda reply: reply["statusCode"] == 200 and "blue" in reply["body"],
    "OnSchedule": lambda reply: reply["faults"] == [] and reply["is_complete"],
    "Fail": lambda reply: reply == {"outcome": "failed"},
    "Replay": lambda reply: reply == {"outcome": "late"},
}


@dataclass(frozen=True)
class FunctionRun:
    """A function's reply to its event, and the seconds of its first and its second call."""

    reply: Any
    cold_seconds: float
    warm_seconds: float


def recorded_events_succeed(endpoint: str, bedrock: str) -> Outcome:
    """Prove that the built functions, in order, bring a sentence from ingest to retrieval."""
    _create_resources(endpoint)
    wrong, cold, warm = [], [], []
    for name, is_right in EXPECTED.items():
        result = invoke(name, endpoint, bedrock)
        cold.append(result.cold_seconds)
        warm.append(result.warm_seconds)
        if not is_right(result.reply):
            wrong.append(f"{name}: {str(result.reply)[:300]}")
    if wrong:
        return failed("; ".join(wrong))
    return passed(f"{len(cold)} functions; first calls {_span(cold)}, further calls {_span(warm)}")


def invoke(name: str, endpoint: str, bedrock: str) -> FunctionRun:
    """Start a built function, and send its recorded event twice: every step may run twice."""
    handler = source()["Resources"][name]["Properties"]["Handler"]
    event = (ROOT / "events" / f"{handler.partition('.')[0]}.json").read_bytes()
    with _started(name, handler, endpoint, bedrock) as url:
        begun = time.monotonic()
        reply = httpx.post(url, content=event, timeout=CALL_SECONDS).json()
        between = time.monotonic()
        httpx.post(url, content=event, timeout=CALL_SECONDS)
        return FunctionRun(reply, between - begun, time.monotonic() - between)


@contextmanager
def _started(name: str, handler: str, endpoint: str, bedrock: str) -> Iterator[str]:
    """Start a function, and yield the address for its events."""
    port, log = free_port(), BUILD / f"{name}.log"
    addresses = ["--runtime-interface-emulator-address", f"{HOST}:{port}", "--runtime-api-address"]
    with _emulator() as emulator, log.open("w") as out:
        process = subprocess.Popen(  # noqa: S603  SAM's own binary
            [emulator, *addresses, f"{HOST}:{free_port()}", tool("runtime", "python"), "-m", "awslambdaric", handler],
            cwd=BUILD / name,
            env=environment(_variables(name, endpoint, bedrock)),
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            await_port(port, process)
            yield f"http://{HOST}:{port}/2015-03-31/functions/function/invocations"
        finally:
            terminate(process)


def _variables(name: str, endpoint: str, bedrock: str) -> dict[str, str]:
    properties = source()["Resources"][name]["Properties"]
    timeout = properties.get("Timeout", source()["Globals"]["Function"]["Timeout"])
    own: dict[str, str] = json.loads((ROOT / "env.json").read_text())[name]
    return own | {
        "PYTHONPATH": str(LAYER),
        "AWS_ACCESS_KEY_ID": ACCOUNT,  # the emulator uses such a key as its account
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": bedrock,
        "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",
        "AWS_LAMBDA_FUNCTION_NAME": name,
        "AWS_LAMBDA_FUNCTION_TIMEOUT": str(timeout),
    }


@contextmanager
def _emulator() -> Iterator[Path]:
    """Yield the runtime interface emulator as a program; raises RequirementError if SAM has none for this machine."""
    binaries = sorted((ROOT / ".venv-stack").glob(f"lib/python*/site-packages/samcli/local/rapid/*-{ARCHITECTURE}"))
    if not binaries:
        raise RequirementError(f"SAM has no runtime interface emulator for {ARCHITECTURE}")
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / "rie"
        program.write_bytes(binaries[0].read_bytes())
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        yield program


def _create_resources(endpoint: str) -> None:
    """Create what env.json names: a table without a stream, and a state machine that does nothing."""
    if not functions():
        raise RequirementError("nothing was built")
    variables = json.loads((ROOT / "env.json").read_text())["Api"]
    table = source()["Resources"]["Table"]["Properties"]
    parts = ("AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes", "VectorIndexes", "BillingMode")
    definition = {part: table[part] for part in parts}
    client("dynamodb", endpoint, ACCOUNT).create_table(TableName=variables["TABLE_NAME"], **definition)
    machine = {"StartAt": "Done", "States": {"Done": {"Type": "Succeed"}}}
    role = f"arn:aws:iam::{ACCOUNT}:role/generation"
    trust = {"Effect": "Allow", "Principal": {"Service": "states.amazonaws.com"}, "Action": "sts:AssumeRole"}
    client("iam", endpoint, ACCOUNT).create_role(
        RoleName="generation",
        AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]}),
    )
    client("stepfunctions", endpoint, ACCOUNT).create_state_machine(
        name=variables["STATE_MACHINE_ARN"].rsplit(":", 1)[-1], definition=json.dumps(machine), roleArn=role
    )


def _span(seconds: list[float]) -> str:
    return f"{1000 * min(seconds):.0f} to {1000 * max(seconds):.0f} ms"
