"""The deployed stack: template.yaml, translated offline and put into the emulator."""

import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3

from streambank_local.emulator.filters import Pattern
from streambank_local.emulator.translation import CODE, NAME, StackError, translate
from streambank_local.template_file import read_template

REGION = "us-east-1"
ACCOUNT = "123456789012"
# The template does not allow `open`: in local mode the gateway requires a fixed token instead.
LOCAL_PARAMETERS = {"Model": "embedded", "AllowedModels": "*", "LogLevel": "WARNING", "AuthMode": "open"}

# For a mapping that names none. AWS would retry for a day and block the stream meanwhile.
RETRY_ATTEMPTS = 3

# What the emulator deploys and local mode uses. Local mode has its own gateway and timer, and needs no alarms.
_DEPLOYABLE = {
    "AWS::DynamoDB::Table",
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::Role",
    "AWS::Lambda::Function",
    "AWS::Lambda::LayerVersion",
    "AWS::Logs::LogGroup",
    "AWS::S3::Bucket",
    "AWS::SQS::Queue",
    "AWS::StepFunctions::StateMachine",
}


@dataclass(frozen=True)
class Function:
    """A function as the template describes it, with its environment resolved."""

    name: str
    deployed_name: str
    handler: str
    environment: Mapping[str, str]
    timeout_seconds: int
    memory_mb: int

    @property
    def arn(self) -> str:
        return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{self.deployed_name}"


@dataclass(frozen=True)
class Route:
    """An HTTP route: an upper-case method or ANY, a path with {parameters}, and its function's name."""

    method: str
    path: str
    function: str


@dataclass(frozen=True)
class StreamMapping:
    """How a function is fed from the table's stream."""

    function: str
    patterns: tuple[Pattern, ...] = ()
    batch_size: int = 100
    maximum_retry_attempts: int = RETRY_ATTEMPTS
    bisect_on_error: bool = False
    reports_failures: bool = False
    failure_queue_url: str | None = None


@dataclass(frozen=True)
class Stack:
    """What the rest of local mode needs to know about the deployed template."""

    table_name: str
    stream_arn: str
    machine_arn: str
    machine_definition: str
    queue_urls: Mapping[str, str]
    functions: Mapping[str, Function]
    routes: tuple[Route, ...]
    mappings: tuple[StreamMapping, ...]
    scheduled: tuple[str, ...]
    object_lifetimes: Mapping[str, timedelta] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """Return all functions' variables as one; raises StackError where two functions disagree."""
        merged: dict[str, str] = {}
        for function in self.functions.values():
            for name, value in function.environment.items():
                if merged.setdefault(name, value) != value:
                    raise StackError(f"two functions set {name} to different values, and in one process they share it")
        return merged


def deploy(folder: Path, parameters: Mapping[str, str] = LOCAL_PARAMETERS) -> Stack:
    """Deploy *folder*'s template.yaml into the running emulator; raises StackError."""
    source = read_template(folder)
    translated = translate(source, folder, parameters)
    _create(translated, parameters)
    return _describe(source, translated["Resources"], parameters)


def _create(translated: dict[str, Any], parameters: Mapping[str, str]) -> None:
    _upload_code()
    kept = {name: resource for name, resource in translated["Resources"].items() if resource["Type"] in _DEPLOYABLE}
    # An Output that refers to a dropped resource crashes the emulator.
    body = {part: value for part, value in translated.items() if part != "Outputs"} | {"Resources": kept}
    client = boto3.client("cloudformation", region_name=REGION)
    try:
        with _templates_read_as_json():
            client.create_stack(
                StackName=NAME,
                TemplateBody=json.dumps(body),
                Parameters=[{"ParameterKey": name, "ParameterValue": value} for name, value in parameters.items()],
                Capabilities=["CAPABILITY_IAM"],
            )
    except Exception as error:
        raise StackError(f"template.yaml cannot be deployed locally: {type(error).__name__}: {error}") from error
    status = client.describe_stacks(StackName=NAME)["Stacks"][0]["StackStatus"]
    if status != "CREATE_COMPLETE":
        raise StackError(f"template.yaml cannot be deployed locally: the stack is {status}")


@contextmanager
def _templates_read_as_json() -> Iterator[None]:
    """Let moto read a template as JSON: as YAML that takes a third of a local service's start."""
    # It imports most of moto, which only a deployment needs.
    from moto.cloudformation import models  # noqa: PLC0415

    original = vars(models.Stack)["parse_template"]
    models.Stack.parse_template = staticmethod(json.loads)  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        models.Stack.parse_template = original  # type: ignore[method-assign]


def _upload_code() -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as empty:
        empty.writestr("empty.py", "")
    client = boto3.client("s3", region_name=REGION)
    client.create_bucket(Bucket=CODE["Bucket"])
    client.put_object(Bucket=CODE["Bucket"], Key=CODE["Key"], Body=archive.getvalue())


