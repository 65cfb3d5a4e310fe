"""API Gateway's events and responses, and the one table of statuses."""

import base64
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NotRequired, cast

from typing_extensions import TypedDict

from streambank import __version__, errors
from streambank.model.ids import BANK_ID
from streambank.wire import reader

_BANK_PATH = re.compile(
    r"/(?P<version>v1|v1beta1)"
    r"/(?P<parent>(?:projects/[^/]+/locations/[^/]+/)?(?:reasoningEngines|memoryBanks))"
    r"(?:/(?P<bank>[^/:]+)(?P<rest>[/:].*)?)?"
)
# HTTP status and google.rpc.Code of each error; subclasses before their bases. No code of google.rpc belongs to 405:
# UNIMPLEMENTED is the one for an operation that the service does not have.
_STATUSES: tuple[tuple[type[errors.StreambankError], int, str], ...] = (
    (errors.PayloadTooLarge, 413, "INVALID_ARGUMENT"),
    (errors.InvalidArgument, 400, "INVALID_ARGUMENT"),
    (errors.Unauthenticated, 401, "UNAUTHENTICATED"),
    (errors.PermissionDenied, 403, "PERMISSION_DENIED"),
    (errors.PreconditionFailed, 412, "FAILED_PRECONDITION"),
    (errors.FailedPrecondition, 400, "FAILED_PRECONDITION"),
    (errors.NotFound, 404, "NOT_FOUND"),
    (errors.MethodNotAllowed, 405, "UNIMPLEMENTED"),
    (errors.AlreadyExists, 409, "ALREADY_EXISTS"),
    (errors.Unavailable, 503, "UNAVAILABLE"),
    (errors.BudgetPaused, 429, "RESOURCE_EXHAUSTED"),
    (errors.ModelNotConfigured, 503, "UNAVAILABLE"),
    (errors.GenerationError, 503, "UNAVAILABLE"),
    (errors.StreambankError, 500, "INTERNAL"),
)

_HEADERS = {"content-type": "application/json", "x-streambank-version": __version__}
MAX_SEGMENT_BYTES = 256
# A larger body goes in base64 where that is shorter. As text it is escaped again inside Lambda's reply: a quote or a
# backslash has two bytes there, and in some runtimes a character of four bytes has twelve.
MAX_TEXT_CHARACTERS = 100_000
# An error quotes a field's name as the caller spelled it, which may be as long as a body.
MAX_QUOTED_CHARACTERS = 2_000

Response = dict[str, Any]


class FieldViolation(TypedDict):
    field: str
    description: str


class BadRequest(TypedDict):
    fieldViolations: NotRequired[list[FieldViolation]]


class Status(TypedDict):
    """Code is the HTTP status, status the name of google.rpc.Code."""

    code: int
    message: str
    status: str
    details: NotRequired[list[BadRequest]]


class Error(TypedDict):
    """An error of the service."""

    error: Status


class GatewayError(TypedDict):
    """An error of API Gateway, before the service was called."""

    message: str


@dataclass(frozen=True, slots=True)
class BankPath:
    """The path of a request: *parent* is echoed as the caller spelled it, *rest* is the path below the bank.

    *bank* is empty for the collection of banks.
    """

    parent: str
    bank: str
    rest: str

    @property
    def bank_name(self) -> str:
        """Return the bank's resource name as the caller spells it."""
        return f"{self.parent}/{self.bank}"


def bank_path(event: Mapping[str, Any]) -> BankPath:
    """Return the path of an API Gateway event, taken apart. Raises NotFound for one that leads nowhere."""
    path = str(event.get("rawPath", ""))
    # A key of the table has at most 1,024 bytes; no id of ours is longer than this.
    if any(len(segment.encode(errors="replace")) > MAX_SEGMENT_BYTES for segment in path.split("/")):
        raise errors.NotFound(f"a part of the path is longer than {MAX_SEGMENT_BYTES} bytes")
    match = _BANK_PATH.fullmatch(path)
    if match is None:
        raise errors.NotFound(f"there is no route {path!r}")
    bank = match["bank"] or ""
    if bank and not BANK_ID.fullmatch(bank):
        raise errors.NotFound(f"there is no bank {bank!r}")
    return BankPath(match["parent"], bank, match["rest"] or "")


