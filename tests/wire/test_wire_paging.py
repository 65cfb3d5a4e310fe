import base64
import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.errors import InvalidArgument
from streambank.wire import paging

positions = st.tuples(st.integers(0, 2**53 - 1), st.text(max_size=30))
SHAPE = (int, str)
SECRET = b"the secret of these tests"


def token_of(query, position, secret=SECRET):
    return paging.token(query, position, secret=secret)


def position_of(query, text, shape=SHAPE):
    return paging.position(query, text, shape, secret=SECRET)


def refused(read, *arguments):
    with pytest.raises(InvalidArgument) as error:
        read(*arguments)
    return error.value


@pytest.mark.parametrize(
    ("text", "size"), [(None, 100), ("", 100), ("0", 100), ("1", 1), ("100", 100), ("1000", 1_000)]
)
def test_page_sizes(text, size):
    """1 to 1,000, and 100 where nothing is said."""
    assert paging.page_size(text) == size


@pytest.mark.parametrize("text", ["1001", "-1", "1.5", "ten", "1e2", " 5", "+5", "\u0663", "9" * 5_000])
def test_other_page_sizes_are_refused(text):
    """A page size that is none is refused by its name."""
    assert refused(paging.page_size, text).field == "pageSize"


@given(query=st.text(max_size=30), position=positions)
def test_a_token_leads_back_to_its_position(query, position):
    """A token is url-safe without padding and says where the last page of its own query ended."""
    token = token_of(query, list(position))
    assert position_of(query, token, SHAPE) == list(position)
    assert token.isascii()
    assert not set(token) & set("+/= ")


@given(query=st.text(max_size=30), other=st.text(max_size=30), position=positions)
def test_a_token_belongs_to_one_query(query, other, position):
    """A token of another query is refused, never read as a position in this one."""
    token = token_of(query, list(position))
    if query != other:
        assert refused(position_of, other, token, SHAPE).field == "pageToken"


@given(position=positions, place=st.integers(0), letter=st.sampled_from("ABCxyz019-_"))
def test_a_changed_token_is_refused(position, place, letter):
    """Whatever one letter does to a token, it says what it said before or is refused."""
    token = token_of("q", list(position))
    place %= len(token)
    changed = token[:place] + letter + token[place + 1 :]
    with suppress(InvalidArgument):
        assert position_of("q", changed) == list(position)


@given(position=positions)
def test_a_forged_token_is_refused(position):
    """Who does not know the secret cannot make a token."""
    assert refused(position_of, "q", token_of("q", list(position), b"guessed")).field == "pageToken"


@given(text=st.text(min_size=1, max_size=40))
def test_any_other_text_is_no_token(text):
    """Text that we never wrote is refused by name, whatever its characters."""
    assert refused(position_of, "q", text, SHAPE).field == "pageToken"


@pytest.mark.parametrize("value", [[], {}, 5, "text", None, [1, 2], {"a": 1}])
def test_json_that_is_no_token(value):
    """Valid base64 of valid JSON is not enough."""
    text = base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
    assert refused(position_of, "q", text, SHAPE).field == "pageToken"


@pytest.mark.parametrize("position", [[1], [1, "a", 2], ["a", 1], [True, "a"], [1.0, "a"], [None, "a"]])
def test_a_position_of_another_shape_is_refused(position):
    """A token of the right query with the wrong kind of position is refused."""
    assert refused(position_of, "q", token_of("q", position), SHAPE).field == "pageToken"


@pytest.mark.parametrize("text", [None, ""])
def test_no_token_is_the_first_page(text):
    """Without a token a list begins at its beginning."""
    assert position_of("q", text, SHAPE) is None
