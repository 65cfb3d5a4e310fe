"""API Gateway's events to requests, replies and errors to HTTP: the one table of statuses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from streambank import errors
from streambank.model.ids import BANK_ID
from streambank.wire import reader

_BANK_PATH = re.compile(
    r"/(?P<version>v1|v1beta1)"
    r"/(?P<parent>(?:projects/[^/]+/locations/[^/]+/)?(?:reasoningEngines|memoryBanks))"
    r"(?:/(?P<bank>[^/:]+)(?P<rest>[/:].*)?)?"
)
# HTTP status and google.rpc.Code of each error; subclasses before their bases.
_STATUSES: tuple[tuple[type[errors.StreambankError], int, str], ...] = (
    (errors.PayloadTooLarge, 413, "INVALID_ARGUMENT"),
    (errors.InvalidArgument, 400, "INVALID_ARGUMENT"),
    (errors.Unauthenticated, 401, "UNAUTHENTICATED"),
    (errors.PermissionDenied, 403, "PERMISSION_DENIED"),
    (errors.PreconditionFailed, 412, "FAILED_PRECONDITION"),
    (errors.FailedPrecondition, 400, "FAILED_PRECONDITION"),
    (errors.NotFound, 404, "NOT_FOUND"),
    (errors.AlreadyExists, 409, "ALREADY_EXISTS"),
    (errors.Unavailable, 503, "UNAVAILABLE"),
    (errors.ModelNotConfigured, 503, "UNAVAILABLE"),
    (errors.GenerationError, 503, "UNAVAILABLE"),
    (errors.StreambankError, 500, "INTERNAL"),
)

MAX_SEGMENT_BYTES = 256
# A refusal names a field as the caller spelled it, which may be as long as a body; Lambda's replies end at 6 MB.
MAX_SAID = 2_000

Reply = dict[str, Any]


@dataclass(frozen=True, slots=True)
class BankPath:
    """Where a request goes: *parent* is echoed as the caller spelled it, *bank* decides, *rest* is the route in it."""

    parent: str
    bank: str
    rest: str

    @property
    def bank_name(self) -> str:
        """Return the bank's resource name as the caller spells it."""
        return f"{self.parent}/{self.bank}"


def place(event: Mapping[str, Any]) -> BankPath:
    """Return where the request of an API Gateway event goes. Raises NotFound for any other path."""
    path = str(event.get("rawPath", ""))
    # A key of the table takes 1,024 bytes; no id of ours is longer than this.
    if any(len(segment.encode(errors="replace")) > MAX_SEGMENT_BYTES for segment in path.split("/")):
        raise errors.NotFound("there is nothing of so long a name")
    found = _BANK_PATH.fullmatch(path)
    if found is None:
        raise errors.NotFound(f"there is no route {path!r}")
    bank = found["bank"] or ""
    if bank and not BANK_ID.fullmatch(bank):
        raise errors.NotFound(f"there is no bank {bank!r}")
    return BankPath(found["parent"], bank, found["rest"] or "")


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


def reply(document: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """Return *document* as a reply: always 200 on success, since Google's SDK takes no other for one."""
    # A refusal may quote half of a surrogate pair, which no encoding takes.
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode(errors="replace").decode()
    return {"statusCode": status, "headers": {"content-type": "application/json", **(headers or {})}, "body": text}


def error_reply(error: errors.StreambankError) -> Reply:
    """Return *error* in Google's shape."""
    status, code = next((status, code) for kind, status, code in _STATUSES if isinstance(error, kind))
    document: dict[str, Any] = {"code": status, "message": str(error)[:MAX_SAID], "status": code}
    if isinstance(error, errors.InvalidArgument) and error.field:
        violation = {"field": error.field[:MAX_SAID], "description": error.problem[:MAX_SAID]}
        document["details"] = [{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [violation]}]
    return reply({"error": document}, status, _error_headers(error, status))


def _error_headers(error: errors.StreambankError, status: int) -> dict[str, str]:
    if status == 401:
        return {"www-authenticate": "Bearer"}
    wait = error.retry_after_seconds if isinstance(error, errors.Unavailable) else 60
    return {"retry-after": str(wait)} if status == 503 else {}


def internal_error() -> Reply:
    """Return what a fault of ours looks like from outside: nothing of it."""
    return reply({"error": {"code": 500, "message": "internal error", "status": "INTERNAL"}}, 500)


def to_response(respond: Callable[[], Reply], *, on_fault: Callable[[BaseException], None]) -> Reply:
    """Return what *respond* returns, or the error that it raises as HTTP; *on_fault* hears of faults of ours."""
    try:
        return respond()
    except errors.StreambankError as error:
        return error_reply(error)
    except Exception as fault:  # noqa: BLE001  the last line before the caller
        on_fault(fault)
        return internal_error()
