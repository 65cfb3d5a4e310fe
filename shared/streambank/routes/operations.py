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
    if stores.banks.get(_place().bank) is None:
        raise NotFound(f"there is no bank {_place().bank!r}")
    shown = redrive(
        _place().bank, _id(operation), windows=stores.windows, executions=wiring.executions(), now=wiring.now()
    )
    return operation_wire.operation(shown, _place().bank_name)


@ROUTER.get("/bank/operations/<operation>")
@ROUTER.get("/bank/memories/<_parent>/operations/<operation>")
@ROUTER.get("/bank/sessions/<_parent>/operations/<operation>")
def get(operation: str, _parent: str = "") -> dict[str, Any]:
    stores = wiring.stores()
    shown = get_operation(
        _place().bank, _id(operation), streams=stores.streams, windows=stores.windows, plans=stores.plans
    )
    return operation_wire.operation(shown, _place().bank_name)
