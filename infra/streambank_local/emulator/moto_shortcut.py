"""Calls moto's DynamoDB without the HTTP between: no signature, no headers, no parsing of requests and replies.

Measured on moto 5.2.5 and botocore 1.43: of the CPU time of one call four fifths went into that HTTP. A call that fails
is made again by the long way, so that its error is moto's own.
"""

import json
from base64 import b64decode, b64encode
from functools import partial
from typing import Any

from botocore import handlers
from botocore.awsrequest import AWSResponse
from botocore.model import OperationModel
from moto.core.models import DEFAULT_ACCOUNT_ID, botocore_stubber
from moto.core.utils import camelcase_to_underscores
from moto.dynamodb.models.dynamo_type import DynamoType
from moto.dynamodb.responses import DynamoHandler

_OPERATIONS = frozenset(
    {
        "BatchGetItem",
        "BatchWriteItem",
        "DeleteItem",
        "GetItem",
        "PutItem",
        "Query",
        "Scan",
        "TransactGetItems",
        "TransactWriteItems",
        "UpdateItem",
    }
)

Reply = tuple[AWSResponse, dict[str, Any]]


def install(lock: Any) -> Any:
    """Let clients that are made from now on take the shortcut, each call under *lock*.

    Return what `uninstall` takes.
    """
    spec = ("before-call.dynamodb", partial(_call, lock), handlers.REGISTER_LAST)
    handlers.BUILTIN_HANDLERS.append(spec)
    return spec


def uninstall(spec: Any) -> None:
    """Let clients that are made from now on go the long way."""
    handlers.BUILTIN_HANDLERS.remove(spec)


def _call(lock: Any, model: OperationModel, params: dict[str, Any], context: dict[str, Any], **_: Any) -> Reply | None:
    """Return the HTTP response and the parsed reply, or None where the call has to go the long way."""
    is_moto = botocore_stubber.enabled and ".amazonaws.com" in params["url"]
    if model.name not in _OPERATIONS or not is_moto:
        return None
    with lock:
        result = _result(model.name, params["body"], context["client_region"])
    if result is None:
        return None
    parsed = {name: value for name, value in result.items() if value is not None and name in _members(model)}
    parsed["ResponseMetadata"] = {"RequestId": "", "HTTPStatusCode": 200, "HTTPHeaders": {}, "RetryAttempts": 0}
    return AWSResponse(params["url"], 200, {}, None), parsed


def _members(model: OperationModel) -> Any:
    return model.output_shape.members if model.output_shape else {}


def _result(operation: str, body: bytes, region: str) -> dict[str, Any] | None:
    """Return a copy of the operation's result, or None if it fails."""
    handler = DynamoHandler()
    handler.body = json.loads(body, object_hook=_decoded)
    handler.current_account, handler.region = DEFAULT_ACCOUNT_ID, region
    handler.headers, handler.response_headers = {}, {}
    try:
        answer = getattr(handler, camelcase_to_underscores(operation))()
        result = getattr(answer, "result", answer)
        copy: dict[str, Any] = json.loads(json.dumps(result, default=_encoded), object_hook=_decoded)
    except Exception:  # noqa: BLE001  whatever it is, the long way raises it again
        return None
    return copy


def _encoded(value: Any) -> Any:
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, DynamoType):
        return value.to_regular_json()
    raise TypeError(f"{type(value).__name__} in a reply")


def _decoded(value: dict[str, Any]) -> dict[str, Any]:
    """Return an attribute value with its bytes, or any other object as it is."""
    if len(value) == 1:
        if isinstance(value.get("B"), str):
            return {"B": b64decode(value["B"])}
        if "BS" in value:
            return {"BS": [b64decode(one) for one in value["BS"]]}
    return value
