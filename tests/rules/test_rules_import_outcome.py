"""What an import does with a memory that the bank may have."""

from datetime import timedelta

import pytest

from streambank.rules.import_outcome import ImportOutcome, decide_import
from tests.rules.building import NOW, memory

SECOND = timedelta(seconds=1)
LATER = NOW + timedelta(hours=1)


def decided(incoming, existing=None, *, is_renamed=False):
    return decide_import(incoming, existing, is_renamed=is_renamed, now=LATER)


@pytest.mark.parametrize(("is_renamed", "outcome"), [(False, ImportOutcome.IMPORTED), (True, ImportOutcome.RENAMED)])
def test_a_memory_that_the_bank_has_not_is_imported(is_renamed, outcome):
    """It has its own id, or a new one where that is taken."""
    assert decided(memory(), is_renamed=is_renamed) is outcome


def test_an_expired_memory_is_not_imported():
    """From its expiry on, whatever the bank has."""
    assert decided(memory(expires=LATER)) is ImportOutcome.EXPIRED
    assert decided(memory(expires=LATER), memory(updated=NOW - SECOND)) is ImportOutcome.EXPIRED
    assert decided(memory(expires=LATER + SECOND)) is ImportOutcome.IMPORTED


@pytest.mark.parametrize("is_renamed", [False, True])
@pytest.mark.parametrize("change", ["updated", "deleted"])
def test_the_memory_that_changed_last_stays(change, is_renamed):
    """The bank's memory is kept if it was changed or deleted as late, or later; else the import replaces it."""
    taken = ImportOutcome.RENAMED if is_renamed else ImportOutcome.IMPORTED
    for span, outcome in ((SECOND, ImportOutcome.KEPT), (timedelta(0), ImportOutcome.KEPT), (-SECOND, taken)):
        existing = memory(**{"updated": NOW - timedelta(minutes=1), change: NOW + span})
        assert decided(memory(), existing, is_renamed=is_renamed) is outcome


def test_a_deletion_does_not_undo_a_later_change():
    """What counts is the last of both: the change of the bank's memory, or its deletion."""
    existing = memory(updated=NOW + SECOND, deleted=NOW - SECOND)
    assert decided(memory(), existing) is ImportOutcome.KEPT


def test_an_expired_memory_of_the_bank_is_replaced():
    """However late it was changed; a deletion that is as late still counts."""
    assert decided(memory(), memory(updated=NOW + SECOND, expires=LATER)) is ImportOutcome.IMPORTED
    assert decided(memory(), memory(deleted=NOW + SECOND, expires=LATER)) is ImportOutcome.KEPT
