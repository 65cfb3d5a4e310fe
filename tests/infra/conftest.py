"""An emulated table, with the repair and without it."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from streambank_local.emulator.moto_repair import install, uninstall

REGION = "us-east-1"


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of an empty table in the repaired emulator."""
    install()
    yield from _emulated_table(monkeypatch)


@pytest.fixture
def plain_table(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of an empty table in the emulator as its makers ship it."""
    uninstall()
    try:
        yield from _emulated_table(monkeypatch)
    finally:
        install()


def _emulated_table(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("AWS_ACCOUNT_ID_ENDPOINT_MODE", "disabled")
    with mock_aws():
        client = boto3.client("dynamodb", region_name=REGION)
        _create_table(client)
        yield client
        client.delete_table(TableName="table")


def _create_table(client: Any) -> None:
    client.create_table(
        TableName="table",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": kind}
            for name, kind in (("PK", "S"), ("SK", "S"), ("G1PK", "S"), ("G1SK", "N"))
        ],
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "due",
                "KeySchema": [
                    {"AttributeName": "G1PK", "KeyType": "HASH"},
                    {"AttributeName": "G1SK", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
    )
