"""Erasing a scope, or all that a bank holds."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from streambank import wiring
from streambank.api import asking
from streambank.api.asking import bank, body, principal
from streambank.errors import NotFound
from streambank.model.erasure import ErasureId
from streambank.pipeline.jobs import erase
from streambank.rules import access
from streambank.store.erasures import Erasures
from streambank.wire import erasure as erasure_wire
from streambank.wire import http, requests
from streambank.wire.ingest import scope as scope_of

ROUTER = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]
# The gateway gives up after 30 s; what is left then is the sweep's.
TIME = timedelta(seconds=15)


@ROUTER.post("/bank/:eraseScope")
def erase_scope() -> dict[str, Any]:
    request = requests.parsed(erasure_wire.EraseScopeRequest, body(ROUTER))
    scope = scope_of(request.scope, "scope")
    access.check_scope(principal(ROUTER), scope)
    asked = erasure_wire.asked(request, scope)
    if asked.user_id is not None and request.user_id is not None:
        access.check_user(principal(ROUTER), asked.user_id)
    if asked.conversation_ids:
        access.check_unbound(principal(ROUTER))
    bank_id, context = bank(ROUTER), wiring.erasing(TIME)
    if request.dry_run:
        counts = erase.count_scope(bank_id, scope, asked, context=context)
        return erasure_wire.previewed(counts, asking.place(ROUTER).bank_name)
    done = erase.erase_scope(bank_id, scope, asked, context=context)
    return erasure_wire.shown(done, asking.place(ROUTER).bank_name)


@ROUTER.post("/bank/:erase")
def erase_bank() -> dict[str, Any]:
    request = requests.parsed(erasure_wire.EraseRequest, body(ROUTER))
    erasure_wire.check_forced(request)
    bank_id, context = bank(ROUTER), wiring.erasing(TIME)
    if request.dry_run:
        return erasure_wire.previewed(erase.count_bank(bank_id, context=context), asking.place(ROUTER).bank_name)
    return erasure_wire.shown(erase.erase_bank(bank_id, context=context), asking.place(ROUTER).bank_name)


def erasure_operation(place: http.BankPath, asked: ErasureId) -> dict[str, Any]:
    """Return the operation of an erasure. Raises NotFound if there is none, or a newer one, or it is not the caller's.

    Only the newest erasure of a scope is told of.
    """
    found = Erasures(wiring.stores().table).find(place.bank, asked.cid)
    if found is None or found.number != asked.number or not access.sees(principal(ROUTER), found.scope):
        raise NotFound("there is no such operation")
    return erasure_wire.shown(found, place.bank_name)
