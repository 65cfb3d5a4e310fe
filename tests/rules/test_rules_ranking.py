import math
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from streambank.model.metadata import MergeStrategy
from streambank.model.rule import WindowSettings
from streambank.rules import ranking, vectors
from tests.rules.building import MINUTE, NOW, candidate, memory


def at(angle):
    return vectors.pack([math.cos(angle), math.sin(angle)])


angles = st.lists(st.floats(0, math.pi), max_size=12)


@given(angles=angles)
def test_the_nearest_comes_first(angles):
    """Memories are ordered by their distance to the query, ascending, and none is lost."""
    known = [memory(f"m{n}", vector=at(angle)) for n, angle in enumerate(angles)]
    ranked = ranking.rank_by_distance(known, at(0))
    distances = [distance for distance, _ in ranked]
    assert distances == sorted(distances)
    assert {found.id for _, found in ranked} == {one.id for one in known}
    for distance, found in ranked:
        assert math.isclose(distance, 2 * math.sin(angles[int(found.id[1:])] / 2), abs_tol=1e-2)


def test_ties_go_to_the_newer_memory_and_then_to_the_id():
    """Equal distances are ordered the same at every call."""
    known = [memory("b"), memory("a"), memory("c", updated=NOW + MINUTE)]
    assert [found.id for _, found in ranking.rank_by_distance(known, at(0))] == ["c", "a", "b"]


def test_a_memory_without_a_comparable_vector_is_far():
    """No vector, or one of another model, is farther than any opposite; nothing fails."""
    known = [memory("none"), memory("long", vector=vectors.pack([1, 0, 0])), memory("near", vector=at(3))]
    ranked = ranking.rank_by_distance(known, at(0))
    assert ranked[0][1].id == "near"
    assert [distance for distance, _ in ranked[1:]] == [vectors.MAX_DISTANCE, vectors.MAX_DISTANCE]


def test_exact_match_offers_exactly_equal_metadata():
    """Under REQUIRE_EXACT_MATCH a subset, a superset and another value are no match; nothing matches nothing."""
    red, more, none = memory("r", metadata={"a": 1.0}), memory("m", metadata={"a": 1.0, "b": 2.0}), memory("n")
    exact = MergeStrategy.REQUIRE_EXACT_MATCH
    said = WindowSettings(metadata={"a": 1.0}, merge_strategy=exact)
    assert ranking.eligible([red, more, none], said) == [red]
    assert ranking.eligible([red, more, none], WindowSettings(merge_strategy=exact)) == [none]


def test_other_strategies_offer_every_memory():
    """Metadata do not keep memories apart unless the window asks for it."""
    known = [memory("r", metadata={"a": 1.0}), memory("n")]
    assert ranking.eligible(known, WindowSettings(metadata={}, merge_strategy=MergeStrategy.MERGE)) == known
    assert ranking.eligible(known, WindowSettings()) == known


@given(candidates=angles, known=st.lists(st.floats(0, math.pi), max_size=90))
def test_each_candidates_nearest_memories_are_offered(candidates, known):
    """Every candidate's own nearest memory is offered before anybody's farther ones, at most 60, none twice."""
    memories = [memory(f"m{n}", vector=at(angle)) for n, angle in enumerate(known)]
    asked = [candidate(str(n), vector=at(angle)) for n, angle in enumerate(candidates)]
    offered = ranking.nearest_to_candidates(asked, memories)
    names = [found.id for found in offered]
    assert len(names) == len(set(names)) <= 60
    if memories:
        nearest = {ranking.rank_by_distance(memories, one.vector)[0][1].id for one in asked}
        assert set(names[: len(nearest)]) == nearest
    if asked and len(memories) <= 10:
        assert set(names) == {one.id for one in memories}


def test_one_candidate_is_offered_its_ten_nearest():
    """A single candidate does not drag the whole scope into the prompt."""
    memories = [memory(f"m{n}", vector=at(n / 100)) for n in range(30)]
    names = [found.id for found in ranking.nearest_to_candidates([candidate(vector=at(0))], memories)]
    assert names == [f"m{n}" for n in range(10)]


def test_a_refused_candidate_is_offered_nothing():
    """What was refused asks for no memory."""
    assert ranking.nearest_to_candidates([candidate(vector=at(0), rejected="blank")], [memory(vector=at(0))]) == []


def test_a_newer_memory_wins_by_its_change_not_its_creation():
    """The tie is broken by the last visible change."""
    old = memory("old", created=NOW + timedelta(days=1))
    changed = memory("changed", updated=NOW + MINUTE)
    assert [found.id for _, found in ranking.rank_by_distance([old, changed], b"")] == ["changed", "old"]


def test_a_candidate_without_a_vector_goes_by_its_words():
    """Where nothing is embedded, the memory that shares words with a fact is offered first, however old it is."""
    home = memory("home", fact="I live in Ghent")
    others = [memory(f"m{n:02}", fact=f"I like dish {n}", updated=NOW + MINUTE) for n in range(20)]
    offered = ranking.nearest_to_candidates([candidate(fact="I live in Antwerp now")], [*others, home])
    assert offered[0] == home
