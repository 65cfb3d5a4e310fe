"""What a caller's edit makes of a memory: its expiry, its revisions, and what a rollback may restore."""

from dataclasses import replace
from datetime import timedelta

import pytest

from streambank.errors import FailedPrecondition
from streambank.model.bank import BankConfig
from streambank.model.memory import Revision
from streambank.rules import edits
from streambank.rules.edits import Edit
from tests.rules.building import HASHES, NOW, SCOPE, memory

HOUR = timedelta(hours=1)
CONFIG = BankConfig(create_ttl=HOUR, update_ttl=2 * HOUR)
STATED = Edit(frozenset({"fact"}), "I like coffee")


def created(edit=STATED, config=CONFIG):
    return edits.creation("m1", SCOPE, edit, config, b"vector", now=NOW).after


def updated(edit=STATED, config=CONFIG, **before):
    return edits.update(memory(**before), edit, config, b"vector", HASHES, now=NOW).after


def test_a_new_memory_expires_after_the_banks_time():
    """The bank's TTL counts from now; a bank without one leaves a memory for ever."""
    assert created().expires == NOW + HOUR
    assert created(config=BankConfig()).expires is None


def test_an_update_renews_the_expiry():
    """The bank's TTL for updates counts from now; without one the memory keeps its expiry."""
    assert updated(expires=NOW + HOUR / 2).expires == NOW + 2 * HOUR
    assert updated(config=BankConfig(), expires=NOW + HOUR / 2).expires == NOW + HOUR / 2


@pytest.mark.parametrize("field", ["ttl", "expireTime"])
def test_the_callers_own_expiry_counts(field):
    """Whatever the bank says, the expiry that the request states is the memory's, also if it takes one away."""
    for expires in (NOW + 9 * HOUR, None):
        edit = replace(STATED, fields=STATED.fields | {field}, expires=expires)
        assert created(edit).expires == expires
        assert updated(edit, expires=NOW + HOUR).expires == expires


def test_only_another_fact_makes_a_revision():
    """The same fact again, and a name, make none; another fact makes the next one."""
    same, named = replace(STATED, fact=memory().fact), Edit(frozenset({"displayName"}), display_name="Tea")
    assert updated(same).revision == updated(named).revision == memory().revision
    assert updated().revision == memory().revision + 1


def test_a_bank_without_revisions_makes_none():
    """Where revisions are disabled, a memory has number 0 for ever."""
    assert created(config=BankConfig(disable_revisions=True)).revision == 0
    assert updated(config=BankConfig(disable_revisions=True), revision=0).revision == 0


def test_what_cannot_be_rolled_back_is_refused():
    """The empty revision of a deletion restores nothing, and an expired memory does not come back."""
    past, empty = Revision("m1", 1, "I like tea", NOW, None), Revision("m1", 2, "", NOW, None)
    for target, expires in ((empty, None), (past, NOW)):
        with pytest.raises(FailedPrecondition):
            edits.rollback(memory(expires=expires), target, BankConfig(), b"vector", HASHES, now=NOW)
    back = edits.rollback(memory(expires=NOW + HOUR, deleted=NOW), past, BankConfig(), b"vector", HASHES, now=NOW)
    assert (back.after.fact, back.after.deleted) == ("I like tea", None)
