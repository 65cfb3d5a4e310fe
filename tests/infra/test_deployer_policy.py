"""The policy for whoever deploys fits the template."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from typing import Any

import pytest

from tests.aws import ROOT, template

POLICY = json.loads((ROOT / "docs" / "examples" / "deployer-policy.json").read_text())
# IAM's limit for a managed policy, without white space.
MAX_CHARACTERS = 6_144
# What creates and deletes a resource of each type: the types of the template, and those that SAM makes of them.
ACTIONS = {
    "AWS::ApiGatewayV2::ApiMapping": ("apigateway:POST", "apigateway:DELETE"),
    "AWS::ApiGatewayV2::DomainName": ("apigateway:POST", "apigateway:DELETE"),
    "AWS::CloudWatch::Alarm": ("cloudwatch:PutMetricAlarm", "cloudwatch:DeleteAlarms"),
    "AWS::CloudWatch::Dashboard": ("cloudwatch:PutDashboard", "cloudwatch:DeleteDashboards"),
    "AWS::DynamoDB::Table": (
        "dynamodb:CreateTable",
        "dynamodb:UpdateContinuousBackups",
        "dynamodb:UpdateTable",
        "dynamodb:UpdateTimeToLive",
    ),
    "AWS::IAM::ManagedPolicy": ("iam:CreatePolicy", "iam:DeletePolicy"),
    "AWS::IAM::Role": ("iam:CreateRole", "iam:PutRolePolicy", "iam:AttachRolePolicy", "iam:PassRole", "iam:DeleteRole"),
    "AWS::Logs::LogGroup": ("logs:CreateLogGroup", "logs:PutRetentionPolicy", "logs:DeleteLogGroup"),
    "AWS::S3::Bucket": ("s3:CreateBucket", "s3:PutLifecycleConfiguration", "s3:PutBucketPublicAccessBlock"),
    "AWS::S3::BucketPolicy": ("s3:PutBucketPolicy", "s3:DeleteBucketPolicy"),
    "AWS::SNS::Subscription": ("sns:Subscribe", "sns:Unsubscribe"),
    "AWS::SNS::Topic": ("sns:CreateTopic", "sns:SetTopicAttributes", "sns:DeleteTopic"),
    "AWS::SNS::TopicPolicy": ("sns:SetTopicAttributes",),
    "AWS::SQS::Queue": ("sqs:CreateQueue", "sqs:DeleteQueue"),
    "AWS::SQS::QueuePolicy": ("sqs:SetQueueAttributes",),
    "AWS::Serverless::Function": (
        "lambda:CreateFunction",
        "lambda:UpdateFunctionCode",
        "lambda:AddPermission",
        "lambda:CreateEventSourceMapping",
        "scheduler:CreateSchedule",
        "lambda:DeleteFunction",
    ),
    "AWS::Serverless::HttpApi": ("apigateway:POST", "apigateway:PATCH", "logs:CreateLogDelivery"),
    "AWS::Serverless::LayerVersion": (
        "lambda:PublishLayerVersion",
        "lambda:GetLayerVersion",
        "lambda:DeleteLayerVersion",
    ),
    "AWS::Serverless::StateMachine": ("states:CreateStateMachine", "states:DeleteStateMachine"),
}
TYPES = sorted({one["Type"] for one in template()["Resources"].values()})


def patterns() -> list[str]:
    return [action for statement in POLICY["Statement"] for action in statement["Action"]]


def allows(action: str) -> bool:
    return any(fnmatchcase(action, pattern) for pattern in patterns())


@pytest.mark.parametrize("kind", TYPES)
def test_each_type_of_the_template_can_be_created(kind: str) -> None:
    """For each type of resource the policy allows the actions that create, change and delete it."""
    assert [action for action in ACTIONS[kind] if not allows(action)] == []


@pytest.mark.parametrize(
    "action",
    [
        "dynamodb:GetItem",
        "dynamodb:Query",
        "dynamodb:PutItem",
        "dynamodb:SearchVectors",
        "bedrock:InvokeModel",
        "iam:CreateUser",
        "sts:AssumeRole",
    ],
)
def test_what_deploying_does_not_need_is_not_allowed(action: str) -> None:
    """The policy allows neither users' data, nor models, nor other identities."""
    assert not allows(action)


def test_actions_without_a_resource_are_few() -> None:
    """Only actions that AWS does not bind to a stack's own resources are allowed for all resources."""
    [statement] = [one for one in POLICY["Statement"] if "*" in one["Resource"]]
    assert {action.partition(":")[0] for action in statement["Action"]} == {"cloudformation", "lambda", "logs"}


def test_objects_can_be_read_in_the_bucket_of_code_alone() -> None:
    """No statement that reads or writes objects names the bucket of exports."""
    statements: list[dict[str, Any]] = POLICY["Statement"]
    reading = [one for one in statements if any(fnmatchcase("s3:GetObject", action) for action in one["Action"])]
    assert [one["Sid"] for one in reading] == ["BucketOfTheBuiltCode"]


def test_the_policy_is_short_enough() -> None:
    """IAM accepts the policy as a managed policy."""
    assert len(json.dumps(POLICY, separators=(",", ":"))) <= MAX_CHARACTERS
