"""Sessions in the table: what is written, found, listed and taken away."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.errors import Conflict
from streambank.model.session import Session, SessionCursor, SessionEvent
from streambank.store import keys
from streambank.store.sessions import Sessions, event_of, event_values, head_values, session_of
from tests import aws
from tests.store.building import FEW, NOW, instants, json_values, texts, through_item, written_times

DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)


@pytest.fixture
def sessions(world):
    return Sessions(world.table)


def a_session(name="s1", **more):
    first = more.pop("first", 1_000)
    made = {"user_id": "u1", "created": NOW, "updated": NOW, "first": first, "last": first, **more}
    return Session(name, **made)


def an_event(number, **more):
    return SessionEvent("user", "i1", NOW, number, content={"parts": [{"text": f"t{number}"}]}, **more)


def stored(sessions, name="s1", events=0, bank="default", **more):
    """Store a session with *events* events and return it as it is then."""
    session = a_session(name, **more)
    sessions.create(bank, session)
    for _ in range(events):
        after = replace(session, last=session.last + 1)
        sessions.append(bank, session, after, an_event(after.last))
        session = sessions.find(bank, name)
    return session


maps = st.dictionaries(texts, json_values, max_size=3)


def some_sessions():
    return st.builds(
        Session,
        id=st.from_regex(r"[A-Za-z0-9._-]{1,128}", fullmatch=True),
        user_id=texts,
        created=instants(),
        updated=instants(),
        first=st.integers(0, 10**12),
        last=st.integers(0, 10**12),
        version=st.integers(1, 10**9),
        display_name=st.none() | texts,
        state=maps,
        labels=st.dictionaries(texts, texts, max_size=3),
        expires=st.none() | instants(),
        deleted=st.none() | instants(),
    )


def some_events():
    return st.builds(
        SessionEvent,
        author=texts,
        invocation_id=texts,
        timestamp=written_times(),
        number=st.integers(1, 10**12 - 1),
        content=st.none() | maps,
        actions=st.none() | maps,
        metadata=st.none() | maps,
        error_code=st.none() | texts,
        error_message=st.none() | texts,
        raw=st.none() | maps,
    )


@FEW
@given(some_sessions())
def test_a_session_comes_back_as_it_was(session):
    """Round trip: whatever a session holds is what its item gives back, its state to the last key."""
    assert session_of(through_item(keys.session_head("b", session.id), head_values("b", session))) == session


@FEW
@given(some_events())
def test_an_event_comes_back_as_it_was(event):
    """Round trip: maps keep their keys and their nulls, the timestamp its microseconds and its offset."""
    found = event_of(through_item(keys.session_event("b", "s", event.number), event_values(event)))
    assert found == event
    assert found.timestamp.utcoffset() == event.timestamp.utcoffset()


@given(st.integers(1, 10**12 - 1), st.integers(1, 10**12 - 1))
def test_event_keys_keep_the_order_of_numbers(one, other):
    """The events of a session are read in the order in which they were appended."""
    first, second = (keys.session_event("b", "s", number).sk for number in (one, other))
    assert (first < second) == (one < other)


def test_an_id_is_given_once_in_a_bank(sessions):
    """A second session of one id is turned away; another bank may have it (I8)."""
    stored(sessions)
    with pytest.raises(Conflict):
        stored(sessions, user_id="u2")
    stored(sessions, bank="b2")
    assert sessions.find("default", "s1").user_id == "u1"
    assert sessions.find("b3", "s1") is None


@pytest.mark.parametrize("stale", [{"version": 1}, {"version": 3}, {"first": 5}])
def test_nobody_writes_over_what_he_did_not_read(world, sessions, stale):
    """A writer who read another version, or a session that was made anew since, writes nothing."""
    session = stored(sessions, events=1)
    assert session.version == 2
    before = aws.dump(world.client)
    seen = replace(session, **stale)
    with pytest.raises(Conflict):
        sessions.append("default", seen, replace(seen, last=1_002), an_event(1_002))
    with pytest.raises(Conflict):
        sessions.update("default", seen, replace(seen, display_name="x"))
    with pytest.raises(Conflict):
        sessions.delete("default", seen, now=NOW)
    assert aws.dump(world.client) == before


def test_an_expired_session_is_gone_at_once(sessions):
    """At its end a session is in no reading, though DynamoDB may keep the items for two days (I9)."""
    session = stored(sessions, expires=NOW + DAY)
    assert sessions.live("default", "s1", now=NOW + DAY - SECOND) == session
    assert sessions.live("default", "s1", now=NOW + DAY) is None
    assert sessions.read("default", ["s1"], now=NOW + DAY) == {}


def test_everything_of_a_session_expires_with_it(world, sessions):
    """Head, events and registry entry carry the same TTL; without an end none does."""
    session = stored(sessions, events=2, expires=NOW + DAY)
    times = [int(item["ttl"]["N"]) for item in aws.dump(world.client)]
    assert times == [int((NOW + DAY).timestamp())] * 4
    sessions.set_event_expiry("default", session, None)
    sessions.update("default", session, replace(session, expires=None))
    assert not any("ttl" in item for item in aws.dump(world.client))


def test_retiming_leaves_the_remains_of_another_session_alone(world, sessions):
    """Events that linger from an expired session of the same id do not live longer for it."""
    stored(sessions, events=2, expires=NOW + DAY)
    world.client.delete_item(TableName=aws.TABLE, Key={"PK": {"S": "X#default#s1"}, "SK": {"S": "S"}})
    anew = stored(sessions, events=1, first=2_000, expires=NOW + DAY)
    sessions.set_event_expiry("default", anew, None)
    kept = [item["SK"]["S"] for item in aws.dump(world.client) if "ttl" in item and item["SK"]["S"].startswith("E#")]
    assert kept == ["E#000000001001", "E#000000001002"]
    assert [event.number for event in sessions.events("default", anew)] == [2_001]


def test_events_are_read_from_a_number_on(sessions):
    """A page begins after the number that the last one ended with."""
    session = stored(sessions, events=3)
    assert [event.number for event in sessions.events("default", session)] == [1_001, 1_002, 1_003]
    assert [event.number for event in sessions.events("default", session, after=1_002)] == [1_003]
    assert list(sessions.events("default", session, after=1_003)) == []
    assert list(sessions.events("default", session, after=0)) == list(sessions.events("default", session))
    assert set(sessions.read_events("default", session, [1_002, 7])) == {1_002}


def test_a_buried_session_leaves_nothing(world, sessions):
    """All of a session goes, and nothing of its neighbour whose id begins with the same letters."""
    stored(sessions, "s", events=1)
    kept = aws.dump(world.client)
    session = stored(sessions, "s1", events=30)
    sessions.delete("default", session, now=NOW)
    assert aws.dump(world.client) == kept


def test_a_burial_that_stopped_is_taken_up_again(world, sessions):
    """Once begun, a session is in no reading or list, holds no state, and the next burial finishes the work."""
    session = stored(sessions, events=2, state={"secret": 1}, labels={"secret": "2"}, display_name="secret")
    begun = sessions.update("default", session, replace(session, deleted=NOW))
    assert sessions.live("default", "s1", now=NOW) is None
    assert list(sessions.newest("default", None)) == []
    assert sessions.read("default", ["s1"], now=NOW) == {}
    sessions.delete("default", begun, now=NOW)
    sessions.delete("default", begun, now=NOW)
    assert aws.dump(world.client) == []


def test_a_late_burial_takes_nothing_of_a_new_session(world, sessions):
    """Who still buries a session when another one was made under its id deletes none of the new one's items."""
    session = stored(sessions, events=2)
    begun = sessions.update("default", session, replace(session, deleted=NOW))
    sessions.delete("default", begun, now=NOW)
    stored(sessions, events=2, first=2_000)
    kept = aws.dump(world.client)
    sessions.delete("default", begun, now=NOW)
    assert aws.dump(world.client) == kept


