"""Operations."""

from __future__ import annotations

from datetime import timedelta

from streambank.api.api_request import ApiRequest
from streambank.api.route import Reach, Routes
from streambank.errors import FailedPrecondition, NotFound
from streambank.model.ids import OperationId
from streambank.model.principal import Role
from streambank.pipeline.events.streams import redrive_all
from streambank.pipeline.generation.detail import window_detail
from streambank.pipeline.generation.operations import (
    OperationCursor,
    follow_moves,
    get_operation,
    list_operations,
    scope_of,
)
from streambank.pipeline.generation.redrive import redrive
from streambank.rules import access
from streambank.wire import operation as wire
from streambank.wire import operation_filter, page_room, parameters, reader
from streambank.wire import window_detail as wire_detail
from streambank.wire.operation import Operations, RedrivenOperations, WindowOperation
from streambank.wire.reply import Empty, without_nulls
from streambank.wire.settings import LONGEST_TTL
from streambank.wire.window_detail import DetailedOperation

routes = Routes()
# A call that waits occupies a function: callers that want to wait longer ask again.
LONGEST_WAIT = timedelta(seconds=2)
POLL = timedelta(milliseconds=500)


def window_operation(request: ApiRequest, operation: OperationId) -> WindowOperation:
    """Return the operation of a window, whatever parent its name has in the request. Raises NotFound."""

    def read(operation: OperationId) -> WindowOperation:
        check_visible(request, operation)
        current = get_operation(request.path.bank, operation, context=request.wiring.operation_context())
        return wire.operation(current, request.path.bank_name)

    return follow_moves(request.path.bank, operation, read, streams=request.stores.streams)


def detailed_operation(request: ApiRequest, operation: OperationId) -> WindowOperation | DetailedOperation:
    """Return the operation of a window with the window's events and candidates. Raises NotFound."""
    context = request.wiring.detail_context()

    def read(operation: OperationId) -> WindowOperation | DetailedOperation:
        check_visible(request, operation)
        current = get_operation(request.path.bank, operation, context=context)
        detail = window_detail(request.path.bank, operation, context=context)
        if detail is None:
            return wire.operation(current, request.path.bank_name)
        return wire_detail.detailed_operation(current, detail, request.path.bank_name)

    return follow_moves(request.path.bank, operation, read, streams=request.stores.streams)


def window_id(operation_id: str) -> OperationId:
    """Return the id of a window's operation. Raises NotFound for any other."""
    operation = OperationId.parse(operation_id)
    if operation is None:
        raise NotFound(f"there is no operation {operation_id!r}")
    return operation


def check_visible(request: ApiRequest, operation: OperationId) -> None:
    """Raise NotFound if the operation is of a scope that the caller may not know of."""
    # Window 0 is answered for every stream, also for one that never was: refusing it would reveal which streams exist.
    if request.principal.scope is not None and (operation.window or operation.downstream):
        scope = scope_of(request.path.bank, operation, context=request.wiring.operation_context())
        if scope is not None and not access.sees(request.principal, scope):
            raise NotFound(f"there is no operation {operation}")


@routes.post(
    "/operations:redrive",
    "redriveOperations",
    "Tries parked windows again, a hundred at most.",
    role=Role.EDIT,
    reach=Reach.ALL_SCOPES,
)
def redrive_operations(request: ApiRequest) -> RedrivenOperations:
    """Try every parked window of the bank again, a hundred at most in one call."""
    bank = request.bank()
    operations, is_complete = redrive_all(
        bank.id, context=request.wiring.redrive_context(), bank_rule=bank.default_rule
    )
    names = [f"{request.path.bank_name}/operations/{one.id}" for one in operations]
    return RedrivenOperations(operations=names, isComplete=is_complete)


@routes.post("/operations/{operation}:redrive", "redriveOperation", "Tries a parked window again.", role=Role.EDIT)
def redrive_operation(request: ApiRequest, operation_id: str) -> WindowOperation:
    """Try a parked window again."""

    def try_again(operation: OperationId) -> WindowOperation:
        check_visible(request, operation)
        redriven = redrive(request.path.bank, operation, context=request.wiring.redrive_context())
        return wire.operation(redriven, request.path.bank_name)

    return follow_moves(request.path.bank, window_id(operation_id), try_again, streams=request.stores.streams)


@routes.get(
    "/operations",
    "listOperations",
    "Lists operations.",
    reach=Reach.ALL_SCOPES,
    parameters=(parameters.STATE_FILTER, *parameters.PAGE),
)
def list_all(request: ApiRequest) -> Operations:
    """Return a page of the operations of a bank's windows."""
    state = operation_filter.state_filter(request.query.get("filter"))
    name = f"operations {request.path.bank} {state}"
    after = request.page_position(name, int, str, int)
    page, end = list_operations(
        request.path.bank,
        request.page_size,
        OperationCursor(*after) if after else None,
        context=request.wiring.operation_context(),
        bank_rule=request.bank().default_rule,
        state=state,
        weigh=lambda one: page_room.body_bytes(wire.operation(one, request.path.bank_name)),
    )
    position = [end.shard, end.entry, end.window] if end else None
    return without_nulls(
        Operations(
            operations=[wire.operation(one, request.path.bank_name) for one in page],
            nextPageToken=request.next_page_token(name, position),
        )
    )


@routes.post("/operations/{operation}:cancel", "cancelOperation", "Is refused: events would be lost.", role=Role.EDIT)
def cancel(request: ApiRequest, operation_id: str) -> Empty:
    """Refuse to cancel an operation: its events would be lost."""
    operation = window_operation(request, window_id(operation_id))
    problem = "is done already" if operation["done"] else "cannot be cancelled: its events would be lost"
    raise FailedPrecondition(f"{operation_id} {problem}")


@routes.delete(
    "/operations/{operation}", "deleteOperation", "Accepts that an operation is not needed any more.", role=Role.EDIT
)
def delete(request: ApiRequest, operation_id: str) -> Empty:
    """Accept that an operation is not needed any more; its record expires by itself."""
    if not window_operation(request, window_id(operation_id))["done"]:
        raise FailedPrecondition(f"{operation_id} is not done")
    return Empty()


@routes.post(
    "/operations/{operation}:wait",
    "waitForOperation",
    "Answers when the operation is done, or when the time is up.",
    role=Role.READ,
    parameters=(parameters.TIMEOUT,),
)
def wait(request: ApiRequest, operation_id: str) -> WindowOperation:
    """Return the operation when it is done, or as it is after the timeout, two seconds at most."""
    timeout = request.query.get("timeout") or "2s"
    span = reader.duration(timeout, "timeout", least=timedelta(0), most=LONGEST_TTL)
    for _ in range(int(min(span, LONGEST_WAIT) / POLL)):
        operation = window_operation(request, window_id(operation_id))
        if operation["done"]:
            return operation
        request.wiring.sleep(POLL.total_seconds())
    return window_operation(request, window_id(operation_id))
