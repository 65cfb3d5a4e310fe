"""Operations."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from streambank import wiring
from streambank.errors import NotFound
from streambank.model.ids import OperationId
from streambank.pipeline.operations import get_operation
from streambank.pipeline.redrive import redrive
from streambank.wire import http
from streambank.wire import operation as operation_wire

ROUTER = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


def _place() -> http.Place:
    return ROUTER.context["place"]  # type: ignore[no-any-return]


def _id(text: str) -> OperationId:
    operation = OperationId.parse(text)
    if operation is None:
        raise NotFound(f"there is no operation {text!r}")
    return operation


@ROUTER.post("/bank/operations/<operation>:redrive")
def redriven(operation: str) -> dict[str, Any]:
    stores = wiring.stores()
    shown = redrive(
        _place().bank,
        _id(operation),
        streams=stores.streams,
        windows=stores.windows,
        plans=stores.plans,
        executions=wiring.executions(),
        now=wiring.now(),
    )
    return operation_wire.operation(shown, _place().bank_name)


def window_operation(place: http.Place, operation: OperationId) -> dict[str, Any]:
    """Return the operation of a window, under whatever parent it was asked for."""
    stores = wiring.stores()
    shown = get_operation(place.bank, operation, streams=stores.streams, windows=stores.windows, plans=stores.plans)
    return operation_wire.operation(shown, place.bank_name)


@ROUTER.get("/bank/operations/<operation>")
def get(operation: str) -> dict[str, Any]:
    return window_operation(_place(), _id(operation))
