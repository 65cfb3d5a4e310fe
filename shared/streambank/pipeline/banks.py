"""Making, changing and closing banks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from streambank.errors import Conflict, FailedPrecondition, NotFound, Unavailable
from streambank.model.bank import Bank
from streambank.model.ids import DEFAULT_BANK
from streambank.retry import RetryPolicy
from streambank.rules.bank_config import default_rule
from streambank.store.banks import Banks


@dataclass(frozen=True, slots=True)
class BankChange:
    """What a caller says about a bank; None says nothing."""

    display_name: str | None = None
    description: str | None = None
    document: Mapping[str, Any] | None = None


def create_bank(bank_id: str, said: BankChange, *, banks: Banks, now: datetime) -> Bank:
    """Store a new bank under an id that was never used. Raises Conflict if it was."""
    document = said.document or {}
    bank = Bank(bank_id, now, now, said.display_name, said.description, default_rule=default_rule(document))
    banks.create(bank, document)
    return bank


def update_bank(bank_id: str, said: BankChange, *, banks: Banks, retry_policy: RetryPolicy, now: datetime) -> Bank:
    """Change what *said* says and nothing else.

    Raises:
        NotFound: there is no such bank.
        Unavailable: it is changed too often at once.
    """

    def changed(bank: Bank) -> Bank:
        rule = bank.default_rule if said.document is None else default_rule(said.document)
        return replace(
            bank,
            created=bank.created or now,
            updated=now,
            display_name=bank.display_name if said.display_name is None else said.display_name,
            description=bank.description if said.description is None else said.description,
            default_rule=rule,
        )

    for _ in retry_policy.attempts():
        try:
            bank = banks.update(bank_id, changed, said.document)
        except Conflict:
            continue
        if bank is None:
            raise NotFound(f"there is no bank {bank_id!r}")
        return bank
    raise Unavailable("the bank is changed by somebody else; try again")


def delete_bank(bank_id: str, *, force: bool, banks: Banks, now: datetime) -> None:
    """Let a bank answer nothing any more; its contents go in the background, from a minute later on.

    Raises:
        NotFound: there is no such bank.
        FailedPrecondition: it is `default`, or it holds something and *force* is not set.
    """
    if bank_id == DEFAULT_BANK:
        raise FailedPrecondition("the default bank can be emptied, not deleted")
    if banks.get(bank_id) is None:
        raise NotFound(f"there is no bank {bank_id!r}")
    if not force and not banks.is_empty(bank_id):
        raise FailedPrecondition("the bank holds streams or memories; set force to delete them with it")
    try:
        banks.close(bank_id, now=now)
    except Conflict as gone:
        raise NotFound(f"there is no bank {bank_id!r}") from gone
