"""A table with a vector index of three dimensions, in whichever emulator a client reaches."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

TABLE = "streambank-vectors"
INDEX: dict[str, Any] = {
    "IndexName": "vectors",
    "VectorAttribute": {"AttributeName": "v"},
    "Dimensions": 3,
    "DistanceFunction": "DOT_PRODUCT",
    "SearchSchema": [{"AttributeName": "VPK", "SearchSchemaElementType": "HASH"}],
    "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["w", "rev"]},
}
DEFINITION: dict[str, Any] = {
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK", "VPK")],
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
}


def numbers(*values: float) -> list[dict[str, str]]:
    return [{"N": str(value)} for value in values]


def item(name: str, *vector: float, bank: str | None = "b", **more: Any) -> dict[str, Any]:
    """Return an item of partition `p`; its vector and its bank are left out where they are not given."""
    vectors = {"v": {"L": numbers(*vector)}} if vector else {}
    banks = {"VPK": {"S": bank}} if bank else {}
    return {"PK": {"S": "p"}, "SK": {"S": name}, **banks, **vectors, **more}


def search(client: Any, *vector: float, bank: str = "b", **more: Any) -> Any:
    request = {
        "TableName": TABLE,
        "IndexName": "vectors",
        "SearchVector": numbers(*vector),
        "TopK": 10,
        "SearchConditionExpression": "#vpk = :vpk",
        "ExpressionAttributeNames": {"#vpk": "VPK"},
        "ExpressionAttributeValues": {":vpk": {"S": bank}},
    }
    return client.search_vectors(**{name: value for name, value in {**request, **more}.items() if value is not None})


def names(reply: Any) -> list[str]:
    return [one["Item"]["SK"]["S"] for one in reply["SearchResults"]]


@contextmanager
def made(client: Any) -> Iterator[Any]:
    """Yield *client* while the table is there."""
    client.create_table(TableName=TABLE, VectorIndexes=[INDEX], **DEFINITION)
    try:
        yield client
    finally:
        client.delete_table(TableName=TABLE)
