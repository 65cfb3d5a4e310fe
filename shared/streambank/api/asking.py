"""What every route asks of its request."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from streambank import wiring
from streambank.errors import NotFound
from streambank.model.principal import Principal
from streambank.wire import http, reader
from streambank.wire.ingest import idempotency_token


def place(router: APIGatewayHttpRouter) -> http.BankPath:
    """Return where the request goes."""
    found: http.BankPath = router.context["place"]
    return found


def principal(router: APIGatewayHttpRouter) -> Principal:
    """Return who calls."""
    found: Principal = router.context["principal"]
    return found


def body(router: APIGatewayHttpRouter) -> Any:
    """Return the request's JSON."""
    return http.body(router.context["event"])


def query(router: APIGatewayHttpRouter) -> dict[str, str]:
    """Return the query parameters by their camelCase names: they come in either spelling, as fields do."""
    given = router.context["event"].get("queryStringParameters") or {}
    return {reader.camel(name): value for name, value in given.items()}


def idempotency_key(router: APIGatewayHttpRouter) -> str | None:
    """Return the X-Idempotency-Key header."""
    return idempotency_token(http.header(router.context["event"], "x-idempotency-key"))


def bank(router: APIGatewayHttpRouter) -> str:
    """Return the bank of the route. Raises NotFound if there is none."""
    bank_id = place(router).bank
    if wiring.stores().banks.get(bank_id) is None:
        raise NotFound(f"there is no bank {bank_id!r}")
    return bank_id
