"""What the change feed tells of a change."""

from dataclasses import replace
from datetime import timedelta

from streambank.model.bank import BankConfig
from streambank.model.change_record import ChangedMemory, ChangeKind
from streambank.model.memory import Change, Evidence
from streambank.rules.changes import changed_memories, kind_of, record_expiry
from streambank.rules.consolidation import deletion, new_memory
from tests.rules.building import HASHES, NOW, memory

ONE = memory("m1", "Has bees.")


def test_each_kind_follows_from_what_was_and_is():
    """A new memory, a new text, a deletion, a merge and a rollback are told apart."""
    gone = deletion(ONE, HASHES, now=NOW)
    assert kind_of(new_memory(ONE, None)) is ChangeKind.CREATED
    assert kind_of(Change(ONE, replace(ONE, fact="Has hens."), None)) is ChangeKind.UPDATED
    assert kind_of(gone) is ChangeKind.DELETED
    assert kind_of(deletion(ONE, HASHES, now=NOW, merged_into="m2")) is ChangeKind.MERGED
    assert kind_of(Change(gone.after, ONE, None)) is ChangeKind.RESTORED


def test_pins_have_kinds_of_their_own():
    """A pin alone is no other change; with a new text both are told; a memory that is created pinned is created."""
    pinned = replace(ONE, pinned=True, updated=NOW + timedelta(days=1))
    told = [
        [one.kind for one in changed_memories([change])]
        for change in (
            Change(ONE, pinned, None),
            Change(pinned, ONE, None),
            Change(ONE, replace(pinned, fact="Has hens."), None),
            new_memory(pinned, None),
        )
    ]
    assert told == [["PINNED"], ["UNPINNED"], ["UPDATED", "PINNED"], ["CREATED"]]


def test_what_no_reply_shows_is_not_told():
    """Further evidence, a vector made anew and the import of a deleted memory are no changes for a reader."""
    seen = replace(ONE, evidence=(Evidence("s" * 26, 1, (1,)),), vector=b"other")
    gone = deletion(ONE, HASHES, now=NOW).after
    assert [kind_of(one) for one in (Change(ONE, seen, None), Change(None, gone, None))] == [None, None]
    assert changed_memories([Change(ONE, seen, None), deletion(ONE, HASHES, now=NOW)]) == (
        ChangedMemory(ChangeKind.DELETED, "m1", ONE.revision + 1),
    )


def test_a_newer_time_of_the_evidence_is_told():
    """A memory that is stated again later has a newer time, which replies show."""
    assert kind_of(Change(ONE, replace(ONE, as_of=ONE.as_of + timedelta(days=1)), None)) is ChangeKind.UPDATED


def test_records_live_as_long_as_revisions():
    """A bank's own time for revisions rules, else 365 days do, also where no revisions are kept."""
    assert record_expiry(BankConfig(revision_ttl=timedelta(days=9)), now=NOW) == NOW + timedelta(days=9)
    assert record_expiry(BankConfig(disable_revisions=True), now=NOW) == NOW + timedelta(days=365)
