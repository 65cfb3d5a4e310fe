"""Operations."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from streambank import wiring
from streambank.api import asking
from streambank.api.asking import bank, principal, query
from streambank.api.erasing import erasure_operation
from streambank.api.transferring import transfer_operation
from streambank.errors import FailedPrecondition, NotFound
from streambank.model.erasure import ErasureId
from streambank.model.ids import OperationId
from streambank.model.transfer import TransferId
from streambank.pipeline.events.streams import redrive_all
from streambank.pipeline.generation.operations import (
    OperationContext,
    OperationCursor,
    get_operation,
    list_operations,
    scope_of,
)
from streambank.pipeline.generation.redrive import RedriveContext, redrive
from streambank.rules import access
from streambank.wire import http, paging, reader
from streambank.wire import operation as operation_wire
from streambank.wire.settings import LONGEST_TTL

# A gateway gives up after 30 s, and local mode answers one call at a time.
LONGEST_WAIT = timedelta(seconds=10)
POLL = timedelta(milliseconds=500)
ROUTER = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


def _id(text: str) -> OperationId:
    operation = OperationId.parse(text)
    if operation is None:
        raise NotFound(f"there is no operation {text!r}")
    return operation


def _known(bank: str, operation: OperationId) -> OperationId:
    """Return *operation*. Raises NotFound if it is of a scope that the caller does not see."""
    who = principal(ROUTER)
    # Window 0 is answered for every stream, also for one that never was: refusing it would tell who is there.
    if who.scope is not None and (operation.window or operation.downstream):
        scope = scope_of(bank, operation, context=_context())
        if scope is not None and not access.sees(who, scope):
            raise NotFound(f"there is no operation {operation}")
    return operation


def _context() -> OperationContext:
    stores = wiring.stores()
    return OperationContext(stores.streams, stores.windows, stores.plans)


def _redriving() -> RedriveContext:
    stores = wiring.stores()
    return RedriveContext(stores.streams, stores.windows, stores.plans, wiring.executions(), wiring.now())


@ROUTER.post("/bank/operations:redrive")
def all_redriven() -> dict[str, Any]:
    """Try every parked window of the bank again, a hundred at most in one call."""
    place, found = asking.place(ROUTER), wiring.stores().banks.get(bank(ROUTER))
    shown, is_all = redrive_all(place.bank, context=_redriving(), bank_rule=found.default_rule if found else None)
    names = [f"{place.bank_name}/operations/{one.id}" for one in shown]
    return {"operations": names, "isComplete": is_all}


@ROUTER.post("/bank/operations/<operation>:redrive")
def redriven(operation: str) -> dict[str, Any]:
    place = asking.place(ROUTER)
    shown = redrive(place.bank, _known(place.bank, _id(operation)), context=_redriving())
    return operation_wire.operation(shown, asking.place(ROUTER).bank_name)


def window_operation(place: http.BankPath, operation: OperationId) -> dict[str, Any]:
    """Return the operation of a window, under whatever parent it was asked for."""
    shown = get_operation(place.bank, _known(place.bank, operation), context=_context())
    return operation_wire.operation(shown, place.bank_name)


@ROUTER.get("/bank/operations/<operation>")
def get(operation: str) -> dict[str, Any]:
    if operation == "purge":  # done before it was answered; its count was in that answer
        return operation_wire.finished(f"{asking.place(ROUTER).bank_name}/operations/{operation}", {})
    erasure = ErasureId.parse(operation)
    if erasure:
        return erasure_operation(asking.place(ROUTER), erasure)
    transfer = TransferId.parse(operation)
    if transfer:
        return transfer_operation(asking.place(ROUTER), transfer)
    return window_operation(asking.place(ROUTER), _id(operation))


@ROUTER.get("/bank/operations")
def listed() -> dict[str, Any]:
    said, place = query(ROUTER), asking.place(ROUTER)
    state = operation_wire.state_filter(said.get("filter"))
    asked = f"operations {place.bank} {state}"
    where = paging.position(asked, said.get("pageToken"), (int, str, int), secret=wiring.page_secret())
    found = wiring.stores().banks.get(bank(ROUTER))
    shown, end = list_operations(
        place.bank,
        paging.page_size(said.get("pageSize")),
        OperationCursor(*where) if where else None,
        context=_context(),
        bank_rule=found.default_rule if found else None,
        state=state,
    )
    page: dict[str, Any] = {"operations": [operation_wire.operation(one, place.bank_name) for one in shown]}
    if end:
        position = [end.shard, end.entry, end.window]
        page["nextPageToken"] = paging.token(asked, position, secret=wiring.page_secret())
    return page


@ROUTER.post("/bank/operations/<operation>:cancel")
def cancelled(operation: str) -> dict[str, Any]:
    """Cancelling would lose events, so it is refused."""
    shown = window_operation(asking.place(ROUTER), _id(operation))
    problem = "is done already" if shown["done"] else "cannot be cancelled: its events would be lost"
    raise FailedPrecondition(f"{operation} {problem}")


@ROUTER.delete("/bank/operations/<operation>")
def forgotten(operation: str) -> dict[str, Any]:
    """Who deletes an operation is no longer interested; its record expires by itself."""
    if not window_operation(asking.place(ROUTER), _id(operation))["done"]:
        raise FailedPrecondition(f"{operation} is not done")
    return {}


@ROUTER.post("/bank/operations/<operation>:wait")
def waited(operation: str) -> dict[str, Any]:
    """Answer when the operation is done, or as it is after the timeout, ten seconds at most."""
    span = reader.duration(query(ROUTER).get("timeout") or "10s", "timeout", least=timedelta(0), most=LONGEST_TTL)
    for _ in range(int(min(span, LONGEST_WAIT) / POLL)):
        shown = window_operation(asking.place(ROUTER), _id(operation))
        if shown["done"]:
            return shown
        wiring.pause(POLL.total_seconds())
    return window_operation(asking.place(ROUTER), _id(operation))
