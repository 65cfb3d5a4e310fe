"""Banks."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

from streambank import tracing
from streambank.api.api_request import ApiRequest
from streambank.api.route import Reach, Routes
from streambank.errors import InvalidArgument
from streambank.model import bank as model
from streambank.model.principal import Role
from streambank.pipeline import banks
from streambank.pipeline.banks import BankChange
from streambank.rules import access
from streambank.rules.bank_config import check_policy
from streambank.rules.model_choice import check_models
from streambank.wire import bank as wire
from streambank.wire import page_room, parameters, reader
from streambank.wire.bank import Bank, BankOperation, BankRequest, Banks, DeleteBankRequest
from streambank.wire.reply import Empty, EmptyOperation

routes = Routes()
_MASKABLE = {"displayName", "description", "contextSpec"}


def _bank(bank: model.Bank, request: ApiRequest) -> Bank:
    return wire.bank(bank, request.path.parent, request.stores.banks.document(bank.id))


def _change(body: BankRequest, request: ApiRequest) -> BankChange:
    change = BankChange(body.display_name, body.description, body.document())
    check_policy(change.document or {}, wire.CONFIG, has_service=request.wiring.screenings.service is not None)
    models = request.wiring.deployment.settings.models
    check_models(change.document or {}, wire.CONFIG, (models.model, models.embedding_model), models.allowed)
    mask = request.query.get("updateMask")
    if not mask:
        return change
    names = {reader.camel(path.strip()).split(".")[0] for path in mask.split(",")}
    if not names <= _MASKABLE:
        raise InvalidArgument("updateMask", "names " + ", ".join(sorted(names - _MASKABLE)) + ", which cannot change")
    return BankChange(
        change.display_name if "displayName" in names else None,
        change.description if "description" in names else None,
        change.document if "contextSpec" in names else None,
    )


@routes.post(
    "",
    "createBank",
    "Creates a bank.",
    role=Role.ADMIN,
    reach=Reach.ALL_SCOPES,
    span="create_memory_store",
    is_collection=True,
)
def create_bank(request: ApiRequest, body: BankRequest) -> BankOperation:
    """Create a bank under a random number of 63 bits, as the reference's ids look; it is never used again."""
    access.check_new_bank(request.principal)
    bank_id = str(secrets.randbits(62) + 2**62)
    change = _change(body, request)
    bank = banks.create_bank(bank_id, change, banks=request.stores.banks, now=request.wiring.now())
    tracing.note({tracing.STORE_ID: bank.id})
    name = f"{request.path.parent}/{bank.id}/operations/create"
    return BankOperation(name=name, done=True, response=_bank(bank, request))


@routes.get("", "listBanks", "Lists banks.", is_collection=True, parameters=parameters.PAGE)
def list_banks(request: ApiRequest) -> Banks:
    """Return a page of the banks that the caller may know of, under the name of the collection in the path."""
    size, after = request.page_size, request.page_position("banks", str)
    rest = ((bank.id, _bank(bank, request)) for bank in _known_banks(request, after[0] if after else "", size))
    page, end = page_room.page(rest, size, page_room.body_bytes)
    token = request.next_page_token("banks", [end] if end else None)
    return wire.banks(page, request.path.parent, token)


def _known_banks(request: ApiRequest, after: str, size: int) -> Iterator[model.Bank]:
    """Yield the banks behind the id *after* that the caller may know of; a caller of some banks reads these alone."""
    if request.principal.has_every_bank:
        return request.stores.banks.list(after, page=size + 1)
    return (bank for bank in request.stores.banks.named(request.principal.banks) if bank.id > after)


@routes.get("", "getBank", "Returns a bank.")
def get_bank(request: ApiRequest) -> Bank:
    """Return the bank of the path."""
    return _bank(request.bank(), request)


@routes.patch(
    "",
    "updateBank",
    "Changes a bank; an empty configuration changes nothing of it.",
    role=Role.ADMIN,
    reach=Reach.ALL_SCOPES,
    parameters=(parameters.BANK_MASK,),
)
def update_bank(request: ApiRequest, body: BankRequest) -> BankOperation:
    """Change the fields of the body, or those of updateMask."""
    bank = banks.update_bank(
        request.path.bank,
        _change(body, request),
        banks=request.stores.banks,
        retry_policy=request.wiring.deployment.retry_policy,
        now=request.wiring.now(),
    )
    name = f"{request.path.bank_name}/operations/update"
    return BankOperation(name=name, done=True, response=_bank(bank, request))


@routes.delete(
    "",
    "deleteBank",
    "Deletes a bank, with all that it holds if forced.",
    role=Role.ADMIN,
    reach=Reach.ALL_SCOPES,
    span="delete_memory_store",
    parameters=(parameters.FORCE,),
    needs_body=False,
)
def delete_bank(request: ApiRequest, body: DeleteBankRequest) -> EmptyOperation:
    """Close a bank; its contents are deleted in the background."""
    force = body.force or request.query.get("force", "").lower() == "true"
    banks.delete_bank(request.path.bank, force=force, banks=request.stores.banks, now=request.wiring.now())
    return EmptyOperation(name=f"{request.path.bank_name}/operations/delete", done=True, response=Empty())


@routes.get("/operations/create", "getBankCreation", "Returns the creation of a bank.")
def get_bank_creation(request: ApiRequest) -> BankOperation:
    """Return a finished operation: banks change before the call answers, and Google's SDK polls all the same."""
    name = f"{request.path.bank_name}/operations/create"
    return BankOperation(name=name, done=True, response=_bank(request.bank(), request))


@routes.get("/operations/update", "getBankUpdate", "Returns a change of a bank.")
def get_bank_update(request: ApiRequest) -> BankOperation:
    """Return a finished operation, as `get_bank_creation` does."""
    name = f"{request.path.bank_name}/operations/update"
    return BankOperation(name=name, done=True, response=_bank(request.bank(), request))
