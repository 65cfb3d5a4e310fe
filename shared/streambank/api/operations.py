"""Operations."""

from __future__ import annotations

from datetime import timedelta

from streambank.api.api_request import ApiRequest
from streambank.api.route import Reach, Routes
from streambank.errors import FailedPrecondition, NotFound
from streambank.model.erasure import ErasureId
from streambank.model.ids import OperationId
from streambank.model.move import MoveId
from streambank.model.policy_job import policy_job_number
from streambank.model.principal import Role
from streambank.model.reindex import reindex_number
from streambank.model.replay import ReplayId
from streambank.model.transfer import TransferId
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
from streambank.wire import page_room, parameters, reader
from streambank.wire import window_detail as wire_detail
from streambank.wire.erasure import ErasureOperation, erasure_operation
from streambank.wire.move import MoveOperation, move_operation
from streambank.wire.operation import Operation, Operations, RedrivenOperations, WindowOperation
from streambank.wire.policy_job import PolicyOperation, policy_operation
from streambank.wire.reindex import ReindexOperation, reindex_operation
from streambank.wire.replay import ReplayOperation, replay_operation
from streambank.wire.reply import Empty, without_nulls
from streambank.wire.settings import LONGEST_TTL
from streambank.wire.transfer import TransferOperation, transfer_operation
from streambank.wire.window_detail import DetailedOperation

JobOperation = (
    ErasureOperation | MoveOperation | TransferOperation | ReindexOperation | PolicyOperation | ReplayOperation
)

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


def _detailed_operation(request: ApiRequest, operation: OperationId) -> WindowOperation | DetailedOperation:
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


@routes.get("/operations/{operation}", "getOperation", "Returns an operation.", parameters=(parameters.VIEW,))
def get(request: ApiRequest, operation_id: str) -> DetailedOperation | WindowOperation | JobOperation | Operation:
    """Return the operation of a window, or of a job."""
    view = wire_detail.view(request.query.get("view"))
    if operation_id == "purge":  # it was done in the reply that named it, which had its count
        return Operation(name=f"{request.path.bank_name}/operations/{operation_id}", done=True, response={})
    job = _job(request, operation_id)
    if job is not None:
        return job
    if view is wire_detail.View.FULL:
        return _detailed_operation(request, window_id(operation_id))
    return window_operation(request, window_id(operation_id))


def _job(request: ApiRequest, operation_id: str) -> JobOperation | None:
    """Return the operation of a job, or None if *operation_id* names none. Raises NotFound."""
    if erasure := ErasureId.parse(operation_id):
        return _erasure(request, erasure)
    if move := MoveId.parse(operation_id):
        return _move(request, move)
    if transfer := TransferId.parse(operation_id):
        return _transfer(request, transfer)
    if replay := ReplayId.parse(operation_id):
        return _replay(request, replay)
    is_walk = reindex_number(operation_id) or policy_job_number(operation_id)
    return _walk(request, operation_id) if is_walk else None


def _erasure(request: ApiRequest, erasure_id: ErasureId) -> ErasureOperation:
    """Return the newest erasure of a scope. Raises NotFound if it has another id, or the caller may not know of it."""
    erasure = request.stores.erasures.find(request.path.bank, erasure_id.cid)
    is_newest = erasure is not None and erasure.number == erasure_id.number
    if erasure is None or not is_newest or not access.sees(request.principal, erasure.scope):
        raise NotFound("there is no such operation")
    return erasure_operation(erasure, request.path.bank_name)


def _move(request: ApiRequest, move_id: MoveId) -> MoveOperation:
    """Return a move. Raises NotFound if there is none, or the caller may not know of both of its scopes."""
    move = request.stores.moves.find(request.path.bank, move_id.cid, move_id.number)
    if move is None or not all(access.sees(request.principal, scope) for scope in (move.scope, move.target)):
        raise NotFound("there is no such operation")
    return move_operation(move, request.path.bank_name)


def _transfer(request: ApiRequest, transfer_id: TransferId) -> TransferOperation:
    """Return the newest export or import. Raises NotFound if it has another id."""
    access.check_unbound(request.principal)
    transfer = request.stores.transfers.find(request.path.bank, transfer_id.direction)
    if transfer is None or transfer.number != transfer_id.number:
        raise NotFound("there is no such operation")
    return transfer_operation(transfer, request.path.bank_name)


def _walk(request: ApiRequest, operation_id: str) -> ReindexOperation | PolicyOperation:
    """Return the newest reindex, or the newest application of a policy. Raises NotFound if it has another id."""
    access.check_unbound(request.principal)
    stores, bank = request.stores, request.path.bank
    reindex, policy_job = stores.reindexes.find(bank), stores.policy_jobs.find(bank)
    if reindex and reindex.id == operation_id:
        return reindex_operation(reindex, request.path.bank_name)
    if policy_job and policy_job.id == operation_id:
        return policy_operation(policy_job, request.path.bank_name)
    raise NotFound("there is no such operation")


def _replay(request: ApiRequest, replay_id: ReplayId) -> ReplayOperation:
    """Return the newest replay of a window or of the bank. Raises NotFound if it has another number."""
    if replay_id.operation:
        check_visible(request, replay_id.operation)
    else:
        access.check_unbound(request.principal)
    bank, now = request.bank(), request.wiring.now()
    replay = request.stores.replays.find(bank.id, replay_id.operation, now=now)
    if replay is None or replay.number != replay_id.number:
        raise NotFound("there is no such operation")
    has_differences = replay.ended and not replay.operation
    differences = request.stores.replays.differences(replay, now=now) if has_differences else ()
    return replay_operation(replay, request.path.bank_name, differences)


@routes.get(
    "/operations",
    "listOperations",
    "Lists operations.",
    reach=Reach.ALL_SCOPES,
    parameters=(parameters.STATE_FILTER, *parameters.PAGE),
)
def list_all(request: ApiRequest) -> Operations:
    """Return a page of the operations of a bank's windows."""
    state = wire.state_filter(request.query.get("filter"))
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
