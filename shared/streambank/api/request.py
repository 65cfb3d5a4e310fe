"""A request as the functions that answer it see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streambank.model.principal import Principal
from streambank.wire import http, reader
from streambank.wire.http import BankPath
from streambank.wire.ingest import idempotency_token


@dataclass(frozen=True, slots=True)
class Request:
    """An API Gateway event, the path that it names, and who calls."""

    event: Mapping[str, Any]
    path: BankPath
    principal: Principal

    @property
    def method(self) -> str:
        """Return the HTTP method in upper case."""
        return str(self.event["requestContext"]["http"]["method"]).upper()

    @property
    def query(self) -> dict[str, str]:
        """Return the query parameters by their camelCase names: they come in either spelling, as fields do."""
        parameters = self.event.get("queryStringParameters") or {}
        return {reader.camel(name): value for name, value in parameters.items()}

    def header(self, name: str) -> str | None:
        """Return a header, or None."""
        return http.header(self.event, name)

    @property
    def idempotency_key(self) -> str | None:
        """Return the X-Idempotency-Key header. Raises InvalidArgument for an empty or a long one."""
        return idempotency_token(self.header("x-idempotency-key"))

    def body(self, *, max_bytes: int = reader.MAX_BODY_BYTES) -> Any:
        """Return the JSON value of the body. Raises InvalidArgument, and PayloadTooLarge."""
        return http.body(self.event, most_bytes=max_bytes)
