import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.rules import bm25

WORDS = ["tea", "teas", "drink", "drinking", "Graz", "the", "is", "cat", "茶が好き", "чай", "2023"]
texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


def shares(query, *told):
    return bm25.shares(query, [bm25.count_words(text) for text in told])


@given(query=texts, told=st.lists(texts, max_size=8))
def test_shares_are_between_nothing_and_all(query, told):
    """A text holds between nothing and all of a query; where none holds anything there are no shares."""
    found = shares(query, *told)
    if found is None:
        common = {bm25.stem(word) for word in bm25.count_words(query)}
        assert not any(common & {bm25.stem(word) for word in bm25.count_words(text)} for text in told)
    else:
        assert len(found) == len(told)
        assert max(found) > 0
        assert all(0 <= share <= 1 for share in found)


@given(query=texts, told=st.lists(texts, max_size=8), chance=st.randoms())
def test_shares_do_not_depend_on_the_order(query, told, chance):
    """A text has the same share wherever it stands."""
    mixed = chance.sample(range(len(told)), len(told))
    found, again = shares(query, *told), shares(query, *[told[place] for place in mixed])
    assert again == (found and pytest.approx([found[place] for place in mixed]))


def test_a_word_is_found_in_all_its_forms():
    """Plural, tense and possessive are one stem; upper case and width are one letter."""
    assert all(shares("the cat's drinks", "two cats", "he is drinking", "ＣＡＴ"))


def test_a_rare_word_weighs_more():
    """Of two words of a query, the text with the rarer one is nearer."""
    common, rare, *_ = shares("tea Rumpelstiltskin", "I like tea", "Rumpelstiltskin was here", "tea", "tea", "more tea")
    assert rare > common


def test_unread_texts_have_no_word_of_the_query():
    """Texts that are counted but not read weigh as texts with other words do."""
    read, others = [{"tea": 1, "rain": 1}, {"graz": 1, "tea": 1}], [{"snow": 1, "hail": 1}] * 3
    assert bm25.shares("tea in Graz", read, len(others)) == (bm25.shares("tea in Graz", [*read, *others]) or [])[:2]


def test_what_nobody_said_is_answered_less_surely():
    """A query of which half is found nowhere has smaller shares."""
    [whole, _], [half, _] = shares("tea", "tea", "rain"), shares("tea zeppelin", "tea", "rain")
    assert half < whole


def test_words_that_say_nothing_find_nothing():
    """A query of small words alone has no lexical part."""
    assert shares("what is it that you do?", "what is it that you do?") is None
    assert shares("tea") is None
    assert shares("", "tea") is None


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("お茶", "私はお茶が好きです"),
        ("北京", "我住在北京市"),
        ("กาแฟ", "ฉันชอบกาแฟมาก"),
        ("हिन्दी", "मैं हिन्दी बोलता हूँ"),
        ("кофе", "Я люблю кофе"),
        ("قهوة", "أحب قهوة الصباح"),
        ("καφέ", "Πίνω καφέ"),
        ("STRASSE", "in der Straße"),
        ("한국어", "저는 한국어 공부해요"),
    ],
)
def test_every_script_has_words(query, text):
    """A word is found in a text of its language, with spaces between words or without."""
    found = shares(query, text, "nothing of the kind")
    assert found[0] > found[1] == 0


def test_marks_do_not_break_a_word():
    """Vowel signs belong to the word that they stand in."""
    assert set(bm25.count_words("हिन्दी")) == {"हिन्दी"}


@given(word=st.text(string.ascii_lowercase, min_size=1, max_size=14))
def test_a_stem_begins_as_its_word_does(word):
    """No English stem has another first letter than its word: others need not be stemmed to be told apart."""
    assert bm25.stem(word)[:1] == word[0]


@given(word=st.text(max_size=6).filter(lambda word: not word.isascii()))
def test_other_scripts_are_not_stemmed(word):
    """The English stemmer touches English letters only."""
    assert bm25.stem(word) == word


@given(text=st.text())
def test_any_text_has_words_without_fail(text):
    """No character breaks it, and every word is something."""
    assert all(word and count > 0 for word, count in bm25.count_words(text).items())


def test_neighbours_count_a_share():
    """A turn has its own words whole and its neighbours' in part."""
    together = bm25.add_weighted({"tea": 1}, (0.5, {"tea": 2, "rain": 1}))
    assert together == {"tea": 2, "rain": 0.5}
