"""Banks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from streambank_client import types
from streambank_client.calls.replies import (
    OperationSnapshot,
    delete_call,
    list_call,
    read_object,
    read_operation,
    read_page,
)
from streambank_client.calls.requests import body_fields, query_parameters
from streambank_client.calls.resources import ResourcePath
from streambank_client.http.call import Call, PagedCall
from streambank_client.http.encoding import JsonObject


def create_bank(
    resource: ResourcePath,
    /,
    *,
    display_name: str | None = None,
    description: str | None = None,
    config: types.MemoryBankConfig | Mapping[str, Any] | None = None,
) -> Call[OperationSnapshot[types.BankResource]]:
    """Create a bank; the service chooses its id.

    The call is not repeated when its outcome is unknown: there could be two banks.
    """
    body = _bank_fields(display_name, description, config)
    return Call(
        method="POST", path=resource.path, parse=read_operation(types.BankResource), repeatable=False, body=body
    )


def list_banks(resource: ResourcePath, /, *, page_size: int | None = None) -> PagedCall[types.BankResource]:
    """List the banks that the caller may access; *page_size* is 1 to 1,000 (100)."""
    collection = resource.name.rsplit("/", 1)[-1]
    return list_call(resource.path, read_page(types.BankResource, collection), page_size=page_size)


def get(resource: ResourcePath, /) -> Call[types.BankResource]:
    """Return the resource of the bank: its names, times and configuration."""
    return Call(method="GET", path=resource.path, parse=read_object(types.BankResource), repeatable=True)


def update(
    resource: ResourcePath,
    /,
    *,
    display_name: str | None = None,
    description: str | None = None,
    config: types.MemoryBankConfig | Mapping[str, Any] | None = None,
    update_mask: Sequence[str] | None = None,
) -> Call[OperationSnapshot[types.BankResource]]:
    """Change the given fields of the bank, or those of *update_mask*; an empty configuration changes nothing."""
    return Call(
        method="PATCH",
        path=resource.path,
        parse=read_operation(types.BankResource),
        repeatable=True,
        query=query_parameters(update_mask=None if update_mask is None else ",".join(update_mask)),
        body=_bank_fields(display_name, description, config),
    )


def delete(resource: ResourcePath, /, *, force: bool = False) -> Call[OperationSnapshot[types.Nothing]]:
    """Delete the bank; *force* deletes its contents too.

    Raises:
        FailedPrecondition: the bank is not empty, and *force* is not set.
    """
    return delete_call(resource, force="true" if force else None)


def reindex(resource: ResourcePath, /) -> Call[OperationSnapshot[types.Reindexed]]:
    """Give new vectors to memories whose vectors are of another embedding model than the bank's.

    Call it after a change of the embedding model, and wait for the operation: it takes some time.
    """
    return Call(
        method="POST",
        path=f"{resource.path}:reindex",
        parse=read_operation(types.Reindexed),
        repeatable=True,
    )


def get_usage(
    resource: ResourcePath, /, *, start_date: date | None = None, end_date: date | None = None
) -> Call[types.Usage]:
    """Return the model usage and cost of the bank from one UTC day to another, both included."""
    query = query_parameters(start_date=start_date, end_date=end_date)
    return Call(
        method="GET", path=f"{resource.path}/usage", parse=read_object(types.Usage), repeatable=True, query=query
    )


def _bank_fields(
    display_name: str | None, description: str | None, config: types.MemoryBankConfig | Mapping[str, Any] | None
) -> JsonObject:
    context = None if config is None else body_fields(memory_bank_config=config)
    return body_fields(display_name=display_name, description=description, context_spec=context)
