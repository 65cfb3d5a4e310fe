"""How a search explains its ranking."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from streambank.model.memory import Citation
from streambank.rules import search_ranking, vectors
from streambank.rules.search_explanation import common_words, explain
from streambank.rules.search_ranking import EmbeddedQuery
from tests.rules.building import NOW, memory

EAST = vectors.pack([1, 0])
texts = st.lists(st.sampled_from(["I like tea", "I live in Graz", "Teas from Graz", "", "茶"]), max_size=4).map(
    " ".join
)
directions = st.sampled_from([EAST, vectors.pack([1, 1]), b"", vectors.pack([1, 2, 3])])


@given(known=st.lists(st.tuples(texts, directions), max_size=6), query=texts, unread=st.integers(0, 9))
def test_an_explanation_adds_up_to_the_distance_of_its_hit(known, query, unread):
    """Of each hit the parts are explained, its distance is that of their score or a near tie, and its words count."""
    memories = [memory(f"m{n}", fact, vector=vector) for n, (fact, vector) in enumerate(known)]
    entries = search_ranking.memory_entries(EmbeddedQuery(query, EAST), memories, {})
    explained = explain(query, entries, {}, unread)
    for distance, item in search_ranking.rank(query, entries, unread):
        one = explained[search_ranking.item_key(item)]
        assert vectors.distance(one.score + search_ranking.NEAR_TIE) <= distance <= vectors.distance(one.score)
        assert bool(one.words) == bool(one.share)


def test_the_turns_with_most_words_of_the_query_are_quoted():
    """Of the turns that a memory cites, those that match best are quoted; where none matches, none is."""
    one = memory("m", "Has an allergy", vector=EAST)
    cited = {
        "m": [Citation("s", number, 0, text, NOW) for number, text in enumerate(["Hello!", "Peanuts hurt me."], 1)]
    }

    def quote(query):
        entries = search_ranking.memory_entries(EmbeddedQuery(query, EAST), [one], cited)
        return explain(query, entries, cited)["m"].quote

    found = quote("Which peanut?")
    assert (found.window, found.text) == (2, "Peanuts hurt me.")
    assert quote("allergy") is None


def test_words_match_in_any_form_and_in_the_order_of_the_query():
    """A word of the query is named if the text has another form of it; stop words are not."""
    assert common_words("Do bees like gardening?", {"garden": 1, "bee": 1, "like": 1}) == ("bees", "like", "gardening")
