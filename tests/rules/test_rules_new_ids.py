"""The ids of new memories."""

from dataclasses import replace
from itertools import count, islice

from hypothesis import given
from hypothesis import strategies as st

from streambank.rules.new_ids import NewIds
from tests.rules.building import STREAM, window

HERE = window()
OTHERS = [
    window(number=2),
    replace(HERE, stream=replace(STREAM, bank="b2")),
    replace(HERE, stream=replace(STREAM, sid="s2")),
]


@given(number=st.integers(0, 999), choices=st.integers(0, 9))
def test_the_id_of_a_memory_is_the_same_at_every_run(number, choices):
    """Whenever a step runs, it names the same memory, also where ids are taken; nobody else's window names it."""
    taken = set(islice(choices_of(NewIds(b"s", HERE), number), choices))
    made = NewIds(b"s", HERE, taken).of(number)
    assert made == NewIds(b"s", HERE, taken).of(number) == NewIds(b"s", HERE).of(number, taken)
    elsewhere = [NewIds(b"s", other, taken).of(number) for other in OTHERS]
    assert (
        len({made, *taken, *elsewhere, NewIds(b"s", HERE).of(number + 1), NewIds(b"t", HERE).of(number)}) == choices + 6
    )


def choices_of(new_ids, number):
    taken = set()
    for _ in count():
        taken.add(chosen := replace(new_ids, others=taken).of(number))
        yield chosen
