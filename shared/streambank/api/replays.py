"""Replays: windows judged again with another configuration."""

from __future__ import annotations

from streambank.api.api_request import ApiRequest
from streambank.api.operations import check_visible, window_id
from streambank.api.route import Reach, Routes
from streambank.model.principal import Role
from streambank.model.replay import ReplaySpec
from streambank.pipeline.jobs.start_replay import start_bank_replay, start_window_replay
from streambank.rules.model_choice import check_model
from streambank.wire.replay import BankReplayRequest, ReplayOperation, ReplayRequest, replay_operation

routes = Routes()


def _spec(request: ApiRequest, body: ReplayRequest) -> ReplaySpec:
    """Return what is replayed. Raises InvalidArgument for a model that this deployment does not allow."""
    models = request.wiring.deployment.settings.models
    check_model(body.model, "model", models.model, models.allowed)
    return body.spec()


@routes.post(
    "/operations/{operation}:replay",
    "replayOperation",
    "Judges a window again with another configuration; no memory changes.",
    role=Role.ADMIN,
    needs_body=False,
)
def replay_window(request: ApiRequest, operation_id: str, body: ReplayRequest) -> ReplayOperation:
    """Start the replay of a window."""
    spec, bank = _spec(request, body), request.bank()
    operation = window_id(operation_id)
    check_visible(request, operation)
    replay = start_window_replay(bank.id, operation, spec, context=request.wiring.jobs.replay_context())
    return replay_operation(replay, request.path.bank_name)


@routes.post(
    ":replay",
    "replayBank",
    "Judges a bank's newest windows again with another configuration; no memory changes.",
    role=Role.ADMIN,
    reach=Reach.ALL_SCOPES,
)
def replay_bank(request: ApiRequest, body: BankReplayRequest) -> ReplayOperation:
    """Start the replay of a bank's newest windows."""
    spec, bank = _spec(request, body), request.bank()
    replay = start_bank_replay(bank.id, spec, context=request.wiring.jobs.replay_context())
    return replay_operation(replay, request.path.bank_name)