def test_a_banks_sessions_are_listed_newest_first(sessions):
    """All shards of the index are merged by update time, then by id; walking on from any place loses nothing."""
    rows = []
    for number in range(30):
        updated = NOW + timedelta(milliseconds=number // 5)
        stored(sessions, f"s{number:02}", updated=updated)
        rows.append(SessionCursor(int(updated.timestamp() * 1000), f"s{number:02}"))
    stored(sessions, "foreign", bank="b2")
    expected = sorted(rows, reverse=True)
    assert list(sessions.newest("default", None)) == expected
    for place, after in enumerate(expected):
        assert list(sessions.newest("default", after)) == expected[place + 1 :]


def test_an_appended_session_moves_to_the_front(sessions):
    """The list follows the update time, which an event changes."""
    for name in ("a", "b"):
        stored(sessions, name)
    session = sessions.find("default", "a")
    sessions.append("default", session, replace(session, last=1_001, updated=NOW + SECOND), an_event(1_001))
    assert [place.session_id for place in sessions.newest("default", None)] == ["a", "b"]


def test_a_users_sessions_are_found_without_a_walk(sessions):
    """A user's sessions, and nobody else's, stand in one partition of the index."""
    for number, user in enumerate(["u1", "u2", "u1", "u11"]):
        stored(sessions, f"s{number}", user_id=user, created=NOW + number * SECOND)
    stored(sessions, "foreign", bank="b2")
    assert [place.session_id for place in sessions.of_user("default", "u1")] == ["s2", "s0"]
    assert list(sessions.of_user("default", "nobody")) == []


def test_sessions_go_with_their_bank(world, sessions):
    """Deleting a bank takes its sessions with their events, and none of another bank; an empty bank holds none."""
    stored(sessions, bank="b2", events=1)
    kept = aws.dump(world.client)
    assert world.banks.is_empty("1234")
    stored(sessions, bank="1234", events=3)
    assert not world.banks.is_empty("1234")
    list(world.banks.delete_contents("1234"))
    assert aws.dump(world.client) == kept
