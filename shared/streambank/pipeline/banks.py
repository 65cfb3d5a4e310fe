"""Creating, changing and closing banks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from streambank.errors import Conflict, FailedPrecondition, NotFound, Unavailable
from streambank.model.bank import Bank
from streambank.model.ids import DEFAULT_BANK
from streambank.retry import RetryPolicy
from streambank.rules.bank_config import content_policy, default_rule
from streambank.store.banks import Banks


@dataclass(frozen=True, slots=True)
class BankChange:
    """The fields of a bank that a caller sets; None leaves a field as it is."""

    display_name: str | None = None
    description: str | None = None
    document: Mapping[str, Any] | None = None


def create_bank(bank_id: str, change: BankChange, *, banks: Banks, now: datetime) -> Bank:
    """Store a new bank. Raises Conflict if its id is taken."""
    document = change.document or {}
    bank = Bank(
        bank_id,
        now,
        now,
        change.display_name,
        change.description,
        default_rule=default_rule(document),
        content_policy=content_policy(document),
    )
    banks.create(bank, document)
    return bank


def update_bank(bank_id: str, change: BankChange, *, banks: Banks, retry_policy: RetryPolicy, now: datetime) -> Bank:
    """Change the fields that *change* names and no other.

    Raises:
        NotFound: there is no such bank.
        Unavailable: it is changed by others at the same time.
    """

    def changed(bank: Bank) -> Bank:
        rule = bank.default_rule if change.document is None else default_rule(change.document)
        policy = bank.content_policy if change.document is None else content_policy(change.document)
        return replace(
            bank,
            created=bank.created or now,
            updated=now,
            display_name=bank.display_name if change.display_name is None else change.display_name,
            description=bank.description if change.description is None else change.description,
            default_rule=rule,
            content_policy=policy,
        )

    for _ in retry_policy.attempts():
        try:
            bank = banks.update(bank_id, changed, change.document)
        except Conflict:
            continue
        if bank is None:
            raise NotFound(f"there is no bank {bank_id!r}")
        return bank
    raise Unavailable("the bank is changed by others at the same time; try again")


def delete_bank(bank_id: str, *, force: bool, banks: Banks, now: datetime) -> None:
    """Close a bank to all callers; its contents are deleted in the background, from a minute later on.

    Raises:
        NotFound: there is no such bank.
        FailedPrecondition: it is `default`, or it has streams or memories and *force* is not set.
    """
    if bank_id == DEFAULT_BANK:
        raise FailedPrecondition("the default bank can be emptied, not deleted")
    if banks.get(bank_id) is None:
        raise NotFound(f"there is no bank {bank_id!r}")
    if not force and not banks.is_empty(bank_id):
        raise FailedPrecondition("the bank has streams or memories; set force to delete them with it")
    try:
        banks.close(bank_id, now=now)
    except Conflict as conflict:
        raise NotFound(f"there is no bank {bank_id!r}") from conflict