def body(event: Mapping[str, Any], *, most_bytes: int = reader.MAX_BODY_BYTES) -> Any:
    """Return the JSON body of an API Gateway event."""
    is_base64 = bool(event.get("isBase64Encoded"))
    return reader.json_body(event.get("body"), is_base64=is_base64, most_bytes=most_bytes)


def header(event: Mapping[str, Any], name: str) -> str | None:
    """Return a header; API Gateway writes their names in lower case."""
    value = (event.get("headers") or {}).get(name.lower())
    return None if value is None else str(value)


def request_id(event: Mapping[str, Any]) -> str:
    """Return the id that API Gateway gave a request; its access log has it too."""
    return str((event.get("requestContext") or {}).get("requestId", ""))


def response(document: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return *document* as a response: always 200 on success, since Google's SDK accepts no other status."""
    # An error may quote half of a surrogate pair, which no encoding accepts.
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode(errors="replace").decode()
    reply = {"statusCode": status, "headers": {**_HEADERS, **(headers or {})}, "body": text}
    if len(text) > MAX_TEXT_CHARACTERS and base64_bytes(text) < text_bytes(text):
        return {**reply, "body": base64.b64encode(text.encode()).decode(), "isBase64Encoded": True}
    return reply


def sent_bytes(body_text: str) -> int:
    """Return the bytes of a body inside Lambda's reply, which has 6 MB at most."""
    return min(text_bytes(body_text), base64_bytes(body_text))


def text_bytes(body_text: str) -> int:
    """Return the bytes of a body that is sent as text, in the runtime that escapes the most."""
    return len(json.dumps(body_text))


def base64_bytes(body_text: str) -> int:
    """Return the bytes of a body that is sent in base64."""
    return 4 * -(-len(body_text.encode()) // 3)


def error_response(error: errors.StreambankError) -> Response:
    """Return *error* in Google's shape."""
    document = status(error)
    return response(Error(error=document), document["code"], _error_headers(error, document["code"]))


def status(error: errors.StreambankError) -> Status:
    """Return code, message and details of *error*."""
    code, name = next((code, name) for kind, code, name in _STATUSES if isinstance(error, kind))
    document = Status(code=code, message=str(error)[:MAX_QUOTED_CHARACTERS], status=name)
    if isinstance(error, errors.InvalidArgument) and error.field:
        violation = FieldViolation(
            field=error.field[:MAX_QUOTED_CHARACTERS], description=error.problem[:MAX_QUOTED_CHARACTERS]
        )
        details = {"@type": "type.googleapis.com/google.rpc.BadRequest", **BadRequest(fieldViolations=[violation])}
        document["details"] = [cast("BadRequest", details)]
    return document


def _error_headers(error: errors.StreambankError, status: int) -> dict[str, str]:
    if status == 401:
        return {"www-authenticate": "Bearer"}
    if isinstance(error, errors.MethodNotAllowed):
        return {"allow": ", ".join(error.allowed)}
    wait = error.retry_after_seconds if isinstance(error, errors.Unavailable) else 60
    return {"retry-after": str(wait)} if status == 503 else {}


def internal_error() -> Response:
    """Return the response to an unexpected exception, without any detail of it."""
    return response(Error(error=Status(code=500, message="internal error", status="INTERNAL")), 500)


def to_response(respond: Callable[[], Response], *, on_fault: Callable[[BaseException], None]) -> Response:
    """Return the response of *respond*, or the error that it raises; *on_fault* gets unexpected exceptions."""
    try:
        return respond()
    except errors.StreambankError as error:
        return error_response(error)
    except Exception as fault:  # noqa: BLE001  the last line before the caller
        on_fault(fault)
        return internal_error()
