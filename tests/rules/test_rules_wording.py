"""What code can tell of two texts by their words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.rules import wording

TEXTS = st.lists(
    st.sampled_from(["I", "live", "in", "Graz", "Wien", "900", "euros", "nurse", "two", "cats"]), max_size=8
)


@pytest.mark.parametrize(
    ("text", "known", "missing"),
    [
        ("I own three yachts in Monaco", ["I live in Graz"], ("Monaco",)),
        ("I live in Graz", ["ich wohne in graz"], ()),
        ("I met Anna there", ["ich traf annas vater"], ()),
        ("I live at Hauptstrasse 5", ["wir wohnen Hauptstraße 5"], ()),
        ("My rent is 950 euros", ["my rent is 900 euros"], ("950",)),
        ("I moved on 2026-03-02", ["I moved yesterday"], ()),
        ("I moved on 2 March 2026 with 950 boxes", ["I moved yesterday"], ("950",)),
        ("On Monday I start at Siemens", ["tomorrow I start at siemens"], ()),
        ("I have a dog. Rex is his name", ["a dog"], ()),
        ("Mein Hund heißt Rex", ["mein hund heißt"], ("Rex",)),
        ("我住在维也纳", ["我住在格拉茨"], ()),
    ],
)
def test_names_and_numbers_that_nobody_said_are_noticed(text, known, missing):
    """A name in a sentence and a number must be known, at least by four letters; dates may be worked out."""
    assert wording.unsupported(text, known) == missing


@given(TEXTS.map(" ".join), st.lists(TEXTS.map(" ".join), max_size=3))
def test_what_is_known_is_supported(text, others):
    """Nothing of a text is missing where the text itself is known, whatever else is."""
    assert wording.unsupported(text, [*others, text]) == ()


@given(TEXTS, TEXTS)
def test_a_longer_text_keeps_what_it_grew_from(words, more):
    """A text keeps another one if it has all its words, in any order; an empty text keeps only what has no content."""
    assert wording.keeps(" ".join([*more, *words]), " ".join(words))
    assert wording.keeps("", " ".join(words)) is not bool(wording.content_words(" ".join(words)))


@pytest.mark.parametrize("number", ["900", "950"])
def test_a_text_that_lost_a_number_keeps_nothing(number):
    """A name, a number or a content word that is gone is noticed."""
    assert not wording.keeps("I pay rent in Graz", f"I pay {number} rent in Graz")
    assert not wording.keeps("I live in Graz and have two cats", "I live in Graz and am a nurse")


@given(TEXTS.filter(bool).map(" ".join))
def test_equal_texts_are_equal_whatever_their_form(text):
    """Case, spaces and the final stop do not matter; a further word does."""
    assert wording.normalized(f"  {text.upper()} . ") == wording.normalized(text)
    assert wording.normalized(f"{text} x") != wording.normalized(text)


def test_half_of_the_words_make_a_text_close():
    """Two rents are close, and two towns; a hobby is close to neither."""
    rent = "My rent is 900 euros a month"
    assert wording.is_half_shared(rent, "My rent is 950 euros a month now")
    assert not wording.is_half_shared(rent, "I love hiking")
    assert not wording.is_half_shared("", "")


@pytest.mark.parametrize(
    ("fact", "other", "is_shared"),
    [
        ("cats dogs", "cats", True),
        ("cats dogs bees", "cats", False),
        ("cats dogs bees tea", "cats dogs", True),
        ("cats dogs bees tea rent", "cats dogs", False),
        ("cats", "cats dogs bees tea", True),
    ],
)
def test_half_is_counted_of_the_words_of_the_fact(fact, other, is_shared):
    """Exactly half of the fact's words is enough, less is not; how long the other text is does not matter."""
    assert wording.is_half_shared(fact, other) is is_shared
