"""The deployment of the template into MiniStack by `sam deploy`, with what MiniStack does not create itself."""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from samtranslator.yaml_helper import yaml_parse

from infra.stack.outcome import RequirementError
from infra.stack.tools import ARCHITECTURE, BUILD, BUILT_TEMPLATE, REGION, ROOT, run, tool

NAME = "streambank"
EMULATED_TEMPLATE = BUILD / "emulated.json"
INDEX_SECONDS = 120.0
POLL_SECONDS = 1.0


class DeploymentError(Exception):
    """The template could not be deployed."""


@dataclass(frozen=True)
class Deployment:
    """A deployed stack: the endpoint of AWS, the API's URL, the stack's outputs, and a key for all banks."""

    endpoint: str
    url: str
    outputs: dict[str, str]
    key: str
    left_out: tuple[str, ...]

    def write(self, file: Path) -> None:
        file.write_text(json.dumps(self.__dict__))


def deploy(endpoint: str, name: str = NAME) -> Deployment:
    """Deploy the built template as stack *name*; raises RequirementError if nothing was built, DeploymentError."""
    left_out = update(endpoint, name)
    values = outputs(endpoint, name)
    url = _complete(endpoint, name, values["TableName"])
    return Deployment(endpoint, url, values, _key(endpoint, values["FirstKey"]), left_out)


def update(endpoint: str, name: str = NAME, *parameters: str) -> tuple[str, ...]:
    """Run `sam deploy`, and return the resources that were left out. Raises as `deploy` does."""
    left_out = _write_emulated()
    status, output = run(_command(name, parameters), {"AWS_ENDPOINT_URL": endpoint})
    if status:
        raise DeploymentError(output[-3000:])
    return left_out


def outputs(endpoint: str, name: str) -> dict[str, str]:
    """Return a stack's outputs."""
    stack = client("cloudformation", endpoint).describe_stacks(StackName=name)["Stacks"][0]
    return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}


def resources(endpoint: str, name: str, kind: str) -> dict[str, str]:
    """Return the physical ids of a stack's resources of *kind* by their logical ids."""
    reply = client("cloudformation", endpoint).describe_stack_resources(StackName=name)
    return {
        one["LogicalResourceId"]: one["PhysicalResourceId"]
        for one in reply["StackResources"]
        if one["ResourceType"] == kind
    }


def client(service: str, endpoint: str, key: str = "test") -> Any:
    """Return a client of the emulator."""
    return boto3.client(
        service, region_name=REGION, endpoint_url=endpoint, aws_access_key_id=key, aws_secret_access_key=key
    )


def command_line(endpoint: str, words: Sequence[str]) -> tuple[int, str]:
    """Run a command of the checkout's environment against the emulator; return its status and its output."""
    paths = ":".join(str(ROOT / name) for name in ("shared", "client", "infra"))
    return run([ROOT / words[0], *words[1:]], {"AWS_ENDPOINT_URL": endpoint, "PYTHONPATH": paths})


def source() -> dict[str, Any]:
    """Return the built template; raises RequirementError if there is none."""
    if not BUILT_TEMPLATE.exists():
        raise RequirementError("nothing was built")
    parsed: dict[str, Any] = yaml_parse(BUILT_TEMPLATE.read_text())
    return parsed


def _command(name: str, parameters: Iterable[str]) -> list[str | Path]:
    # README's `sam deploy`, without its prompts.
    named: list[str | Path] = ["--template-file", EMULATED_TEMPLATE, "--stack-name", name, "--parameter-overrides"]
    quiet = ["--resolve-s3", "--no-confirm-changeset", "--no-progressbar", "--capabilities", "CAPABILITY_IAM"]
    return [tool("stack", "sam"), "deploy", *named, f"Architecture={ARCHITECTURE}", *parameters, *quiet]


def _write_emulated() -> tuple[str, ...]:
    """Write the built template without the resources that MiniStack cannot create; return their names.

    It refuses alarms with several metrics. It uses plain HTTP, which the bucket's policy denies, as in AWS.
    """
    template = source()
    names = tuple(name for name, resource in template["Resources"].items() if _is_left_out(resource))
    for name in names:
        del template["Resources"][name]
    EMULATED_TEMPLATE.write_text(json.dumps(template))
    return names


def _is_left_out(resource: Mapping[str, Any]) -> bool:
    return resource["Type"] == "AWS::S3::BucketPolicy" or "Metrics" in resource.get("Properties", {})


def _complete(endpoint: str, name: str, table: str) -> str:
    """Add what MiniStack ignores: an OpenAPI body's routes, TTL, the vector index; return the API's URL."""
    gateway = client("apigatewayv2", endpoint)
    [api] = resources(endpoint, name, "AWS::ApiGatewayV2::Api").values()
    functions = resources(endpoint, name, "AWS::Lambda::Function")
    for function, route in _routes():
        arn = client("lambda", endpoint).get_function(FunctionName=functions[function])["Configuration"]["FunctionArn"]
        integration = gateway.create_integration(
            ApiId=api, IntegrationType="AWS_PROXY", IntegrationUri=arn, PayloadFormatVersion="2.0"
        )
        target = f"integrations/{integration['IntegrationId']}"
        gateway.create_route(ApiId=api, RouteKey=route, Target=target)
    specification = {"AttributeName": "ttl", "Enabled": True}
    client("dynamodb", endpoint).update_time_to_live(TableName=table, TimeToLiveSpecification=specification)
    _add_vector_index(client("dynamodb", endpoint), table)
    return f"{endpoint}/_aws/execute-api/{api}/$default"


def _add_vector_index(dynamodb: Any, table: str) -> None:
    """Add the template's vector index to a table, and wait until it can be searched."""
    declared = source()["Resources"]["Table"]["Properties"]
    [index] = declared["VectorIndexes"]
    dynamodb.update_table(
        TableName=table,
        AttributeDefinitions=declared["AttributeDefinitions"],
        VectorIndexUpdates=[{"Create": index}],
    )
    deadline = time.monotonic() + INDEX_SECONDS
    while time.monotonic() < deadline:
        [added] = dynamodb.describe_table(TableName=table)["Table"]["VectorIndexes"]
        if added["IndexStatus"] == "ACTIVE" and not added.get("Backfilling"):
            return
        time.sleep(POLL_SECONDS)
    raise DeploymentError(f"the vector index of {table} cannot be searched after {INDEX_SECONDS:.0f} s")


def _routes() -> Iterable[tuple[str, str]]:
    for name, resource in source()["Resources"].items():
        for event in resource.get("Properties", {}).get("Events", {}).values():
            if event["Type"] == "HttpApi":
                method, path = event["Properties"]["Method"].upper(), event["Properties"]["Path"]
                yield name, "$default" if (method, path) == ("ANY", "/{proxy+}") else f"{method} {path}"


def _key(endpoint: str, first: str) -> str:
    """Create a key for all banks and roles, with the command in the stack's outputs."""
    status, output = command_line(
        endpoint, first.replace("--bank default", "--all-banks --role admin --role edit").split()
    )
    if status:
        raise DeploymentError(output)
    return output.split()[0]
