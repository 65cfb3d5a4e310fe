"""What only the caller's own AWS credentials can tell: alarms, their subscription, the stream's mapping, the quota."""

from collections.abc import Iterator
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from streambank_local.doctor.cures import Finding

# AWS keeps this much unreserved (AWS Lambda developer guide, "Configuring reserved concurrency").
UNRESERVED = 100


def findings(stack: str, region: str | None) -> Iterator[Finding]:
    """Yield the findings about a stack."""
    try:
        session = boto3.Session(region_name=region)
        reply = session.client("cloudformation").describe_stack_resources(StackName=stack)
        names = {one["LogicalResourceId"]: one.get("PhysicalResourceId", "") for one in reply["StackResources"]}
        alarms = [
            one["PhysicalResourceId"]
            for one in reply["StackResources"]
            if one["ResourceType"] == "AWS::CloudWatch::Alarm"
        ]
        yield _alarms(session.client("cloudwatch"), alarms)
        yield _subscription(session.client("sns"), names["AlarmTopic"])
        yield _mapping(session.client("lambda"), names["OnStreamTable"])
        yield _quota(session.client("lambda"))
    except (BotoCoreError, ClientError, KeyError) as error:
        cure = "check --stack and --region, and that your credentials may describe the stack and its alarms"
        yield Finding("AWS", False, f"{type(error).__name__}: {error}", cure)


def _alarms(cloudwatch: Any, names: list[str]) -> Finding:
    reply = cloudwatch.describe_alarms(AlarmNames=names)
    ringing = [one["AlarmName"] for one in reply["MetricAlarms"] if one["StateValue"] == "ALARM"]
    cure = "docs/operating.md says what to do about each; SweepStopped rings once after the first deployment"
    return Finding("alarms", not ringing, f"{len(names)} alarms, in alarm: {', '.join(ringing) or 'none'}", cure)


def _subscription(sns: Any, topic: str) -> Finding:
    arns = [one["SubscriptionArn"] for one in sns.list_subscriptions_by_topic(TopicArn=topic)["Subscriptions"]]
    is_heard = any(arn.startswith("arn:") for arn in arns)
    cure = "set AlarmEmail, and confirm AWS's message; or subscribe your alerting to the output AlarmTopicArn"
    return Finding("alarm topic", is_heard, "has a subscription" if is_heard else "has no subscription", cure)


def _mapping(functions: Any, mapping: str) -> Finding:
    state = functions.get_event_source_mapping(UUID=mapping)["State"]
    cure = "enable the trigger of the function OnStream; until then only the sweep starts generations, a minute later"
    return Finding("stream mapping", state == "Enabled", state, cure)


def _quota(functions: Any) -> Finding:
    limit = functions.get_account_settings()["AccountLimit"]["ConcurrentExecutions"]
    cure = "request 1,000 in Service Quotas: with less than 101 nothing can be reserved, and one burst stops everything"
    return Finding("quota of concurrent executions", limit > UNRESERVED, str(limit), cure)
