"""Jobs that may take longer than a request: erasing, moving, exporting, importing, reindexing, applying a policy."""

from __future__ import annotations

from datetime import timedelta

from streambank.api.api_request import ApiRequest
from streambank.api.route import Reach, Routes
from streambank.model.principal import Role
from streambank.pipeline.jobs import erase, export, import_job, move, policy_job, reindex
from streambank.rules import access
from streambank.wire import erasure, manifest
from streambank.wire import move as move_wire
from streambank.wire.erasure import (
    EraseRequest,
    EraseScopeRequest,
    ErasureOperation,
    dry_run_operation,
    erasure_operation,
)
from streambank.wire.move import MoveOperation, MoveScopeRequest, move_operation
from streambank.wire.policy_job import PolicyOperation, policy_operation
from streambank.wire.reindex import ReindexOperation, reindex_operation
from streambank.wire.transfer import ExportRequest, ImportRequest, TransferOperation, transfer_operation

routes = Routes()
# The gateway gives up after 30 s; the sweep continues what is left then.
TIME = timedelta(seconds=15)


@routes.post(
    ":eraseScope",
    "eraseScope",
    "Erases the events and memories of a scope, for good.",
    role=Role.EDIT,
    span="delete_memory",
)
def erase_scope(request: ApiRequest, body: EraseScopeRequest) -> ErasureOperation:
    """Erase a scope, or count what would be erased."""
    access.check_scope(request.principal, body.scope)
    target = erasure.target(body.scope, body.user_id, body.conversation_ids)
    if body.user_id is not None:
        access.check_user(request.principal, body.user_id)
    if target.conversation_ids:
        access.check_unbound(request.principal)
    bank_id, context = request.bank().id, request.wiring.jobs.erase_context(TIME)
    if body.dry_run:
        counts = erase.count_scope(bank_id, body.scope, target, context=context)
        return dry_run_operation(counts, request.path.bank_name)
    job = erase.erase_scope(bank_id, body.scope, target, context=context)
    return erasure_operation(job, request.path.bank_name)


@routes.post(
    ":moveScope",
    "moveScope",
    "Moves the events and memories of a scope to another scope.",
    role=Role.EDIT,
    span="update_memory",
)
def move_scope(request: ApiRequest, body: MoveScopeRequest) -> MoveOperation:
    """Move a scope, or count what would be moved; the caller must hold both scopes."""
    body.check_distinct()
    for scope in (body.scope, body.target_scope):
        access.check_scope(request.principal, scope)
    bank_id, context = request.bank().id, request.wiring.jobs.move_context(TIME)
    if body.dry_run:
        counts = move.count_scope(bank_id, body.scope, context=context)
        return move_wire.dry_run_operation(counts, request.path.bank_name)
    job = move.move_scope(bank_id, body.scope, body.target_scope, context=context)
    return move_operation(job, request.path.bank_name)


@routes.post(
    ":erase",
    "eraseBank",
    "Erases everything that a bank holds, except its configuration.",
    role=Role.ADMIN,
    reach=Reach.ALL_SCOPES,
    span="delete_memory",
)
def erase_bank(request: ApiRequest, body: EraseRequest) -> ErasureOperation:
    """Erase a bank, or count what would be erased."""
    body.check_forced()
    bank_id, context = request.bank().id, request.wiring.jobs.erase_context(TIME)
    if body.dry_run:
        return dry_run_operation(erase.count_bank(bank_id, context=context), request.path.bank_name)
    return erasure_operation(erase.erase_bank(bank_id, context=context), request.path.bank_name)


@routes.post(
    ":export",
    "exportBank",
    "Writes a scope, or a whole bank, as lines of JSON to the deployment's bucket.",
    role=Role.ADMIN,
    reach=Reach.ALL_SCOPES,
)
def export_bank(request: ApiRequest, body: ExportRequest) -> TransferOperation:
    """Export a scope or a bank."""
    spec, bank_id = body.spec(), request.bank().id
    job = export.export_bank(bank_id, spec, context=request.wiring.jobs.export_context(TIME))
    return transfer_operation(job, request.path.bank_name)


@routes.post(
    ":import",
    "importBank",
    "Imports what a bank exported.",
    role=Role.ADMIN,
    reach=Reach.ALL_SCOPES,
)
def import_bank(request: ApiRequest, body: ImportRequest) -> TransferOperation:
    """Import an export of a bank that the caller administers: nobody reads another's bank this way."""
    bank_id = request.bank().id
    access.check_source_bank(request.principal, Role.ADMIN, manifest.bank_of(body.source), bank_id)
    job = import_job.import_bank(bank_id, body.source, context=request.wiring.jobs.import_context(TIME))
    return transfer_operation(job, request.path.bank_name)


@routes.post(
    ":reindex",
    "reindexBank",
    "Gives new vectors to memories whose vectors are of another embedding model.",
    role=Role.ADMIN,
    reach=Reach.ALL_SCOPES,
)
def reindex_bank(request: ApiRequest) -> ReindexOperation:
    """Reindex a bank."""
    job = reindex.reindex_bank(request.bank().id, context=request.wiring.jobs.reindex_context(TIME))
    return reindex_operation(job, request.path.bank_name)


@routes.post(
    ":applyContentPolicy",
    "applyContentPolicy",
    "Applies the bank's content policy to what is stored already.",
    role=Role.ADMIN,
    reach=Reach.ALL_SCOPES,
)
def apply_content_policy(request: ApiRequest) -> PolicyOperation:
    """Apply a bank's content policy to its events, memories, sessions and conversations."""
    job = policy_job.apply_policy(request.bank().id, context=request.wiring.jobs.policy_context(TIME))
    return policy_operation(job, request.path.bank_name)
