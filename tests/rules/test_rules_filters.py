import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.errors import InvalidArgument
from streambank.rules.filters import listed_scope


@given(
    scope=st.dictionaries(st.text(max_size=9), st.text(max_size=9), min_size=1, max_size=5),
    pad=st.sampled_from(["", " "]),
)
def test_a_scope_filter_names_its_scope(scope, pad):
    """Any scope that is written as a JSON string comes back, quotes, backslashes and line breaks included."""
    text = f"{pad}scope{pad}={pad}{json.dumps(json.dumps(scope))}{pad}"
    assert listed_scope(text) == scope


@pytest.mark.parametrize("text", [None, "", "   "])
def test_no_filter_is_no_filter(text):
    """An absent or blank filter lists everything."""
    assert listed_scope(text) is None


@pytest.mark.parametrize(
    "text",
    [
        'fact="x"',
        'scope="{\\"a\\": 1}"',
        'scope="[]"',
        'scope="{"',
        'scope="null"',
        "scope={}",
        'scope="{\\"a\\": \\"b\\"}" AND fact="x"',
        'NOT scope="{\\"a\\": \\"b\\"}"',
        'scope!="{\\"a\\": \\"b\\"}"',
        'scope="{\\"a\\": null}"',
    ],
)
def test_what_is_not_understood_is_refused(text):
    """A filter is never ignored: whoever filters would otherwise see, or delete, everything."""
    with pytest.raises(InvalidArgument) as refused:
        listed_scope(text)
    assert refused.value.field == "filter"
