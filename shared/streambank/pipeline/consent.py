"""Setting a scope to learn nothing, and to learn again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from streambank.errors import Conflict, NotFound, Unavailable
from streambank.model.consent import Consent, Learning
from streambank.retry import RetryPolicy
from streambank.store.banks import Banks
from streambank.store.consents import Consents

_CONTENDED = "the scope is written by others at the same time; try again"


def set_learning(
    bank_id: str,
    scope: Mapping[str, str],
    learning: Learning,
    *,
    consents: Consents,
    banks: Banks,
    retry_policy: RetryPolicy,
    now: datetime,
) -> Consent:
    """Set whether anything is learnt about a scope, and return its consent; the same setting again changes nothing.

    The bank is marked first: from then on each ingest into it reads the consent of its scope.

    Raises:
        NotFound: there is no such bank.
        Unavailable: the bank or the scope is written by others at the same time.
    """
    if learning is Learning.DISABLED:
        _mark_bank(bank_id, banks, retry_policy)
    for _ in retry_policy.attempts():
        before = consents.find(bank_id, scope)
        after = before.consent.changed_to(learning, now=now)
        if after == before.consent:
            return after
        try:
            consents.write(bank_id, scope, before.version, after)
        except Conflict:
            continue
        return after
    raise Unavailable(_CONTENDED)


def restore_consent(
    bank_id: str,
    scope: Mapping[str, str],
    consent: Consent,
    *,
    consents: Consents,
    banks: Banks,
    retry_policy: RetryPolicy,
) -> bool:
    """Set the consent of a scope to one that was exported, and tell whether it was newer than the scope's own.

    Raises as `set_learning` does.
    """
    _mark_bank(bank_id, banks, retry_policy)
    for _ in retry_policy.attempts():
        before = consents.find(bank_id, scope)
        own, exported = before.consent.changed, consent.changed
        if exported is None or (own is not None and own >= exported):
            return False
        try:
            consents.write(bank_id, scope, before.version, consent)
        except Conflict:
            continue
        return True
    raise Unavailable(_CONTENDED)


def _mark_bank(bank_id: str, banks: Banks, retry_policy: RetryPolicy) -> None:
    """Record that some scope of a bank learns nothing. Raises NotFound, and Unavailable."""
    for _ in retry_policy.attempts():
        bank = banks.get(bank_id)
        if bank is None:
            raise NotFound(f"there is no bank {bank_id!r}")
        if bank.has_consent_settings:
            return
        try:
            banks.update(bank_id, lambda one: replace(one, has_consent_settings=True), None)
        except Conflict:
            continue
        return
    raise Unavailable("the bank is changed by others at the same time; try again")
