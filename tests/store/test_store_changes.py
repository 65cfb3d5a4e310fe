"""Change records in the table: written with their change or not at all, read back as they were, expired in time."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.errors import Conflict
from streambank.model import ids
from streambank.model.change_record import ChangedMemory, ChangeKind, ChangeRecord, ChangeStamp, RecordPosition
from streambank.model.ids import OperationId
from streambank.model.memory import Change, Evidence
from streambank.store.changes import Changes, record_of, record_put
from tests.rules.building import memory
from tests.store.building import FEW, NOW, SCOPE, instants, seconds, through_item

SID = "a" * 26
rows = st.builds(
    ChangedMemory, st.sampled_from(ChangeKind), st.text("abc-019", max_size=8), st.none() | st.integers(1, 9)
)
stamps = st.builds(ChangeStamp, instants(), seconds(), st.none() | st.builds(OperationId, st.just(SID), st.integers(1)))


@FEW
@given(st.integers(1, 10**12 - 1), stamps, st.lists(rows, max_size=4).map(tuple))
def test_a_record_comes_back_as_it_was(version, stamp, memories):
    """What is written of a record is read from its item."""
    if stamp.operation and stamp.operation.window >= 10**12:
        return
    record = ChangeRecord("c" * 26, version, stamp, memories)
    put = record_put("bank", record)
    assert (
        record_of(through_item(put.key, {name: one for name, one in put.values.items() if one is not None})) == record
    )


def created(world, name, version, **more):
    world.memories.commit_change("default", SCOPE, version, Change(None, memory(name), None), now=NOW, **more)


def told(world, after=0, now=NOW):
    return list(Changes(world.table).of_scope("default", SCOPE, after, now=now, page=1))


def test_a_record_is_there_with_its_change_or_not_at_all(world):
    """A refused write leaves no record; each other one leaves one, under the version that it made."""
    created(world, "m1", 0)
    created(world, "m2", 1)
    with pytest.raises(Conflict):
        created(world, "m3", 1)
    assert [(one.version, one.memories[0].memory_id) for one in told(world)] == [(1, "m1"), (2, "m2")]
    assert [one.version for one in told(world, after=1)] == [2]
    listed = list(Changes(world.table).listed("default", 0, page=1))
    assert [(one.cid, one.version) for one in listed] == [(ids.scope_id(SCOPE), 1), (ids.scope_id(SCOPE), 2)]


def test_what_nobody_sees_makes_no_record(world):
    """Further evidence of a memory raises the version, and is not told."""
    created(world, "m1", 0)
    before = memory("m1")
    after = replace(before, evidence=(Evidence(SID, 1, (1,)),))
    world.memories.commit_change("default", SCOPE, 1, Change(before, after, None), now=NOW)
    assert world.memories.version("default", SCOPE).version == 2
    assert [one.version for one in told(world)] == [1]


def test_an_expired_record_is_told_no_more(world):
    """A record ends at its time, however late DynamoDB deletes it, in the feed of the scope and of the bank."""
    later = NOW + timedelta(days=9)
    created(world, "m1", 0, stamp=ChangeStamp(NOW, later))
    changes, position = Changes(world.table), RecordPosition(0, ids.scope_id(SCOPE), 1)
    for now, count in ((later - timedelta(seconds=1), 1), (later, 0)):
        assert len(told(world, now=now)) == count
        assert len(changes.read("default", [position], now=now)) == count
