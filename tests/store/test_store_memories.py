from dataclasses import replace
from datetime import timedelta

import pytest

from streambank.errors import Conflict
from streambank.model import ids
from streambank.model.memory import Change, Revision
from streambank.rules.consolidation import deletion
from tests import aws
from tests.store.building import HASHES, NOW, SCOPE, memory

DAY = timedelta(days=1)
OTHER = {"user_id": "u2"}


def stored(world, *names, scope=SCOPE, version=0, bank="default", **more):
    """Store a new memory under each name, one after the other."""
    made = []
    for number, name in enumerate(names):
        one = memory(name, scope=scope, **more)
        revision = Revision(name, 1, one.fact, NOW, NOW + 365 * DAY)
        world.memories.commit_change(bank, scope, version + number, Change(None, one, revision), now=NOW)
        made.append(one)
    return made


def test_a_scope_is_read_with_its_version(world):
    """Each change counts the scope's version up by one; a scope that was never written is at 0."""
    assert world.memories.view_of_ids("default", SCOPE, [], now=NOW).version == 0
    made = stored(world, "m1", "m2")
    view = world.memories.view_of_ids("default", SCOPE, ["m1", "m2", "m3"], now=NOW)
    assert (view.version, view.erasing, list(view.memories)) == (2, False, made)


@pytest.mark.parametrize("version", [0, 1, 3])
def test_nobody_writes_under_another_version(world, version):
    """Whoever read another version of the scope is turned away, and nothing is written."""
    stored(world, "m1", "m2")
    before = aws.dump(world.client)
    with pytest.raises(Conflict):
        world.memories.commit_change("default", SCOPE, version, Change(None, memory("m3"), None), now=NOW)
    assert aws.dump(world.client) == before


def test_no_memory_crosses_a_scope_or_a_bank(world):
    """A memory is found in its own bank and scope only (I8)."""
    [made] = stored(world, "m1")
    stored(world, "m2", scope=OTHER)
    assert world.memories.of_scope("default", SCOPE, now=NOW) == [made]
    assert world.memories.of_scope("b2", SCOPE, now=NOW) == []
    assert world.memories.find("b2", "m1", now=NOW) is None
    assert world.memories.find("default", "m1", now=NOW) == made
    assert world.memories.find("default", "m2", now=NOW).scope == OTHER


def test_an_id_is_given_once_in_a_bank(world):
    """Two scopes of one bank cannot both have a memory of one name; another bank may."""
    stored(world, "m1")
    with pytest.raises(Conflict):
        stored(world, "m1", scope=OTHER)
    stored(world, "m1", bank="b2")


def test_an_expired_memory_is_gone_at_once(world):
    """At its expiry a memory is in no reading, though DynamoDB may keep the item for two days (I9)."""
    [made] = stored(world, "m1", expires=NOW + DAY)
    assert world.memories.find("default", "m1", now=NOW + DAY - timedelta(seconds=1)) == made
    then = NOW + DAY
    assert world.memories.find("default", "m1", now=then) is None
    assert world.memories.find_or_deleted("default", "m1", now=then) is None
    assert world.memories.of_scope("default", SCOPE, now=then) == []
    assert world.memories.view_of_ids("default", SCOPE, ["m1"], now=then).memories == ()
    assert world.memories.read_listed("default", world.memories.listed("default", 9, None), now=then) == []


def deleted(world, made, *, version=1):
    change = deletion(made, HASHES, now=NOW)
    world.memories.commit_change("default", SCOPE, version, change, now=NOW)
    return change.after


def test_a_deleted_memory_is_recoverable_for_two_days(world):
    """A tombstone is in no reading or list, but can be found for 48 hours, and its revisions be read."""
    [made] = stored(world, "m1")
    gone = deleted(world, made)
    assert world.memories.find("default", "m1", now=NOW) is None
    assert world.memories.listed("default", 9, None) == []
    end = NOW + timedelta(hours=48)
    assert world.memories.find_or_deleted("default", "m1", now=end - timedelta(seconds=1)) == gone
    assert world.memories.find_or_deleted("default", "m1", now=end) is None
    assert [(one.number, one.fact) for one in world.memories.revisions("default", gone, now=NOW)] == [
        (2, ""),
        (1, "I like tea"),
    ]


