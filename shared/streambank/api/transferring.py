"""Exporting a scope or a bank, and importing what was exported."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from streambank import wiring
from streambank.api import asking
from streambank.api.asking import bank, body, principal
from streambank.errors import NotFound
from streambank.model.principal import Role
from streambank.model.transfer import TransferId
from streambank.pipeline.jobs import export, import_job
from streambank.rules import access
from streambank.store.transfers import Transfers
from streambank.wire import http, manifest, requests
from streambank.wire import transfer as transfer_wire

ROUTER = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]
# The gateway gives up after 30 s; what is left then is the sweep's.
TIME = timedelta(seconds=15)


@ROUTER.post("/bank/:export")
def exported() -> dict[str, Any]:
    wanted = transfer_wire.wanted(requests.parsed(transfer_wire.ExportRequest, body(ROUTER)))
    done = export.export_bank(bank(ROUTER), wanted, context=wiring.exporting(TIME))
    return transfer_wire.shown(done, asking.place(ROUTER).bank_name)


@ROUTER.post("/bank/:import")
def imported() -> dict[str, Any]:
    """Take in an export of a bank that the caller knows: nobody reads another's this way."""
    source = requests.parsed(transfer_wire.ImportRequest, body(ROUTER)).source
    bank_id = bank(ROUTER)
    access.check(principal(ROUTER), Role.ADMIN, manifest.bank_of(source))
    done = import_job.import_bank(bank_id, source, context=wiring.importing(TIME))
    return transfer_wire.shown(done, asking.place(ROUTER).bank_name)


def transfer_operation(place: http.BankPath, asked: TransferId) -> dict[str, Any]:
    """Return the operation of an export or an import. Raises NotFound if there is none, or a newer one."""
    access.check_unbound(principal(ROUTER))
    found = Transfers(wiring.stores().table).find(place.bank, asked.direction)
    if found is None or found.number != asked.number:
        raise NotFound("there is no such operation")
    return transfer_wire.shown(found, place.bank_name)
