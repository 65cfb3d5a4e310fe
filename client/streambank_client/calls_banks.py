"""Banks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from streambank_client import types
from streambank_client.calls import Call, PagedCall, Place, Told, deletion, fields, listing, one, page, texts, told_of
from streambank_client.spelling import JsonObject


def create_bank(
    place: Place,
    /,
    *,
    display_name: str | None = None,
    description: str | None = None,
    config: types.MemoryBankConfig | Mapping[str, Any] | None = None,
) -> Call[Told[types.BankResource]]:
    """Make a bank; its id is the service's.

    It is not repeated when nobody knows what became of it: there could be two.
    """
    body = _said(display_name, description, config)
    return Call(method="POST", path=place.path, parse=told_of(types.BankResource), repeatable=False, body=body)


def list_banks(place: Place, /, *, page_size: int | None = None) -> PagedCall[types.BankResource]:
    """List the banks that the caller knows, in pages of 1 to 1,000 (100)."""
    kind = place.name.rsplit("/", 1)[-1]
    return listing(place.path, page(types.BankResource, kind), page_size=page_size)


def get(place: Place, /) -> Call[types.BankResource]:
    """Return the bank's own resource: its names, times and configuration."""
    return Call(method="GET", path=place.path, parse=one(types.BankResource), repeatable=True)


def update(
    place: Place,
    /,
    *,
    display_name: str | None = None,
    description: str | None = None,
    config: types.MemoryBankConfig | Mapping[str, Any] | None = None,
    update_mask: Sequence[str] | None = None,
) -> Call[Told[types.BankResource]]:
    """Change the bank: what is given, or what *update_mask* names; an empty configuration changes nothing of it."""
    return Call(
        method="PATCH",
        path=place.path,
        parse=told_of(types.BankResource),
        repeatable=True,
        query=texts(update_mask=None if update_mask is None else ",".join(update_mask)),
        body=_said(display_name, description, config),
    )


def delete(place: Place, /, *, force: bool = False) -> Call[Told[types.Nothing]]:
    """Delete the bank, with all that it holds if forced. Raises FailedPrecondition for one that holds something."""
    return deletion(place, force="true" if force else None)


def get_usage(place: Place, /, *, start_date: date | None = None, end_date: date | None = None) -> Call[types.Usage]:
    """Return what models cost the bank from one UTC day to another, both included."""
    query = texts(start_date=start_date, end_date=end_date)
    return Call(method="GET", path=f"{place.path}/usage", parse=one(types.Usage), repeatable=True, query=query)


def _said(
    display_name: str | None, description: str | None, config: types.MemoryBankConfig | Mapping[str, Any] | None
) -> JsonObject:
    context = None if config is None else fields(memory_bank_config=config)
    return fields(display_name=display_name, description=description, context_spec=context)
