from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.model.memory import Citation, Evidence, Memory
from streambank.model.search import RawEvent
from streambank.rules import search_ranking, vectors
from streambank.rules.search_ranking import NEAR_TIE, EmbeddedQuery, SearchEntry
from tests.rules.building import MINUTE, NOW, STREAM, memory, stored

EAST, NORTH = vectors.pack([1, 0]), vectors.pack([0, 1])
NORTH_EAST = vectors.pack([1, 1])
SID = STREAM.sid


def raw(seq, text="hello", **more):
    return RawEvent(STREAM, 1, stored(seq, text, **more), is_pending=False)


def citing(*seqs):
    return (Evidence(SID, 1, seqs),)


def search(text, memories=(), events=(), *, vector=EAST, cited=None, own=()):
    """Return the ids of memories and the numbers of events, best first."""
    query = EmbeddedQuery(text, vector)
    entries = search_ranking.memory_entries(query, memories, cited or {})
    entries += search_ranking.event_entries(query, events, own, entries)
    return search_ranking.rank(text, entries)


def names(hits):
    return [what.id if isinstance(what, Memory) else what.event.seq for _, what in hits]


facts = st.lists(st.sampled_from(["I like tea", "I live in Graz", "Tea from Graz", "", "茶"]), max_size=8)
directions = st.sampled_from([EAST, NORTH, NORTH_EAST, b"", vectors.pack([1, 2, 3])])


@given(
    known=st.lists(st.tuples(facts.map(" ".join), directions), max_size=8), query=facts.map(" ".join), data=st.data()
)
def test_order_is_that_of_distance_and_of_nothing_else(known, query, data):
    """Distances ascend between 0 and 2, nothing is lost, and the order of what is searched does not matter."""
    memories = [memory(f"m{n}", fact, vector=vector) for n, (fact, vector) in enumerate(known)]
    hits = search(query, memories)
    distances = [distance for distance, _ in hits]
    assert distances == sorted(distances)
    assert all(0 <= distance <= vectors.MAX_DISTANCE for distance in distances)
    assert set(names(hits)) == {one.id for one in memories}
    mixed = data.draw(st.permutations(memories))
    assert names(search(query, mixed)) == names(hits)


def test_a_rare_word_finds_what_meaning_does_not():
    """A memory with the word of the query is nearer than one whose vector is nearer."""
    known = [memory("word", "My cat is called Zwiebel", vector=NORTH), memory("near", "I like pets", vector=NORTH_EAST)]
    assert names(search("Zwiebel", known)) == ["word", "near"]


def test_without_a_common_word_meaning_alone_decides():
    """The distance is then that of the vectors themselves."""
    known = [memory("far", vector=NORTH), memory("near", vector=NORTH_EAST)]
    [(near, _), (far, _)] = hits = search("Unrelated", known)
    assert names(hits) == ["near", "far"]
    assert (near, far) == (pytest.approx(0.765, abs=0.01), pytest.approx(2**0.5, abs=0.01))


def test_a_cited_turn_finds_its_memory():
    """What was said finds the memory that was made of it, though the fact words it otherwise."""
    known = [memory("quoting", "I have a pet", vector=NORTH), memory("other", "I have a car", vector=NORTH)]
    quoted = {"quoting": [Citation(SID, 1, 0, "[2026-03-01] our iguana is ill", NOW + MINUTE)]}
    assert names(search("iguana", known, cited=quoted))[0] == "quoting"
    assert search("iguana", known)[0][0] == search("iguana", known)[1][0]


def test_ties_go_to_the_newer_and_then_to_the_id():
    """Equal distances are ordered the same at every call."""
    known = [memory("b"), memory("a"), memory("c", updated=NOW + MINUTE)]
    assert names(search("anything", known)) == ["c", "a", "b"]
    events = [raw(1), raw(2, time=NOW - timedelta(days=1)), raw(3)]
    assert names(search("anything", events=events)) == [1, 3, 2]


def entry(number, similarity):
    """Return an entry that is the newer one of two if its number is larger."""
    item = memory(f"m{number:03}", updated=NOW + number * MINUTE)
    return SearchEntry(item, {}, similarity)


