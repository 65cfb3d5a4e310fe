"""The template, deployed into MiniStack by `sam deploy` itself, and what MiniStack must be helped with."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from samtranslator.yaml_helper import yaml_parse

from infra.stack.outcome import UnmetError
from infra.stack.tools import ARCHITECTURE, BUILD, BUILT_TEMPLATE, REGION, ROOT, run, tool

NAME = "streambank"
EMULATED_TEMPLATE = BUILD / "emulated.json"


class DeploymentError(Exception):
    """The template could not be deployed."""


@dataclass(frozen=True)
class Deployment:
    """A deployed stack: where AWS is, where the API is, what the stack put out, and a key that opens all of it."""

    endpoint: str
    url: str
    outputs: dict[str, str]
    key: str
    left_out: tuple[str, ...]

    def write(self, file: Path) -> None:
        file.write_text(json.dumps(self.__dict__))


def deploy(endpoint: str) -> Deployment:
    """Deploy the built template; raises UnmetError if nothing was built, DeploymentError."""
    left_out = _write_emulated()
    status, said = run(_command(), {"AWS_ENDPOINT_URL": endpoint})
    if status:
        raise DeploymentError(said[-3000:])
    stack = client("cloudformation", endpoint).describe_stacks(StackName=NAME)["Stacks"][0]
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
    url = _complete(endpoint, outputs["TableName"])
    return Deployment(endpoint, url, outputs, _key(endpoint, outputs["FirstKey"]), left_out)


def client(service: str, endpoint: str, key: str = "test") -> Any:
    """Return a client of the emulator."""
    return boto3.client(
        service, region_name=REGION, endpoint_url=endpoint, aws_access_key_id=key, aws_secret_access_key=key
    )


def source() -> dict[str, Any]:
    """Return the built template; raises UnmetError if there is none."""
    if not BUILT_TEMPLATE.exists():
        raise UnmetError("nothing was built")
    parsed: dict[str, Any] = yaml_parse(BUILT_TEMPLATE.read_text())
    return parsed


def _command() -> list[str | Path]:
    # README's `sam deploy`, without its questions.
    named: list[str | Path] = ["--template-file", EMULATED_TEMPLATE, "--stack-name", NAME, "--parameter-overrides"]
    quiet = ["--resolve-s3", "--no-confirm-changeset", "--no-progressbar", "--capabilities", "CAPABILITY_IAM"]
    return [tool("stack", "sam"), "deploy", *named, f"Architecture={ARCHITECTURE}", *quiet]


def _write_emulated() -> tuple[str, ...]:
    """Write the built template without what MiniStack cannot have; return the names.

    It refuses alarms of several metrics. It speaks plain HTTP, which the bucket's policy refuses, there as in AWS.
    """
    template = source()
    names = tuple(name for name, found in template["Resources"].items() if _is_left_out(found))
    for name in names:
        del template["Resources"][name]
    EMULATED_TEMPLATE.write_text(json.dumps(template))
    return names


def _is_left_out(resource: Mapping[str, Any]) -> bool:
    return resource["Type"] == "AWS::S3::BucketPolicy" or "Metrics" in resource.get("Properties", {})


def _complete(endpoint: str, table: str) -> str:
    """Add what MiniStack leaves out of a template: an OpenAPI body's routes, and TTL; return the API's address."""
    gateway = client("apigatewayv2", endpoint)
    [api] = gateway.get_apis()["Items"]
    functions = {
        found["LogicalResourceId"]: found["PhysicalResourceId"]
        for found in client("cloudformation", endpoint).describe_stack_resources(StackName=NAME)["StackResources"]
        if found["ResourceType"] == "AWS::Lambda::Function"
    }
    for function, route in _routes():
        arn = client("lambda", endpoint).get_function(FunctionName=functions[function])["Configuration"]["FunctionArn"]
        integration = gateway.create_integration(
            ApiId=api["ApiId"], IntegrationType="AWS_PROXY", IntegrationUri=arn, PayloadFormatVersion="2.0"
        )
        target = f"integrations/{integration['IntegrationId']}"
        gateway.create_route(ApiId=api["ApiId"], RouteKey=route, Target=target)
    specification = {"AttributeName": "ttl", "Enabled": True}
    client("dynamodb", endpoint).update_time_to_live(TableName=table, TimeToLiveSpecification=specification)
    return f"{endpoint}/_aws/execute-api/{api['ApiId']}/$default"


def _routes() -> Iterable[tuple[str, str]]:
    for name, resource in source()["Resources"].items():
        for event in resource.get("Properties", {}).get("Events", {}).values():
            if event["Type"] == "HttpApi":
                method, path = event["Properties"]["Method"].upper(), event["Properties"]["Path"]
                yield name, "$default" if (method, path) == ("ANY", "/{proxy+}") else f"{method} {path}"


def _key(endpoint: str, first: str) -> str:
    """Make a key with the command that the stack's outputs name, for all banks and roles."""
    words = first.replace("--bank default", "--all-banks --role admin --role edit").split()[1:]
    python = ROOT / ".venv" / "bin" / "python"
    status, said = run([python, *words], {"AWS_ENDPOINT_URL": endpoint, "PYTHONPATH": f"{ROOT}/shared"})
    if status:
        raise DeploymentError(said)
    return said.split()[0]
