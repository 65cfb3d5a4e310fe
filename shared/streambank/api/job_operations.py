"""Jobs of a bank as operations: erasures, moves, exports, imports, reindexes, applications of a policy, replays."""

from __future__ import annotations

from collections.abc import Iterator

from streambank.api.api_request import ApiRequest
from streambank.api.operations import check_visible, detailed_operation, window_id, window_operation
from streambank.api.route import Reach, Routes
from streambank.errors import NotFound
from streambank.model.erasure import ErasureId
from streambank.model.move import MoveId
from streambank.model.policy_job import policy_job_number
from streambank.model.reindex import reindex_number
from streambank.model.replay import ReplayId
from streambank.model.transfer import Direction, TransferId
from streambank.rules import access
from streambank.wire import parameters
from streambank.wire import window_detail as wire_detail
from streambank.wire.erasure import ErasureOperation, erasure_operation
from streambank.wire.job import JobOperation, Jobs
from streambank.wire.move import MoveOperation, move_operation
from streambank.wire.operation import Operation, WindowOperation
from streambank.wire.policy_job import PolicyOperation, policy_operation
from streambank.wire.reindex import ReindexOperation, reindex_operation
from streambank.wire.replay import ReplayOperation, replay_operation
from streambank.wire.transfer import TransferOperation, transfer_operation
from streambank.wire.window_detail import DetailedOperation

routes = Routes()


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
        return detailed_operation(request, window_id(operation_id))
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


@routes.get("/jobs", "listJobs", "Lists the newest job of each kind of a whole bank.", reach=Reach.ALL_SCOPES)
def list_jobs(request: ApiRequest) -> Jobs:
    """Return the newest erasure, export, import, reindex, application of a policy and replay of the whole bank."""
    request.bank()
    return Jobs(operations=list(_newest(request)))


def _newest(request: ApiRequest) -> Iterator[JobOperation]:
    stores, bank, name = request.stores, request.path.bank, request.path.bank_name
    if erasure := stores.erasures.find(bank, ""):
        yield erasure_operation(erasure, name)
    for direction in Direction:
        if transfer := stores.transfers.find(bank, direction):
            yield transfer_operation(transfer, name)
    if policy_job := stores.policy_jobs.find(bank):
        yield policy_operation(policy_job, name)
    if reindex := stores.reindexes.find(bank):
        yield reindex_operation(reindex, name)
    if replay := stores.replays.find(bank, None, now=request.wiring.now()):
        yield replay_operation(replay, name, ())