def ordered(scores):
    """Return score and number of the entries with *scores* in their order; the number is the place in *scores*."""
    by_score = search_ranking.order_by_score((score, entry(number, score)) for number, score in enumerate(scores))
    return [(score, int(one.item.id[1:])) for score, one in by_score]


# Many near ties: scores lie in less than five of them.
close_scores = st.lists(st.floats(0.5, 0.5 + 4 * NEAR_TIE), max_size=12)


@given(score=st.floats(-1, 1 - NEAR_TIE), less=st.floats(0, 2 * NEAR_TIE))
def test_the_newer_of_a_near_tie_comes_first(score, less):
    """Of two hits the older one is first only if its score is higher by the margin, and each keeps its score then."""
    if score - (score - less) < NEAR_TIE:
        assert ordered([score, score - less]) == [(score, 1), (score, 0)]
    else:
        assert ordered([score, score - less]) == [(score, 0), (score - less, 1)]


@given(scores=close_scores)
def test_a_near_tie_moves_no_hit_far(scores):
    """Nothing is lost, scores descend, rise by less than the margin, and no hit is before one that is better by it."""
    order = ordered(scores)
    assert sorted(number for _, number in order) == list(range(len(scores)))
    assert [score for score, _ in order] == sorted((score for score, _ in order), reverse=True)
    assert all(0 <= score - scores[number] < NEAR_TIE for score, number in order)
    own = [scores[number] for _, number in order]
    assert all(max(own[place:]) - one < NEAR_TIE for place, one in enumerate(own))


@given(scores=close_scores, data=st.data())
def test_near_ties_do_not_depend_on_the_order_of_what_is_ranked(scores, data):
    """Any permutation of the entries is ranked the same."""
    scored = [(score, entry(number, score)) for number, score in enumerate(scores)]
    assert search_ranking.order_by_score(data.draw(st.permutations(scored))) == search_ranking.order_by_score(scored)


def test_of_two_events_that_are_nearly_as_near_the_newer_comes_first():
    """What a user said again in other words is shown before what was said first, though that is a little nearer."""
    apart = vectors.pack([1, 0.05])
    events = [raw(1, "coffee", time=NOW - timedelta(days=9)), raw(5, "coffee", time=NOW)]
    assert names(search("unrelated", events=events, own=[EAST, apart])) == [5, 1]
    assert names(search("unrelated", events=events, own=[EAST, NORTH_EAST])) == [1, 5]


def test_an_event_is_found_by_what_stands_beside_it():
    """An answer without the word of its question is found by the question before it, after that itself."""
    events = [raw(1, "Where is the iguana?"), raw(2, "Under the table"), raw(5, "Nothing else")]
    assert names(search("iguana", events=events)) == [1, 2, 5]


def test_an_event_borrows_the_meaning_of_the_nearest_memory_that_cites_it():
    """Without a vector of its own, an event is as near as what was made of it."""
    known = [
        memory("m", "x", vector=NORTH, evidence=citing(1)),
        memory("n", "x", vector=NORTH_EAST, evidence=citing(1)),
    ]
    hits = search("unrelated", known, [raw(1), raw(2)])
    assert names(hits)[:2] == ["n", 1]
    assert hits[0][0] == hits[1][0]
    assert hits[-1][0] == vectors.MAX_DISTANCE


def test_an_events_own_vector_comes_first():
    """Where an event was embedded, nothing is borrowed."""
    known = [memory("m", "x", vector=NORTH, evidence=citing(1))]
    assert names(search("unrelated", known, [raw(1)], own=[EAST])) == [1, "m"]


def test_events_without_text_are_not_found():
    """There is nothing to find them by."""
    assert search("hello", events=[raw(1, " "), raw(2)])[0][1].event.seq == 2
    assert len(search("hello", events=[raw(1, " "), raw(2)])) == 1


def test_an_event_is_not_repeated_beside_a_better_memory_that_cites_it():
    """A memory stands for its turns; a turn that is better than its memory stays."""
    mine = memory("m", evidence=citing(2, 3))
    hits = [(0.1, raw(2)), (0.2, mine), (0.3, raw(3)), (0.4, raw(4))]
    assert names(search_ranking.drop_cited_events(hits)) == [2, "m", 4]
