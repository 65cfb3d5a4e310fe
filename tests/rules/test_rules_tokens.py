"""Tokens are estimated, never too low for the texts that people write."""

from hypothesis import given
from hypothesis import strategies as st

from streambank.model.event import Event
from streambank.rules.tokens import estimate_tokens, event_tokens


@given(text=st.text(max_size=200), more=st.text(max_size=50))
def test_an_estimate_grows_with_its_text(text: str, more: str) -> None:
    """It is at least 1, and more text never has fewer tokens."""
    assert 1 <= estimate_tokens(text) <= estimate_tokens(text + more)


def test_the_texts_of_all_parts_count() -> None:
    """Parts without a text add nothing; an event without any counts as 1."""
    parts = ({"text": "I keep bees."}, {"inlineData": {"data": "AAAA" * 100}}, {"text": "Since May."})
    assert event_tokens(Event("user", parts)) == estimate_tokens("I keep bees.\nSince May.")
    assert event_tokens(Event("user", ({"functionCall": {"name": "f"}},))) == 1
