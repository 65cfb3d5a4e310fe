"""Hits on long turns do not gather in one place: a long turn is found by its own words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.rules import search_ranking
from streambank.rules.search_ranking import NEIGHBOUR_WEIGHT, SHORT_TURN_WORDS
from tests.rules import long_turns

lengths = st.integers(0, 1_000)


@given(shorter=lengths, longer=lengths)
def test_the_longer_a_turn_is_the_less_its_neighbours_weigh(shorter, longer):
    """The weight never rises with the length, is whole for short turns, and is above zero for all."""
    shorter, longer = sorted([shorter, longer])
    weights = [search_ranking.neighbour_weight(length) for length in (shorter, longer)]
    assert NEIGHBOUR_WEIGHT >= weights[0] >= weights[1] > 0
    assert (weights[0] > weights[1]) is (longer > SHORT_TURN_WORDS and longer > shorter)
    assert (weights[0] == NEIGHBOUR_WEIGHT) is (shorter <= SHORT_TURN_WORDS)


@given(length=st.floats(SHORT_TURN_WORDS, 10_000))
def test_words_of_a_neighbour_that_is_as_long_weigh_no_more_than_those_of_a_short_turn(length):
    """A neighbour as long as a long turn adds to it what one of 24 words adds to a turn of 24 words."""
    added = search_ranking.neighbour_weight(length) * length
    assert added == pytest.approx(NEIGHBOUR_WEIGHT * SHORT_TURN_WORDS)


@pytest.mark.parametrize("words_each", [60, 90])
def test_hits_on_long_turns_touch_as_many_sessions_as_without_neighbours(words_each):
    """Neighbours at half weight would cost a sixth of the sessions of five hits; the weight that shrinks costs none."""
    events = long_turns.sessions(words_each)
    touched = long_turns.sessions_touched(long_turns.entries(events))
    assert touched == long_turns.sessions_touched(long_turns.entries_at(0, events)) == 5
    assert long_turns.sessions_touched(long_turns.entries_at(NEIGHBOUR_WEIGHT, events)) < 4.2


def test_short_turns_are_found_by_their_neighbours_as_much_as_ever():
    """A turn of up to 24 words has half of its neighbours' words; a longer one has less."""
    events = long_turns.sessions(SHORT_TURN_WORDS // 2)
    halved = {one.key: one.words for one in long_turns.entries_at(NEIGHBOUR_WEIGHT, events)}
    lengths_of_own = {one.key: sum(one.words.values()) for one in long_turns.entries_at(0, events)}
    for one in long_turns.entries(events):
        assert (one.words == halved[one.key]) is (lengths_of_own[one.key] <= SHORT_TURN_WORDS)
