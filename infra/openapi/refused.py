"""How the service refuses, and how what stands before it does."""

from infra.openapi.leaves import Answer


class FieldViolation(Answer):
    field: str
    description: str


class BadRequest(Answer):
    field_violations: list[FieldViolation] | None = None


class Status(Answer):
    """Code is the HTTP status, status the name of google.rpc.Code."""

    code: int
    message: str
    status: str
    details: list[BadRequest] | None = None


class Error(Answer):
    """A refusal by the service."""

    error: Status


class GatewayError(Answer):
    """A refusal by API Gateway, before the service was asked."""

    message: str