def _describe(source: dict[str, Any], resources: dict[str, Any], parameters: Mapping[str, str]) -> Stack:
    client = boto3.client("cloudformation", region_name=REGION)
    deployed = {
        resource["LogicalResourceId"]: resource["PhysicalResourceId"]
        for resource in client.describe_stack_resources(StackName=NAME)["StackResources"]
        if "PhysicalResourceId" in resource
    }
    table = boto3.client("dynamodb", region_name=REGION).describe_table(
        TableName=deployed[_only(resources, "AWS::DynamoDB::Table")]
    )["Table"]
    machine = _only(resources, "AWS::StepFunctions::StateMachine")
    aws_lambda = boto3.client("lambda", region_name=REGION)
    # A resource whose condition does not hold is not deployed.
    functions = {
        name: _function(name, deployed[name], aws_lambda)
        for name in _named(resources, "AWS::Lambda::Function")
        if name in deployed
    }
    queue_urls = {name: deployed[name] for name in _named(resources, "AWS::SQS::Queue") if name in deployed}
    return Stack(
        table_name=table["TableName"],
        stream_arn=table["LatestStreamArn"],
        machine_arn=deployed[machine],
        machine_definition=_definition(resources[machine]["Properties"], functions),
        queue_urls=queue_urls,
        functions=functions,
        routes=tuple(_routes(source)),
        mappings=tuple(_mappings(resources, functions, queue_urls)),
        scheduled=tuple(name for name, event in _events(source) if event["Type"] in {"Schedule", "ScheduleV2"}),
        object_lifetimes=dict(_object_lifetimes(source, parameters)),
    )


def _named(resources: Mapping[str, Any], kind: str) -> list[str]:
    return [name for name, resource in resources.items() if resource["Type"] == kind]


def _only(resources: Mapping[str, Any], kind: str) -> str:
    names = _named(resources, kind)
    if len(names) != 1:
        raise StackError(f"local mode expects one {kind} in template.yaml, not {len(names)}")
    return names[0]


def _function(name: str, deployed_name: str, client: Any) -> Function:
    settings = client.get_function_configuration(FunctionName=deployed_name)
    variables = settings.get("Environment", {}).get("Variables", {})
    return Function(
        name=name,
        deployed_name=deployed_name,
        handler=settings["Handler"],
        environment={key: str(value) for key, value in variables.items()},
        timeout_seconds=settings["Timeout"],
        memory_mb=settings["MemorySize"],
    )


def _definition(machine: dict[str, Any], functions: Mapping[str, Function]) -> str:
    lines: str | dict[str, Any] = machine["DefinitionString"]
    text = lines if isinstance(lines, str) else "\n".join(lines["Fn::Join"][1])
    for placeholder, reference in machine.get("DefinitionSubstitutions", {}).items():
        text = text.replace(f"${{{placeholder}}}", _substitute(reference, functions))
    return text


def _substitute(reference: dict[str, Any], functions: Mapping[str, Function]) -> str:
    return "aws" if reference == {"Ref": "AWS::Partition"} else functions[_logical_name(reference)].arn


def _logical_name(reference: dict[str, Any]) -> str:
    """Return the logical name that a Ref or a GetAtt points to."""
    target: str | list[str] = reference.get("Ref") or reference["Fn::GetAtt"]
    return target if isinstance(target, str) else target[0]


def _events(source: dict[str, Any]) -> Iterable[tuple[str, dict[str, Any]]]:
    for name, resource in source["Resources"].items():
        for event in resource.get("Properties", {}).get("Events", {}).values():
            yield name, event


def _routes(source: dict[str, Any]) -> Iterable[Route]:
    for name, event in _events(source):
        if event["Type"] == "HttpApi":
            yield Route(event["Properties"]["Method"].upper(), event["Properties"]["Path"], name)


def _object_lifetimes(source: dict[str, Any], parameters: Mapping[str, str]) -> Iterable[tuple[str, timedelta]]:
    """Yield each bucket that has a rule of expiry, with the time that its objects live."""
    for resource in source["Resources"].values():
        properties = resource.get("Properties", {})
        for rule in properties.get("LifecycleConfiguration", {}).get("Rules", []):
            days = rule.get("ExpirationInDays")
            if isinstance(days, dict):
                days = parameters.get(days["Ref"], source["Parameters"][days["Ref"]]["Default"])
            if days is not None:
                yield properties["BucketName"], timedelta(days=int(days))


def _mappings(
    resources: dict[str, Any], functions: Mapping[str, Function], queue_urls: Mapping[str, str]
) -> Iterable[StreamMapping]:
    for name in _named(resources, "AWS::Lambda::EventSourceMapping"):
        settings = resources[name]["Properties"]
        if _logical_name(settings["FunctionName"]) not in functions:
            continue
        filters = settings.get("FilterCriteria", {}).get("Filters", [])
        on_failure = settings.get("DestinationConfig", {}).get("OnFailure", {}).get("Destination")
        yield StreamMapping(
            function=_logical_name(settings["FunctionName"]),
            patterns=tuple(json.loads(entry["Pattern"]) for entry in filters),
            batch_size=settings.get("BatchSize", 100),
            maximum_retry_attempts=settings.get("MaximumRetryAttempts", RETRY_ATTEMPTS),
            bisect_on_error=settings.get("BisectBatchOnFunctionError", False),
            reports_failures="ReportBatchItemFailures" in settings.get("FunctionResponseTypes", []),
            failure_queue_url=queue_urls[_logical_name(on_failure)] if on_failure else None,
        )
