"""Restores a stack's table to a moment: `python -m infra.restore --table TABLE --to NAME`, then deploy as it prints.

A restored table has no stream, no TTL, no point-in-time recovery, no tags and no deletion protection (Amazon DynamoDB
developer guide, "Point-in-time recovery": settings that must be set up by hand). This sets them as the template does.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

POLL_SECONDS = 15.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Restore the table of *arguments* with the ambient AWS credentials, and return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        client = boto3.client("dynamodb", region_name=options.region)
        if not options.resume:
            _restore(client, options.table, options.to, options.at)
        stream = prepare(client, options.to, options.table)
    except (BotoCoreError, ClientError) as error:
        print("restore: " + " ".join(str(error).split()), file=sys.stderr)
        return 1
    print(f"sam deploy --parameter-overrides RestoredTable={options.to} RestoredTableStreamArn={stream}")
    return 0


def _restore(client: Any, table: str, target: str, at: datetime | None) -> None:
    moment: dict[str, Any] = {"RestoreDateTime": at} if at else {"UseLatestRestorableTime": True}
    client.restore_table_to_point_in_time(SourceTableName=table, TargetTableName=target, **moment)


def prepare(client: Any, table: str, source: str) -> str:
    """Wait for the restored *table*, give it the settings of the template and the tags of *source*; return its stream.

    It may be repeated.
    """
    described = _active(client, table)
    if not described.get("StreamSpecification", {}).get("StreamEnabled"):
        specification = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
        client.update_table(TableName=table, StreamSpecification=specification)
        described = _active(client, table)
    if not described.get("DeletionProtectionEnabled"):
        client.update_table(TableName=table, DeletionProtectionEnabled=True)
        described = _active(client, table)
    if client.describe_time_to_live(TableName=table)["TimeToLiveDescription"]["TimeToLiveStatus"] == "DISABLED":
        specification = {"Enabled": True, "AttributeName": "ttl"}
        client.update_time_to_live(TableName=table, TimeToLiveSpecification=specification)
    recovery = {"PointInTimeRecoveryEnabled": True}
    client.update_continuous_backups(TableName=table, PointInTimeRecoverySpecification=recovery)
    _copy_tags(client, source, described["TableArn"])
    stream: str = described["LatestStreamArn"]
    return stream


def _active(client: Any, table: str) -> dict[str, Any]:
    """Return the description of *table* once it and its vector index are ready; a restore may take hours.

    A search is refused while the index is filled (Amazon DynamoDB developer guide, "Data synchronization between tables
    and vector indexes"). The index is restored with the table (API reference, "RestoreTableToPointInTime").
    """
    while True:
        described: dict[str, Any] = client.describe_table(TableName=table)["Table"]
        indexes = described.get("VectorIndexes", [])
        is_filled = all(one["IndexStatus"] == "ACTIVE" and not one.get("Backfilling") for one in indexes)
        if described["TableStatus"] == "ACTIVE" and is_filled:
            return described
        time.sleep(POLL_SECONDS)


def _copy_tags(client: Any, source: str, target_arn: str) -> None:
    arn = client.describe_table(TableName=source)["Table"]["TableArn"]
    # Tags of CloudFormation's own name the stack, and cannot be set by others.
    tags = [one for one in client.list_tags_of_resource(ResourceArn=arn)["Tags"] if not one["Key"].startswith("aws:")]
    if tags:
        client.tag_resource(ResourceArn=target_arn, Tags=tags)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m infra.restore", description="Restores a stack's table.")
    parser.add_argument("--table", required=True, help="the stack's output TableName")
    parser.add_argument("--to", required=True, help="the name of the new table")
    parser.add_argument("--at", type=datetime.fromisoformat, help="a time such as 2026-12-01T10:00:00+00:00; else now")
    parser.add_argument("--region", help="the stack's region, by default that of your AWS configuration")
    parser.add_argument("--resume", action="store_true", help="the restore has begun: only wait and set up")
    return parser


if __name__ == "__main__":
    sys.exit(main())
