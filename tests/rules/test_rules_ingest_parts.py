from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from streambank.model.event import Event, EventMarker, KeyedEvent
from streambank.rules import ingest_parts
from tests.rules.building import keyed

EVENT = Event("user", ({"text": "x"},))
OVERHEAD = 700


def calls(most=250):
    """Calls of events of any legal size, some without an id."""
    sizes = st.sampled_from([50, 400, 3_000, 36_000, 120_000, 189_300, 189_301, 349_000, 350_000])
    rows = st.lists(st.tuples(sizes, st.booleans()), max_size=most)
    return rows.map(
        lambda found: [KeyedEvent(EVENT, str(n) if has_id else None, size) for n, (size, has_id) in enumerate(found)]
    )


def actions(part):
    return len(ingest_parts.split_into_batches(part)) + sum(event.key is not None for event in part)


def weight(part):
    return sum(event.size + OVERHEAD for event in part)


def fits(part):
    return actions(part) <= 98 and weight(part) <= 3_500_000


@given(events=calls())
def test_parts_keep_everything_in_order(events):
    """Cutting a call loses nothing, doubles nothing and keeps the order."""
    assert [event for part in ingest_parts.split_into_parts(events) for event in part] == events


@given(events=calls())
def test_every_part_fits_one_transaction(events):
    """No part has more than 98 actions or 3.5 MB, and each is as full as the order allows."""
    cut = ingest_parts.split_into_parts(events)
    assert all(fits(part) for part in cut)
    assert all(not fits((*part, following[0])) for part, following in pairwise(cut))


@given(events=calls())
def test_every_batch_fits_one_item(events):
    """No batch item holds more than 380,000 bytes, none is empty, and order and number are kept."""
    runs = ingest_parts.split_into_batches(events)
    assert [event for run in runs for event in run] == events
    assert all(run and weight(run) <= 380_000 for run in runs)


def test_ninety_seven_ids_are_one_part():
    """97 small events with ids are one transaction, one more makes two."""
    events = [keyed(str(n), f"e{n}") for n in range(98)]
    assert [len(part) for part in ingest_parts.split_into_parts(events[:97])] == [97]
    assert [len(part) for part in ingest_parts.split_into_parts(events)] == [97, 1]


def test_a_thousand_events_without_ids_are_one_part():
    """Events without ids cost no marker: a thousand small ones are one transaction."""
    assert len(ingest_parts.split_into_parts([keyed(str(n)) for n in range(1_000)])) == 1


def test_a_call_without_events_is_one_empty_part():
    """A call that only says something is written once."""
    assert ingest_parts.split_into_parts([]) == [()]
    assert ingest_parts.split_into_batches([]) == []


def test_repeats_inside_a_call_are_dropped():
    """The first of an id stays; a repeat with the same content is a repeat, with other content a conflict too."""
    first, same, other = keyed("a", "e1"), keyed("a", "e1"), keyed("b", "e1")
    kept, dropped = ingest_parts.drop_repeats([first, same, other, keyed("c", "e2")])
    assert [event.event.event_id for event in kept] == ["e1", "e2"]
    assert kept[0] is first
    assert (dropped.repeats, dropped.conflicts, dropped.fresh) == (2, ("e1",), ())


def test_events_without_ids_are_never_repeats():
    """Equal events without ids are as many events as were sent."""
    kept, dropped = ingest_parts.drop_repeats([keyed("a")] * 3)
    assert (len(kept), dropped.repeats) == (3, 0)


def test_the_time_is_no_part_of_an_events_content():
    """The same id with the same content at another time is a repeat, not a conflict."""
    at = keyed("a", "e1")
    later = KeyedEvent(Event("user", at.event.parts, "e1", None), at.key, 200)
    assert ingest_parts.drop_repeats([at, later])[1].conflicts == ()


def test_known_events_are_sorted_out():
    """Markers tell new from known, other content is a conflict, and the newest marker is remembered."""
    old, changed, new = keyed("a", "e1"), keyed("b", "e2"), keyed("c", "e3")
    seen = {
        old.key: EventMarker(4, 1, old.event.fingerprint()),
        changed.key: EventMarker(9, 2, b"another thing"),
    }
    found = ingest_parts.deduplicate([old, changed, new, keyed("no id")], seen)
    assert [event.event.parts[0]["text"] for event in found.fresh] == ["c", "no id"]
    assert (found.repeats, found.conflicts, found.newest_marker) == (2, ("e2",), EventMarker(9, 2, b"another thing"))


def test_nothing_known_is_all_fresh():
    """Without markers everything is new and there is no newest marker."""
    found = ingest_parts.deduplicate([keyed("a", "e1")], {})
    assert (len(found.fresh), found.repeats, found.newest_marker) == (1, 0, None)


@given(ids=st.lists(st.none() | st.integers(0, 5), max_size=30))
def test_a_call_is_counted_whole(ids):
    """Kept and dropped events are together what was sent, and no id is kept twice."""
    events = [keyed("x", None if name is None else f"e{name}") for name in ids]
    kept, dropped = ingest_parts.drop_repeats(events)
    keys = [event.key for event in kept if event.key]
    assert len(kept) + dropped.repeats == len(events)
    assert len(keys) == len(set(keys))
