"""What is reserved before a model's call: never less than the call can cost."""

from hypothesis import given
from hypothesis import strategies as st

from streambank.rules.reservations import most_tokens
from streambank.rules.tokens import estimate_tokens


@given(request=st.text(max_size=200), output_tokens=st.integers(0, 10_000))
def test_a_call_and_its_repeat_are_reserved(request, output_tokens):
    """The request is sent twice, once with the first answer; two answers are billed, and the last is embedded."""
    prompt = 4_500 + estimate_tokens(repr(request))
    assert most_tokens(request, output_tokens) == 2 * prompt + 4 * output_tokens
