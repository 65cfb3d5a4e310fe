"""What a bank's model calls cost."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from streambank import wiring
from streambank.api.asking import bank, query
from streambank.rules.bank_config import bank_config
from streambank.wire import usage as usage_wire
from streambank.wiring import models

ROUTER = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@ROUTER.get("/bank/usage")
def usage() -> dict[str, Any]:
    first, last = usage_wire.days(query(ROUTER), wiring.now().date())
    bank_id = bank(ROUTER)
    config = bank_config(wiring.stores().banks.document(bank_id))
    books = models.token_budget().report(bank_id, config, first, last, now=wiring.now())
    return usage_wire.books(books.days, books.daily_tokens, books.tokens_today)
