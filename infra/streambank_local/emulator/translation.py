"""template.yaml, translated from SAM to CloudFormation offline."""

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from samtranslator.model.exceptions import InvalidDocumentException
from samtranslator.translator.managed_policy_translator import ManagedPolicyLoader
from samtranslator.translator.transform import transform

NAME = "streambank"
# The archive that stands for the code of all functions, which run in this process.
CODE = {"Bucket": "streambank-code", "Key": "empty.zip"}


class StackError(Exception):
    """The stack could not be deployed."""


def translate(source: dict[str, Any], folder: Path, parameters: Mapping[str, str]) -> dict[str, Any]:
    """Return the CloudFormation template for *source*, a SAM template; raises StackError."""
    _point_at_emulator(source, folder)
    # It warns about its own unpublished metrics.
    logging.getLogger("samtranslator").setLevel(logging.ERROR)
    try:
        translated: dict[str, Any] = transform(source, dict(parameters), _NoManagedPolicies())
    except InvalidDocumentException as error:
        raise StackError(f"template.yaml: {error.message} {[cause.message for cause in error.causes]}") from error
    return translated


class _NoManagedPolicies(ManagedPolicyLoader):  # type: ignore[misc]
    """Knows no managed policies, so that the translator does not request them from IAM."""

    def __init__(self) -> None:
        self._policy_map: dict[str, str] = {}

    def load(self) -> dict[str, str]:
        return self._policy_map


def _point_at_emulator(source: dict[str, Any], folder: Path) -> None:
    source.setdefault("Globals", {}).setdefault("Function", {})["CodeUri"] = CODE
    for name, resource in source["Resources"].items():
        properties = resource.get("Properties", {})
        if resource["Type"] == "AWS::Serverless::LayerVersion":
            properties["ContentUri"] = CODE
        elif resource["Type"] == "AWS::DynamoDB::Table":
            # Fixed names, so that clients and names that a process has cached stay valid for its next local service.
            properties.setdefault("TableName", f"{NAME}-{name}")
        elif resource["Type"] == "AWS::S3::Bucket":
            properties.setdefault("BucketName", f"{NAME}-{name}".lower())
        elif resource["Type"] == "AWS::Serverless::StateMachine":
            properties.setdefault("Name", f"{NAME}-{name}")
            properties["Definition"] = json.loads((folder / properties.pop("DefinitionUri")).read_text())
