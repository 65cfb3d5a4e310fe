"""Ripens the reminders whose time has come."""

from typing import Any

import sample_wiring
from boto3.dynamodb.conditions import Key

_table = sample_wiring.table()


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    due = Key("G1PK").eq("DUE#3") & Key("G1SK").lte(int(sample_wiring.now()))
    items = _table.query(IndexName="due", KeyConditionExpression=due)["Items"]
    for item in items:
        _table.update_item(
            Key={"PK": item["PK"], "SK": "HEAD"},
            UpdateExpression="SET ripe = :yes REMOVE G1PK, G1SK",
            ExpressionAttributeValues={":yes": 1},
        )
    return {"due": len(items)}
