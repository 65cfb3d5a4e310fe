"""Names of moved streams, and hashes that come from another scope."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise

from hypothesis import given
from hypothesis import strategies as st

from streambank.model.event import Event
from streambank.model.ids import canonical, scope_id, stream_key
from streambank.model.stream import StreamId
from streambank.model.tombstone import Tombstone
from streambank.rules.keyed_hashes import KeyedHashes
from streambank.rules.moved_tombstones import with_current_hashes
from streambank.rules.moves import MAX_ORIGINS, earlier_names, names_in_target, origins_after
from streambank.rules.tombstones import is_cited, refusal

AT = datetime(2026, 3, 1, tzinfo=UTC)
SECRET = b"secret"
names = st.text(min_size=1, max_size=200)
scopes = st.dictionaries(st.text(min_size=1, max_size=5), st.text(min_size=1, max_size=5), min_size=1, max_size=3)


def hashes(scope: dict[str, str]) -> KeyedHashes:
    return KeyedHashes.of_scope(SECRET, "b", scope)


def stream(scope: dict[str, str], name: str) -> StreamId:
    return StreamId("b", stream_key(scope, name), scope, name)


@given(names)
def test_a_moved_stream_keeps_its_name_or_has_one_that_leads_back(name: str) -> None:
    """The first choice is the name itself; the others are distinct, within the limit, and know the name."""
    choices = list(islice(names_in_target(name, scope_id({"a": "b"})), 5))
    assert choices[0] == name
    assert len(set(choices)) == 5
    assert all(len(one.encode()) <= 512 or one == name for one in choices)
    if len(name.encode()) < 490:
        assert all(name in earlier_names(one) for one in choices)


def test_a_long_name_is_not_longer_in_the_target() -> None:
    """A stream whose name has no room for more gets a derived one."""
    choices = list(islice(names_in_target("x" * 512, scope_id({"a": "b"})), 3))
    assert all(len(one.encode()) <= 512 for one in choices)


@given(st.lists(st.sampled_from("abcdef"), max_size=40))
def test_origins_are_distinct_and_bounded(visited: list[str]) -> None:
    """Whatever way something takes, it names each scope once, the last one last, and never the one that it is in."""
    origins: tuple[str, ...] = ()
    for source, target in pairwise(visited):
        if source != target:
            origins = origins_after(origins, source, target)
            assert origins[-1] == source
            assert target not in origins
            assert len(set(origins)) == len(origins) <= MAX_ORIGINS


@given(scopes, scopes, names, st.sampled_from(["id", None]))
def test_a_tombstone_is_recognised_in_the_target(
    old: dict[str, str], new: dict[str, str], name: str, event_id: str | None
) -> None:
    """Event and text have other hashes in another scope, and are refused there as they were."""
    event = Event("user", ({"text": "I keep bees"},), event_id, AT)
    before, after = hashes(old), hashes(new)
    events = frozenset({before.of_event(stream_key(old, name), event)})
    left = Tombstone("m", AT, events, frozenset({before.of_text("I keep bees")}), AT + timedelta(days=1))
    moved = Tombstone("m", AT, left.events, left.texts, left.expires, origins=(canonical(old),))
    now = after.of_event(stream_key(new, name), event)
    for where in (stream(new, name), *(stream(new, one) for one in islice(names_in_target(name, "cid12345"), 2))):
        now = after.of_event(where.sid, event)
        [known] = with_current_hashes([moved], after, [(where, event)], ["I keep bees"])
        assert is_cited(now, [known])
        assert refusal("I keep bees", [now], "", AT + timedelta(days=9), [known])
        assert refusal("I keep bees", [""], after.of_text("i keep bees."), AT, [known]) or old == new
    if old != new:
        assert not is_cited(now, [left])


def test_other_events_are_not_recognised() -> None:
    """An id of another stream is another event, before and after a move."""
    old, new = {"u": "1"}, {"u": "2"}
    event = Event("user", (), "e1")
    left = Tombstone("m", AT, frozenset({hashes(old).of_event(stream_key(old, "s"), event)}), frozenset(), AT)
    moved = Tombstone("m", AT, left.events, left.texts, left.expires, origins=(canonical(old),))
    other = stream(new, "t")
    [known] = with_current_hashes([moved], hashes(new), [(other, event)])
    assert known == moved
