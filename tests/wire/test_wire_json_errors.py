"""A body that is no JSON: the refusal says where it stops being JSON."""

from __future__ import annotations

import base64
import json
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from streambank.errors import InvalidArgument
from streambank.wire import reader

PLACE = re.compile(r"line (\d+), column (\d+)$")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def problem(raw: bytes) -> str:
    with pytest.raises(InvalidArgument) as error:
        reader.json_body(base64.b64encode(raw).decode(), is_base64=True)
    return error.value.problem


def place(raw: bytes) -> tuple[int, int]:
    match = PLACE.search(problem(raw))
    assert match, problem(raw)
    return int(match[1]), int(match[2])


@pytest.mark.parametrize(
    ("raw", "line", "column"),
    [
        (b'{"scope": {"a": "b"},\n "forceFlush": tru}', 2, 16),
        (b'{"a": 1}\n\n x', 3, 2),
        (b"{'a': 1}", 1, 2),
        ('{"a": "\u00fc\u00fc",\n"b" 1}'.encode(), 2, 5),
        (b'{"a":\n"\xff"}', 2, 2),
        (b'\xef\xbb\xbf{"a": 1}', 1, 1),
        (b'{"NaN": "NaN",\r\n  "b": NaN}', 2, 8),
        (b'["\\"Infinity", -Infinity]', 1, 16),
        (b"[1e9,\n 2.5, 1e999]", 2, 7),
        (b"[1, " + b"9" * 5_000 + b"]", 1, 5),
        (b'{"a": "b', 1, 7),
    ],
)
def test_a_refusal_says_line_and_column(raw, line, column):
    """Both are counted from 1, in characters; texts that only look like numbers are no places."""
    assert place(raw) == (line, column)


def test_a_body_without_a_place_is_refused_too():
    """A body that is empty, or nested out of all proportion, has no place to name."""
    assert problem(b" \n").endswith("it is empty")
    assert problem(b"[" * 100_000).endswith("it is nested too deeply")


@given(
    value=VALUES,
    indent=st.none() | st.integers(0, 2),
    cut=st.integers(0),
    broken=st.sampled_from(["", "]", "\n@", "\x00"]),
)
def test_a_broken_text_is_told_a_place_within_it(value, indent, cut, broken):
    """Whatever is broken wherever, the line and the column are in the text, or right behind it."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    text = text[: cut % (len(text) + 1)] + broken
    try:
        json.loads(text)
    except ValueError:
        pass
    else:
        assume(False)
    assume(text.strip())
    line, column = place(text.encode(errors="surrogatepass"))
    lines = text.split("\n")
    assert 1 <= line <= len(lines)
    assert 1 <= column <= len(lines[line - 1]) + 1
