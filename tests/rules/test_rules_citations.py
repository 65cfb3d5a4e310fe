from datetime import datetime, timedelta, timezone

from streambank.model.event import Event, StoredEvent
from streambank.rules import citations
from tests.rules.building import NOW, stored, window

DAY = timedelta(days=1)


def test_a_turn_is_one_dated_line():
    """The date is the caller's own, else that of the arrival; line breaks and runs of blanks become one."""
    east = datetime(2026, 2, 3, 1, tzinfo=timezone(timedelta(hours=5)))
    assert citations.event_line(stored(1, "I like\n  tea", time=east)) == "[2026-02-03] I like tea"
    assert citations.event_line(stored(1)) == "[2026-03-01] hello"


def test_what_has_no_text_has_no_line():
    """Tool traffic, thoughts and blanks are not quoted."""
    parts = ({"thought": True, "text": "hm"}, {"functionCall": {}}, {"text": " "})
    assert citations.event_line(StoredEvent(Event("model", parts), 1, NOW)) == ""
    assert citations.cited_text([1], [StoredEvent(Event("model", parts), 1, NOW)]) == ""


def test_only_cited_turns_are_quoted_in_the_order_given():
    """A memory quotes the turns that it cites, and no others."""
    events = [stored(1, "one"), stored(2, "two"), stored(3, "three")]
    assert citations.cited_text({1, 3}, events) == "[2026-03-01] one\n[2026-03-01] three"


def test_quotations_are_bounded():
    """A turn is cut at 1,000 characters of its text, all of them together at 3,000."""
    assert len(citations.event_line(stored(1, "x" * 5_000))) == 1_013
    assert len(citations.cited_text(range(9), [stored(seq, "x" * 5_000) for seq in range(9)])) == 3_000


def test_a_citation_lasts_as_long_as_the_events():
    """It is gone at the end of the events' retention, counted from the last arrival of their window."""
    made = citations.citation(window(), 4, (1,), [stored(1)], retention=90 * DAY)
    assert (made.sid, made.window, made.number) == (window().stream.sid, 1, 4)
    assert made.is_live(NOW + 90 * DAY - timedelta(seconds=1))
    assert not made.is_live(NOW + 90 * DAY)


def test_nothing_said_is_no_citation():
    """A candidate whose turns are not there, or have no text, quotes nothing."""
    assert citations.citation(window(), 0, (7,), [stored(1)], retention=DAY) is None
