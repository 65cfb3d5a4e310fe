"""Rings, and notes when."""

from typing import Any

import sample_wiring


class DeafError(Exception):
    """Nobody hears it."""


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    if event["name"].startswith("deaf"):
        raise DeafError
    sample_wiring.table().update_item(
        Key={"PK": event["name"], "SK": "HEAD"},
        UpdateExpression="SET rung = :now, ripe = :no",
        ExpressionAttributeValues={":now": int(sample_wiring.now()), ":no": 0},
    )
    return {"outcome": "rung"}
