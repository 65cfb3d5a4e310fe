"""Banks."""

from __future__ import annotations

import secrets
from typing import Any

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from streambank import tracing, wiring
from streambank.api import asking
from streambank.api.asking import principal
from streambank.errors import InvalidArgument, NotFound
from streambank.model.bank import Bank
from streambank.pipeline import banks
from streambank.pipeline.banks import BankChange
from streambank.pipeline.events import ingest
from streambank.rules import access
from streambank.wire import bank as bank_wire
from streambank.wire import http, operation, paging, reader, requests
from streambank.wire.ingest import ingest_call

ROUTER = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]
_MASKABLE = {"displayName", "description", "contextSpec"}


def _event() -> dict[str, Any]:
    return ROUTER.context["event"]  # type: ignore[no-any-return]


def _shown(bank: Bank) -> dict[str, object]:
    return bank_wire.bank(bank, asking.place(ROUTER).parent, wiring.stores().banks.document(bank.id))


def _existing() -> Bank:
    bank = wiring.stores().banks.get(asking.place(ROUTER).bank)
    if bank is None:
        raise NotFound(f"there is no bank {asking.place(ROUTER).bank!r}")
    return bank


def _change() -> BankChange:
    sent = http.body(_event())
    bank_wire.check_text(sent)
    said = requests.parsed(requests.BankRequest, sent)
    document = said.document()
    bank_wire.check(document or {})
    change = BankChange(said.display_name, said.description, document)
    return _masked(change, asking.query(ROUTER).get("updateMask"))


def _masked(change: BankChange, mask: str | None) -> BankChange:
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


@ROUTER.post("/banks")
def create() -> dict[str, Any]:
    access.check_new_bank(principal(ROUTER))
    # A random number of 63 bits, as the reference's ids look; it is never used again.
    bank_id = str(secrets.randbits(62) + 2**62)
    bank = banks.create_bank(bank_id, _change(), banks=wiring.stores().banks, now=wiring.now())
    tracing.note({tracing.STORE_ID: bank.id})
    return operation.finished(f"{asking.place(ROUTER).parent}/{bank.id}/operations/create", _shown(bank))


@ROUTER.get("/banks")
def listed() -> dict[str, Any]:
    query = asking.query(ROUTER)
    size = paging.page_size(query.get("pageSize"))
    after = paging.position("banks", query.get("pageToken"), (str,), secret=wiring.page_secret())
    known = (bank for bank in wiring.stores().banks.list() if access.knows_bank(principal(ROUTER), bank.id))
    rest = [bank for bank in known if after is None or bank.id > after[0]]
    page: dict[str, Any] = {asking.place(ROUTER).parent.rsplit("/", 1)[-1]: [_shown(bank) for bank in rest[:size]]}
    if len(rest) > size:
        page["nextPageToken"] = paging.token("banks", [rest[size - 1].id], secret=wiring.page_secret())
    return page


@ROUTER.get("/bank")
def get() -> dict[str, Any]:
    return _shown(_existing())


@ROUTER.patch("/bank")
def update() -> dict[str, Any]:
    stores = wiring.stores()
    bank = banks.update_bank(
        asking.place(ROUTER).bank, _change(), banks=stores.banks, retry_policy=stores.retry_policy, now=wiring.now()
    )
    return operation.finished(f"{asking.place(ROUTER).bank_name}/operations/update", _shown(bank))


@ROUTER.delete("/bank")
def delete() -> dict[str, Any]:
    query = asking.query(ROUTER)
    body = requests.parsed(requests.DeleteBankRequest, http.body(_event()) if _event().get("body") else {})
    force = body.force or query.get("force", "").lower() == "true"
    banks.delete_bank(asking.place(ROUTER).bank, force=force, banks=wiring.stores().banks, now=wiring.now())
    return operation.finished(f"{asking.place(ROUTER).bank_name}/operations/delete", {})


@ROUTER.get("/bank/operations/create")
@ROUTER.get("/bank/operations/update")
def changed() -> dict[str, Any]:
    """Banks change before the call answers; Google's SDK polls all the same."""
    name = _event()["rawPath"].rsplit("/", 1)[-1]
    return operation.finished(f"{asking.place(ROUTER).bank_name}/operations/{name}", _shown(_existing()))


@ROUTER.post("/bank/:ingestEvents")
def ingest_events() -> dict[str, Any]:
    """The discovery document's spelling; Google's SDK uses memories:ingestEvents."""
    key = http.header(_event(), "x-idempotency-key")
    call = ingest_call(http.body(_event()), bank=asking.place(ROUTER).bank, idempotency_key=key)
    access.check_scope(principal(ROUTER), call.stream.scope)
    receipt = ingest.ingest(call, context=wiring.ingestion())
    tracing.accepted(receipt)
    return operation.receipt(receipt, asking.place(ROUTER).bank_name)