def test_revisions_of_a_deleted_memory_go_with_it(world):
    """After a deletion no revision outlives the tombstone, and the sweep need not look again, once or twice."""
    [made] = stored(world, "m1")
    gone = deleted(world, made)
    cid = ids.scope_id(SCOPE)
    for _ in range(2):
        world.memories.shorten_revisions("default", cid, "m1")
        found = world.memories.revisions("default", gone, now=NOW)
        assert {one.expires for one in found} == {NOW + timedelta(hours=48)}
        item = next(item for item in aws.dump(world.client) if item["SK"]["S"] == "M#m1")
        assert "G1PK" not in item


def test_revisions_of_a_live_memory_are_not_shortened(world):
    """A memory that came back, or was never deleted, keeps its revisions."""
    [made] = stored(world, "m1")
    before = aws.dump(world.client)
    world.memories.shorten_revisions("default", ids.scope_id(SCOPE), "m1")
    world.memories.shorten_revisions("default", ids.scope_id(SCOPE), "nobody")
    assert aws.dump(world.client) == before
    assert world.memories.revision("default", made, 1, now=NOW).expires == NOW + 365 * DAY


def test_revisions_end_at_their_own_time(world):
    """An expired revision is in no list and cannot be read, like one that never was."""
    [made] = stored(world, "m1")
    end = NOW + 365 * DAY
    assert world.memories.revisions("default", made, now=end) == []
    assert world.memories.revision("default", made, 1, now=end) is None
    assert world.memories.revision("default", made, 2, now=NOW) is None
    assert world.memories.revision("default", made, 1, now=NOW).fact == "I like tea"


def test_ten_revisions_are_listed_newest_first(world):
    """The order is by number, beyond nine too."""
    [made] = stored(world, "m1")
    for number in range(2, 12):
        after = replace(made, revision=number)
        revision = Revision("m1", number, str(number), NOW, None)
        world.memories.commit_change("default", SCOPE, number - 1, Change(made, after, revision), now=NOW)
    assert [one.number for one in world.memories.revisions("default", made, now=NOW)] == list(range(11, 0, -1))


# ---- index `list`


def spread(world):
    """Store thirty memories in two scopes, five at each instant, and return their names, newest first."""
    rows = []
    for number in range(30):
        name, created = f"m{number:02}", NOW + timedelta(milliseconds=number // 5)
        scope = SCOPE if number % 2 else OTHER
        stored(world, name, scope=scope, version=number // 2, created=created)
        rows.append((created, name))
    stored(world, "foreign", bank="b2")
    return [name for _, name in sorted(rows, reverse=True)]


def test_a_banks_memories_are_listed_newest_first(world):
    """All shards of the index are merged by creation, then by id; pages of any size lose and repeat nothing."""
    names = spread(world)
    for size in (2, 7, 30, 100):
        found, after = [], None
        while page := world.memories.listed("default", size, after):
            assert len(page) <= size
            found += [name for _, name, _ in page]
            after = page[-1][:2]
        assert found == names


def test_listed_memories_are_read_again(world):
    """The index only names them: what is shown is the item as it is now, with its own scope."""
    spread(world)
    listed = world.memories.listed("default", 10, None)
    found = world.memories.read_listed("default", listed, now=NOW)
    assert [one.id for one in found] == [name for _, name, _ in listed]
    assert {str(one.scope) for one in found} == {str(SCOPE), str(OTHER)}


def test_a_banks_memories_are_named_all_at_once(world):
    """Without an order all of them are named, each once and no other bank's, or as many as are asked for."""
    names = spread(world)
    found = [name for _, name, _ in world.memories.everything_listed("default", 1_000)]
    assert sorted(found) == sorted(names)
    assert len(world.memories.everything_listed("default", 7)) == 7
