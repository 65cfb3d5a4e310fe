"""The faster checks of DynamoDB's requests refuse and send what botocore's own do."""

from typing import Any

import boto3
import pytest
from botocore.exceptions import ParamValidationError

from streambank_local.emulator import moto_repair

TABLE = "table"


class Text(str):
    """A string of an unusual type."""

    __slots__ = ()


VALUES: dict[str, Any] = {
    "text": {"S": "é"},
    "text of a type of its own": {"S": Text("x")},
    "number": {"N": "1"},
    "bytes": {"B": b"\x00\xff"},
    "a changeable sequence of bytes": {"B": bytearray(b"\x00")},
    "text as bytes": {"B": "text"},
    "truth": {"BOOL": False},
    "null": {"NULL": True},
    "set": {"SS": ["a", "b"]},
    "set of bytes": {"BS": [b"a"]},
    "map": {"M": {"a": {"M": {"b": {"B": b"x"}}}, "B": {"S": "y"}}},
    "list": {"L": [{"L": []}, {"B": b"x"}, {"SS": ["a"]}]},
    "tuple": {"L": ({"S": "x"},)},
    "long list": {"L": [{"N": str(number)} for number in range(300)]},
    "nothing": {},
    "two": {"S": "x", "N": "1"},
    "no such type": {"X": "x"},
    "no dict": "x",
    "a number that is no text": {"N": 1},
    "truth that is a number": {"BOOL": 1},
    "text that is nothing": {"S": None},
    "a name that is a number": {"M": {1: {"S": "x"}}},
    "wrong deep inside": {"L": [{"M": {"a": {"S": 1}}}]},
}
FAULTY = list(VALUES)[list(VALUES).index("no such type") :]


@pytest.fixture(scope="module")
def client() -> Any:
    return boto3.Session("test", "test", region_name="us-east-1").client("dynamodb")


def request(client: Any, parameters: dict[str, Any]) -> Any:
    """Return the request that botocore makes of an item, or its complaint."""
    model = client.meta.service_model.operation_model("PutItem")
    try:
        return client._serializer.serialize_to_request(parameters, model)["body"]
    except ParamValidationError as error:
        return str(error)


@pytest.mark.parametrize("value", VALUES)
def test_a_request_is_checked_and_sent_as_botocore_does(client: Any, value: str) -> None:
    """Any attribute value, alone and beside others, gives the same bytes or the same complaint."""
    item = {"PK": {"S": "a"}, "value": VALUES[value], "last": {"B": b"z"}}
    parameters = {"TableName": TABLE, "Item": item, "ExpressionAttributeValues": {":value": VALUES[value]}}
    moto_repair.uninstall()
    expected = request(client, parameters)
    moto_repair.install()
    assert request(client, parameters) == expected
    assert isinstance(expected, str) == (value in FAULTY)
