"""Checks that the emulator enforces the roles: otherwise the other steps would prove nothing about them."""

import json
from typing import Any

from infra.stack.deployment import NAME, Deployment, client
from infra.stack.outcome import Outcome, failed, passed

FUNCTION, ROLE, POLICY = "Fail", "FailRole", "own"
EVENT = {"bank": "default", "sid": "a" * 26, "win": 1, "att": 0, "outcome": "MODEL_UNAVAILABLE"}


def a_role_without_its_policy_is_refused(deployed: Deployment) -> Outcome:
    """Prove that a function works with its policy, and is refused without it."""
    iam = client("iam", deployed.endpoint)
    names = _names(deployed)
    document = iam.get_role_policy(RoleName=names[ROLE], PolicyName=POLICY)["PolicyDocument"]
    with_policy = _invoke(deployed, names[FUNCTION])
    iam.delete_role_policy(RoleName=names[ROLE], PolicyName=POLICY)
    try:
        without = _invoke(deployed, names[FUNCTION])
    finally:
        iam.put_role_policy(RoleName=names[ROLE], PolicyName=POLICY, PolicyDocument=json.dumps(document))
    again = _invoke(deployed, names[FUNCTION])
    if with_policy != again or "AccessDenied" not in without:
        return failed(f"with its policy: {with_policy}; without: {without}; with it again: {again}")
    return passed("a function without its policy is refused; all others ran with their own")


def _names(deployed: Deployment) -> dict[str, str]:
    reply = client("cloudformation", deployed.endpoint).describe_stack_resources(StackName=NAME)
    return {one["LogicalResourceId"]: one["PhysicalResourceId"] for one in reply["StackResources"]}


def _invoke(deployed: Deployment, function: str) -> str:
    reply: Any = client("lambda", deployed.endpoint).invoke(FunctionName=function, Payload=json.dumps(EVENT))
    payload: bytes = reply["Payload"].read()
    return payload.decode()
