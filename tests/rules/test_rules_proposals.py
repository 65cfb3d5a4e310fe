"""What the first answer of a model means for a candidate, and why the model is asked again."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.model.extraction import FactChange
from streambank.rules import proposals
from streambank.rules.grounding import MAX_FACT_BYTES
from tests.rules.building import candidate, memory

GRAZ = memory("m1", "I live in Graz")
TEA = memory("m2", "I like green tea")


def proposed(fact, change=None, *named, memories=(GRAZ, TEA), read=None, text=""):
    """Return the proposal for one candidate; the model has read all *memories* unless *read* says what it has."""
    known = {one.id: one.fingerprint for one in (memories if read is None else read)}
    about = candidate(fact, change=change, memory_ids=tuple(one.id for one in named), text=text)
    return proposals.propose([about], memories, known)[0]


def test_what_is_safe_is_done_at_once():
    """A new fact that is close to nothing, a repetition and a change of one memory need no second answer."""
    assert proposed("I keep bees", FactChange.NEW).doubts == ()
    assert proposed("I like tea", FactChange.REPEATS, TEA).doubts == ()
    moved = proposed("I live in Wien", FactChange.CHANGES, GRAZ, text="I live in Wien")
    assert (moved.doubts, moved.memories) == ((), (GRAZ,))


def test_a_memory_that_changed_since_it_was_read_is_asked_about():
    """The proposal was made for another text of the memory."""
    earlier = replace(GRAZ, revision=GRAZ.revision + 1)
    assert proposed("I live in Wien", FactChange.CHANGES, GRAZ, text="I live in Wien", read=(earlier, TEA)).doubts == (
        proposals.CHANGED,
    )


def test_a_new_fact_close_to_a_memory_that_was_not_read_is_asked_about():
    """The model could not know of the memory; of one that it has read it says itself what the fact means for it."""
    assert proposed("I live in Wien", FactChange.NEW, read=(TEA,)).doubts == (proposals.CLOSE,)
    assert proposed("I live in Wien", FactChange.NEW).doubts == ()


@pytest.mark.parametrize("change", [FactChange.REPEATS, FactChange.CHANGES])
def test_what_is_close_to_a_fact_about_a_memory_is_not_asked_about(change):
    """Only a new fact may be another one's double: the model has said which memory this one is about."""
    unread = memory("m3", "I live in Wien now")
    about = proposed("I live in Wien", change, GRAZ, memories=(GRAZ, unread), read=(GRAZ,), text="I live in Wien")
    assert (about.change, about.doubts) == (change, ())


def test_two_new_facts_that_are_close_are_asked_about():
    """A first window is compared with itself."""
    both = [
        candidate("My rent is 900 euros", change=FactChange.NEW),
        candidate("My rent is 950 euros", change=FactChange.NEW),
    ]
    assert [one.doubts for one in proposals.propose(both, (), {})] == [(proposals.CLOSE,), (proposals.CLOSE,)]


@pytest.mark.parametrize(
    "other",
    [
        candidate("I live in Graz now", change=FactChange.REPEATS, memory_ids=("m1",)),
        candidate("I live in Graz now", change=FactChange.CHANGES, memory_ids=("m1",)),
        candidate("Forget: I live in Graz"),
        candidate("I live in Graz", change=FactChange.FORGETS),
    ],
)
def test_a_new_fact_that_is_close_to_a_fact_about_a_memory_is_not_asked_about(other):
    """Both are no doubles: the other one is no new fact, or a request to forget."""
    new = candidate("I live in Wien", change=FactChange.NEW)
    proposed_ = proposals.propose([new, other], (GRAZ,), {"m1": GRAZ.fingerprint})
    assert proposed_[0].doubts == ()


def test_a_stand_in_that_says_no_change_is_asked_again():
    """Only where there are memories."""
    assert proposed("I keep bees").doubts == (proposals.UNDECIDED,)
    assert proposed("I keep bees", memories=()).doubts == ()


@pytest.mark.parametrize("change", [None, *(one for one in FactChange if one is not FactChange.FORGETS)])
def test_an_equal_text_is_a_repetition_whatever_the_model_says(change):
    """Code sees what is equal."""
    same = proposed("i live in GRAZ.", change, TEA)
    assert (same.change, same.memories, same.doubts) == (FactChange.REPEATS, (GRAZ,), ())


def test_a_text_that_is_too_long_makes_a_memory_of_the_fact():
    """The memory stays as it is."""
    long = proposed("I moved", FactChange.CHANGES, GRAZ, text="x" * (MAX_FACT_BYTES + 1))
    assert (long.change, long.memories) == (FactChange.NEW, ())


def test_a_change_without_a_text_has_the_fact_as_its_text():
    """A model may name the memory alone."""
    moved = proposed("I live in Wien", FactChange.CHANGES, GRAZ)
    assert (moved.change, moved.text, moved.doubts) == (FactChange.CHANGES, "I live in Wien", ())


def test_a_change_of_another_text_is_asked_about():
    """A text without a word of the memory may be meant for another one."""
    assert proposals.OTHER_WORDS in proposed("x", FactChange.CHANGES, GRAZ, text="Bees are kept").doubts


def test_several_memories_are_asked_about():
    """Whatever is to become of them."""
    assert proposals.SEVERAL in proposed("I changed", FactChange.CHANGES, GRAZ, TEA, text="I live in Graz, tea").doubts


@pytest.mark.parametrize(
    ("fact", "text", "doubts"),
    [
        ("I live in Graz", "", ()),
        ("I live in Monaco", "", (proposals.FACT_DOUBT,)),
        ("I live in Graz", "I live in Monaco", (proposals.TEXT_DOUBT,)),
        ("Forget: my flat in Graz", "", ()),
        ("I pay 950 euros", "I pay 960 euros", (proposals.FACT_DOUBT, proposals.TEXT_DOUBT)),
    ],
)
def test_words_that_nobody_said_raise_a_doubt(fact, text, doubts):
    """A name or a number that no known text has, in the fact or in its text."""
    assert proposals.doubts_of_words(candidate(fact, text=text), ["we live in Graz"]) == doubts


@given(st.sampled_from([None, *FactChange]), st.sets(st.sampled_from(["m1", "m2", "gone"])), st.text(max_size=20))
def test_nothing_is_named_that_is_not_there(change, ids, text):
    """A proposal names memories that exist; a request to forget is always asked about."""
    about = candidate("I keep bees", change=change, memory_ids=tuple(ids), text=text)
    [one] = proposals.propose([about], (GRAZ, TEA), {})
    assert {found.id for found in one.memories} <= {"m1", "m2"}
    assert (proposals.FORGETS in one.doubts) is (change is FactChange.FORGETS)
