from hypothesis import given
from hypothesis import strategies as st

from streambank.rules.score_fusion import LOWEST_SCORE, fuse

parts = st.floats(0, 1)
cosines = st.floats(-1, 1)


@given(share=st.none() | parts, similarity=st.none() | cosines, words=parts)
def test_a_score_keeps_to_its_bounds(share, similarity, words):
    """Whatever is known, the score lies between -1 and 1."""
    assert LOWEST_SCORE <= fuse(share, similarity, words=words) <= 1 + 1e-12


@given(share=parts, more=parts, similarity=cosines, nearer=cosines)
def test_neither_part_can_hurt(share, more, similarity, nearer):
    """More of the words, or a nearer meaning, never lowers the score."""
    lower = fuse(min(share, more), min(similarity, nearer))
    assert lower <= fuse(max(share, more), max(similarity, nearer))


@given(share=parts, similarity=cosines)
def test_an_unknown_part_leaves_its_weight_to_the_other(share, similarity):
    """Without a vector words decide, without a word meaning does, and without both nothing is nearer."""
    assert fuse(share, None) == share
    assert fuse(None, similarity) == similarity
    assert fuse(None, None) == LOWEST_SCORE
