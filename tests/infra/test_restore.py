"""Restoring: a table that was restored has what the template gives a table, and a stack can be deployed with it."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws
from samtranslator.yaml_helper import yaml_parse

from infra import restore
from streambank_local.emulator import stack, translation
from streambank_local.emulator.moto_repair import install
from tests.aws import ROOT, template

DECLARED = template()["Resources"]["Table"]["Properties"]


@pytest.fixture
def dynamodb(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    install()
    with mock_aws():
        client = boto3.client("dynamodb", region_name="us-east-1")
        parts = ("AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes", "VectorIndexes", "BillingMode")
        tags = [{"Key": "team", "Value": "memory"}]
        client.create_table(TableName="source", Tags=tags, **{name: DECLARED[name] for name in parts})
        recovery = {"PointInTimeRecoveryEnabled": True}
        client.update_continuous_backups(TableName="source", PointInTimeRecoverySpecification=recovery)
        client.put_item(TableName="source", Item={"PK": {"S": "S#1"}, "SK": {"S": "HEAD"}})
        yield client


def test_a_restored_table_is_set_up_as_the_template_does(dynamodb: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Items, stream, TTL, recovery, protection and tags are there, and the command names the next step."""
    assert restore.main(["--table", "source", "--to", "restored", "--region", "us-east-1"]) == 0
    table = dynamodb.describe_table(TableName="restored")["Table"]
    assert dynamodb.scan(TableName="restored")["Count"] == 1
    assert table["StreamSpecification"]["StreamViewType"] == DECLARED["StreamSpecification"]["StreamViewType"]
    assert table["DeletionProtectionEnabled"]
    assert [index["IndexName"] for index in table["VectorIndexes"]] == ["vectors"]
    ttl = dynamodb.describe_time_to_live(TableName="restored")["TimeToLiveDescription"]
    assert (ttl["TimeToLiveStatus"], ttl["AttributeName"]) == ("ENABLED", "ttl")
    recovery = dynamodb.describe_continuous_backups(TableName="restored")["ContinuousBackupsDescription"]
    assert recovery["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"
    tags = dynamodb.list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"]
    assert tags == [{"Key": "team", "Value": "memory"}]
    printed = capsys.readouterr().out
    assert f"RestoredTable=restored RestoredTableStreamArn={table['LatestStreamArn']}" in printed


def test_setting_up_may_be_repeated(dynamodb: Any) -> None:
    """A run that was interrupted is resumed, and the stream stays the same."""
    arguments = ["--table", "source", "--to", "restored", "--region", "us-east-1"]
    assert restore.main(arguments) == 0
    before = dynamodb.describe_table(TableName="restored")["Table"]["LatestStreamArn"]
    assert restore.main([*arguments, "--resume"]) == 0
    assert dynamodb.describe_table(TableName="restored")["Table"]["LatestStreamArn"] == before


def test_the_vector_index_is_waited_for(dynamodb: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table whose vector index is still filled is not ready: its searches would be refused."""
    phases = [{"IndexStatus": "CREATING"}, {"IndexStatus": "ACTIVE", "Backfilling": True}, {"IndexStatus": "ACTIVE"}]

    def describe(parsed: dict[str, Any], **_: Any) -> None:
        parsed["Table"]["VectorIndexes"] = [phases[0]]

    dynamodb.meta.events.register("after-call.dynamodb.DescribeTable", describe)
    monkeypatch.setattr(restore.time, "sleep", lambda _: phases.pop(0))
    assert restore._active(dynamodb, "source")["VectorIndexes"] == [{"IndexStatus": "ACTIVE"}]
    assert len(phases) == 1


def test_a_table_that_cannot_be_restored_is_one_line(dynamodb: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """AWS's refusal is printed, without a traceback."""
    assert restore.main(["--table", "nothing", "--to", "restored", "--region", "us-east-1"]) == 1
    assert capsys.readouterr().err.startswith("restore: ")


def test_a_stack_deploys_with_the_restored_table(dynamodb: Any) -> None:
    """With the two parameters the functions name the restored table, and the stack makes none of its own."""
    restore.main(["--table", "source", "--to", "restored", "--region", "us-east-1"])
    arn = dynamodb.describe_table(TableName="restored")["Table"]["LatestStreamArn"]
    parameters = stack.LOCAL_PARAMETERS | {"RestoredTable": "restored", "RestoredTableStreamArn": arn}
    translated = translation.translate(yaml_parse((ROOT / "template.yaml").read_text()), ROOT, parameters)
    stack._create(translated, parameters)
    functions = boto3.client("lambda", region_name="us-east-1").list_functions()["Functions"]
    assert {one["Environment"]["Variables"]["TABLE_NAME"] for one in functions} == {"restored"}
    assert set(dynamodb.list_tables()["TableNames"]) == {"source", "restored"}
    role = boto3.client("iam", region_name="us-east-1")
    [name] = [one["RoleName"] for one in role.list_roles()["Roles"] if "FailRole" in one["RoleName"]]
    document = role.get_role_policy(RoleName=name, PolicyName="own")["PolicyDocument"]
    assert "arn:aws:dynamodb:us-east-1:123456789012:table/restored'" in str(document)
