"""How much of a reply a list may take."""

from hypothesis import given
from hypothesis import strategies as st

from streambank.wire.page_room import body_bytes, first


@given(items=st.lists(st.text(max_size=30), max_size=20), most_bytes=st.integers(0, 400))
def test_a_list_takes_the_first_items_that_have_room(items, most_bytes):
    """The result is a start of the list, within the bytes or a single item, and the next item would not fit."""
    kept = first(items, most_bytes)
    assert kept == items[: len(kept)]
    sizes = [body_bytes(item) for item in items]
    assert len(kept) <= 1 or sum(sizes[: len(kept)]) <= most_bytes
    if len(kept) < len(items):
        assert sum(sizes[: len(kept) + 1]) > most_bytes
