"""Calls moto's DynamoDB without the HTTP between: no signature, no headers, no parsing of requests and replies.

Measured on moto 5.2.5 and botocore 1.43: of the CPU time of one call four fifths went into that HTTP. A call that fails
is made again by the long way, so that its error is moto's own.
"""

from typing import Any

from botocore import handlers
from botocore.awsrequest import AWSResponse
from botocore.model import OperationModel
from moto.core.models import DEFAULT_ACCOUNT_ID, botocore_stubber
from moto.core.utils import camelcase_to_underscores
from moto.dynamodb.responses import DynamoHandler, DynamoResult

from streambank_local.emulator import attribute_json, boto_speed, moto_indexes
from streambank_local.emulator.journal import StorageError
from streambank_local.emulator.requests import one_request

_OPERATIONS = {
    name: camelcase_to_underscores(name)
    for name in (
        "BatchGetItem",
        "BatchWriteItem",
        "DeleteItem",
        "GetItem",
        "PutItem",
        "Query",
        "Scan",
        "SearchVectors",
        "TransactGetItems",
        "TransactWriteItems",
        "UpdateItem",
    )
}

Reply = tuple[AWSResponse, dict[str, Any]]


def install() -> Any:
    """Let clients that are made from now on take the shortcut; return what `uninstall` takes."""
    spec = ("before-call.dynamodb", _call, handlers.REGISTER_LAST)
    handlers.BUILTIN_HANDLERS.append(spec)
    boto_speed.install()
    moto_indexes.install()
    return spec


def uninstall(spec: Any) -> None:
    """Let clients that are made from now on go the long way."""
    moto_indexes.uninstall()
    boto_speed.uninstall()
    handlers.BUILTIN_HANDLERS.remove(spec)


def _call(model: OperationModel, params: dict[str, Any], context: dict[str, Any], **_: Any) -> Reply | None:
    """Return the HTTP response and the parsed reply, or None where the call has to go the long way."""
    is_moto = botocore_stubber.enabled and ".amazonaws.com" in params["url"]
    if model.name not in _OPERATIONS or not is_moto:
        return None
    try:
        with one_request():
            result = _result(model.name, params["body"], context["client_region"])
    except StorageError as error:
        return _reply(
            params["url"], error.code, {"Error": {"Code": error.relative_error_type, "Message": error.message}}
        )
    if result is None:
        return None
    parsed = {name: value for name, value in result.items() if value is not None and name in _members(model)}
    return _reply(params["url"], 200, parsed)


def _reply(url: str, status: int, parsed: dict[str, Any]) -> Reply:
    metadata = {"RequestId": "", "HTTPStatusCode": status, "HTTPHeaders": {}, "RetryAttempts": 0}
    return AWSResponse(url, status, {}, None), {**parsed, "ResponseMetadata": metadata}


def _members(model: OperationModel) -> Any:
    return model.output_shape.members if model.output_shape else {}


def _result(operation: str, body: bytes, region: str) -> dict[str, Any] | None:
    """Return a copy of the operation's result, or None if it fails."""
    handler = DynamoHandler()
    handler.body = attribute_json.loads(body)
    handler.current_account, handler.region = DEFAULT_ACCOUNT_ID, region
    handler.headers, handler.response_headers = {}, {}
    try:
        answer = getattr(handler, _OPERATIONS[operation])()
        result = getattr(answer, "result", answer)
        if type(answer) is not DynamoResult:  # which holds a copy already, with binary values as bytes
            result = attribute_json.loads(attribute_json.dumps(result))
    except Exception:  # noqa: BLE001  whatever it is, the long way raises it again
        return None
    copy: dict[str, Any] = result
    return copy
