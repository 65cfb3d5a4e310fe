from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.model.event import Event, StoredEvent
from streambank.model.turn import TurnRole
from streambank.rules.grounding import (
    BLANK,
    NOT_THE_USER,
    OTHER_TOPIC,
    REPEATED,
    TOO_LONG,
    UNGROUNDED,
    ground,
    reject_repeats,
    restrict_to_topics,
)
from tests.rules.building import MINUTE, NOW, candidate, stored

# In the prompt: number 1 is carried over from an earlier window, 2 and 3 are the window's own.
SHOWN = {1: stored(7, "old"), 2: stored(8, "new"), 3: stored(9, "newer", time=NOW + MINUTE, arrived=NOW + 2 * MINUTE)}
OWN: dict[int, TurnRole] = {2: "user", 3: "user"}


def proposed(fact="I like tea", citations=(2,), topic=None):
    return ground(fact, citations, topic, SHOWN, OWN)


def test_a_cited_event_grounds_a_fact():
    """A fact that cites an event of the window goes on, with that event's number in the stream and its time."""
    found = proposed(citations=(2,), topic="USER_PREFERENCES")
    assert (found.rejected, found.seqs, found.at, found.topics) == ("", (8,), NOW, ("USER_PREFERENCES",))


@pytest.mark.parametrize("citations", [(), (1,), (4,), (0, -1, 99)])
def test_what_cites_no_event_of_the_window_is_refused(citations):
    """Nothing cited, only carried events, or numbers that were never shown: all are refused."""
    assert proposed(citations=citations).rejected == UNGROUNDED


def test_the_result_of_a_tool_is_no_statement_of_the_user():
    """Its event's role is the user's, and where the user has words, a fact has to cite some of them."""
    result = StoredEvent(Event("user", ({"functionResponse": {"name": "f", "response": {"a": 1}}},)), 2, NOW)
    numbered = {1: stored(1, "I moved"), 2: result}
    own: dict[int, TurnRole] = {1: "user", 2: "tool"}
    assert ground("x", (2,), None, numbered, own).rejected == NOT_THE_USER
    assert ground("x", (1, 2), None, numbered, own).rejected == ""
    assert ground("x", (2,), None, {2: result}, {2: "tool"}).rejected == ""


def test_an_event_that_is_cited_by_two_turns_counts_once():
    """Words and tool traffic of one event have a number each, and one event's number in the stream."""
    both = stored(8, "new")
    assert ground("x", (1, 2), None, {1: both, 2: both}, {1: "user", 2: "tool"}).seqs == (8,)


def test_carried_events_may_stand_beside_own_ones():
    """Context may be cited with an own event; the newest of them dates the fact."""
    found = proposed(citations=(3, 1, 3, 99))
    assert (found.rejected, found.seqs, found.at) == ("", (7, 9), NOW + MINUTE)


@pytest.mark.parametrize(("written", "dated"), [(None, NOW), (NOW - MINUTE, NOW - MINUTE), (NOW + MINUTE, NOW)])
def test_evidence_is_never_newer_than_its_arrival(written, dated):
    """A caller's clock that is ahead must not freeze a memory against everything that is said later."""
    assert ground("x", (1,), None, {1: stored(1, time=written)}, {1: "user"}).at == dated


@pytest.mark.parametrize("fact", ["", "   ", "\n\t"])
def test_a_blank_fact_is_refused(fact):
    """White space is no fact."""
    assert proposed(fact).rejected == BLANK


def test_a_fact_ends_at_eight_kilobytes():
    """The limit counts bytes of UTF-8: 8,192 are taken, one more is refused."""
    assert proposed("é" * 4_096).rejected == ""
    assert proposed("é" * 4_096 + "x").rejected == TOO_LONG


def test_surrounding_space_is_no_part_of_a_fact():
    """A fact is stored as it reads."""
    assert proposed("  I like tea\n").fact == "I like tea"


def test_a_repeated_fact_becomes_one():
    """Case and space do not make another fact; the citations of a repeat and its newer time join the first."""
    first = candidate("I like tea", seqs=(1,), at=NOW)
    again = candidate("i  LIKE tea", seqs=(1, 5), at=NOW + MINUTE)
    kept = reject_repeats([first, candidate("I like milk"), again])
    assert [one.rejected for one in kept] == ["", "", REPEATED]
    assert (kept[0].fact, kept[0].seqs, kept[0].at) == ("I like tea", (1, 5), NOW + MINUTE)


facts = st.lists(st.tuples(st.sampled_from(["a", "A ", "b", "c"]), st.integers(1, 9)), max_size=12)


@given(facts=facts)
def test_repeats_keep_their_places(facts):
    """Each candidate keeps its number, each fact lives once, and no citation is lost."""
    proposed = [candidate(fact, seqs=(seq,), at=NOW + timedelta(seconds=seq)) for fact, seq in facts]
    kept = reject_repeats(proposed)
    alive = [one for one in kept if not one.rejected]
    assert [one.fact for one in kept] == [one.fact for one in proposed]
    assert len(alive) == len({fact.casefold().strip() for fact, _ in facts})
    for one in alive:
        same = [seq for fact, seq in facts if fact.casefold().strip() == one.fact.casefold().strip()]
        assert one.seqs == tuple(sorted(set(same)))
        assert one.at == NOW + timedelta(seconds=max(same))


def test_refused_candidates_stay_refused_for_their_own_reason():
    """A candidate that was refused before is not relabelled a repeat."""
    kept = reject_repeats([candidate("a"), candidate("a", rejected=UNGROUNDED)])
    assert [one.rejected for one in kept] == ["", UNGROUNDED]


@pytest.mark.parametrize(
    ("topics", "asked", "rejected"),
    [
        (("A",), ("A", "B"), ""),
        (("C",), ("A", "B"), OTHER_TOPIC),
        (("C",), (), ""),
        ((), ("A",), ""),
    ],
)
def test_only_topics_that_were_asked_for_go_on(topics, asked, rejected):
    """A fact of another topic is refused; where nobody asks, and for a fact without a topic, every topic is right."""
    assert restrict_to_topics(candidate(topics=topics), asked).rejected == rejected


def test_a_request_to_forget_is_of_every_topic():
    """What is to be forgotten goes on whatever topics are asked for; an earlier refusal keeps its reason."""
    assert restrict_to_topics(candidate("Forget: tea", topics=("C",)), ("A",)).rejected == ""
    assert restrict_to_topics(candidate(topics=("C",), rejected=BLANK), ("A",)).rejected == BLANK


def test_a_topic_of_no_bank_is_dropped():
    """Where any topic will do, a fact loses one that nobody knows, and keeps a managed one."""
    assert restrict_to_topics(candidate(topics=("FOO",)), ()).topics == ()
    assert restrict_to_topics(candidate(topics=("USER_PREFERENCES",)), ()).topics == ("USER_PREFERENCES",)
