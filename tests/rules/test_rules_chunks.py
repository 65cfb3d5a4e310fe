"""A window longer than a call's budget is read in pieces: nothing left out, nothing doubled, order kept."""

from datetime import UTC, datetime, timedelta
from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from streambank.model.turn import Turn
from streambank.rules.chunks import halve_turns, split_turns, turn_tokens

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
BUDGET = 1_000
texts = st.one_of(st.text(min_size=1, max_size=40), st.integers(1, 9_000).map(lambda size: "wörd " * (size // 5) + "x"))


@st.composite
def turns(draw):
    said = draw(st.lists(texts, min_size=1, max_size=12))
    context = draw(st.integers(0, len(said) - 1))
    return [
        Turn(number, "user", text, START + timedelta(minutes=number), context=number <= context)
        for number, text in enumerate(said, 1)
    ]


def own(runs):
    """Return number and whole text of the turns that are not context, in the order of the runs."""
    parts = [(turn.number, turn.text) for run in runs for turn in run if not turn.context]
    return [(number, "".join(text for _, text in run)) for number, run in groupby(parts, key=lambda part: part[0])]


@given(turns())
def test_every_turn_is_read_once_and_in_order(window):
    """What the pieces hold, parts joined, is what was said; what is context is no piece's own."""
    assert own(split_turns(window, BUDGET)) == [(turn.number, turn.text) for turn in window if not turn.context]


@given(turns())
def test_no_piece_is_over_the_budget(window):
    """A piece costs no more than one call may read, its context included."""
    assert all(sum(map(turn_tokens, run)) <= BUDGET for run in split_turns(window, BUDGET))


@given(turns())
def test_a_window_within_the_budget_is_one_piece(window):
    """Nothing is split, and no context dropped, that one call has room for."""
    assert split_turns(window, sum(map(turn_tokens, window))) == [tuple(window)]


def test_a_piece_begins_with_the_end_of_the_one_before():
    """The last six turns go before the next piece as context, so that an answer meets its question."""
    window = [Turn(number, "user", "word " * 20, START) for number in range(1, 30)]
    first, second, *_ = split_turns(window, BUDGET)
    context = [turn.number for turn in second if turn.context]
    assert context == [turn.number for turn in first][-len(context) :]
    assert 1 < len(context) <= 6


@given(turns())
def test_halves_hold_the_whole(window):
    """Both halves together hold each turn once, each is smaller, and halving comes to an end."""
    waiting, ends = [tuple(window)], []
    while waiting:
        piece = waiting.pop(0)
        parts = halve_turns(piece)
        assert not parts or len(parts) == 2
        assert not parts or own(parts) == own([piece])
        ends += [] if parts else [piece]
        waiting = [*parts, *waiting]
    assert own(ends) == own([window])
    assert all(sum(not turn.context for turn in piece) == 1 for piece in ends)
