import contextlib
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streambank.errors import InvalidArgument
from streambank.rules.filtering import Kind, grammar, parse, syntax
from streambank.rules.filtering.syntax import And, Comparison, Not, Op, Or, Word

FIELDS = {"a": Kind.TEXT, "b": Kind.NUMBER, "c": Kind.TEXT_MAP, "d": Kind.TIMESTAMP, "e": Kind.LIST, "f": Kind.METADATA}

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
bare = st.from_regex(grammar.WORD, fullmatch=True).filter(lambda text: len(text) < 12)
words = st.one_of(
    texts.map(Word),
    st.builds(Word, bare, st.just(False)),
    st.just(Word("*", quoted=False)),
)
names = st.from_regex(r"(?!(AND|OR|NOT)\Z)[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True)
paths = st.builds(lambda name, keys: (name, *keys), names, st.lists(texts, max_size=2))
comparisons = st.builds(Comparison, paths, st.sampled_from(Op), words)


def flattened(kind):
    def build(parts):
        return kind(tuple(one for part in parts for one in (part.parts if isinstance(part, kind) else (part,))))

    return build


def trees(leaves):
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(Not, inner),
            st.lists(inner, min_size=2, max_size=3).map(flattened(And)),
            st.lists(inner, min_size=2, max_size=3).map(flattened(Or)),
        ),
        max_leaves=8,
    )


@given(tree=trees(comparisons))
@settings(max_examples=100)
def test_a_written_tree_reads_as_itself(tree):
    """Writing and reading lose nothing: keywords as keys, quotes, escapes and precedence included."""
    assert syntax.parse_tree(syntax.write(tree)) == tree


# AIP-160: a sequence binds tighter than AND, OR binds tighter than both, NOT and - tighter than all.
PRECEDENCE = [
    ("a=1 AND a=2 OR a=3", "a=1 AND (a=2 OR a=3)"),
    ("a=1 OR a=2 AND a=3", "(a=1 OR a=2) AND a=3"),
    ("a=1 a=2 AND a=3 a=4", "a=1 AND a=2 AND a=3 AND a=4"),
    ("a=1 a=2 OR a=3", "a=1 AND (a=2 OR a=3)"),
    ("NOT a=1 OR a=2", "(NOT a=1) OR a=2"),
    ("-a=1 a=2", "(NOT a=1) AND a=2"),
    ("a=1 -a=2", "a=1 AND (NOT a=2)"),
    ("NOT (a=1 AND a=2)", "NOT (a=1 AND a=2)"),
    ("(a=1 AND a=2) OR a=3", "(a=1 AND a=2) OR a=3"),
    ("(a=1 OR a=2) OR a=3", "a=1 OR a=2 OR a=3"),
    ("(a=1)(a=2)", "a=1 AND a=2"),
    ("a=-1 -(a=1)", "a=-1 AND (NOT a=1)"),
    ("a=1\n\tAND\r\na=2", "a=1 AND a=2"),
    ("NOTa=1 ORb=2 c.AND=3", "NOTa=1 AND ORb=2 AND c.AND=3"),
]


@pytest.mark.parametrize(("text", "grouped"), PRECEDENCE)
def test_operators_bind_as_aip_160_says(text, grouped):
    """OR before AND, which is not SQL's order; juxtaposition is AND."""
    assert syntax.write(syntax.parse_tree(text)) == grouped
    assert syntax.parse_tree(grouped) == syntax.parse_tree(text)


def test_columns_point_into_the_text():
    """A comparison knows where its path, its operator and its value stand."""
    both = syntax.parse_tree(' a\n=1 OR c.x >="y"')
    spots = [(one.column, one.op_column, one.word.column) for one in syntax.comparisons(both)]
    assert spots == [(2, 4, 5), (10, 14, 16)]


FEW = [
    "a=x",
    "a:y",
    'a=~"^x"',
    "b>1",
    "b<=2",
    "c.k=x",
    "c:k",
    'c.k!~"x"',
    "d>1970-01-01",
    "e:x",
    "f.k=1",
    "f.k!=x",
    "f:j",
]
known = trees(st.sampled_from(FEW).map(syntax.parse_tree))
some_text = st.sampled_from(["x", "y", "xy"])
values = st.fixed_dictionaries(
    {},
    optional={
        "a": some_text,
        "b": st.sampled_from([1, 2.0, 3]),
        "c": st.dictionaries(st.sampled_from("kj"), some_text),
        "e": st.lists(some_text),
        "f": st.dictionaries(st.sampled_from("kj"), st.sampled_from(["x", 1.0, True])),
    },
)


def matched(tree, value):
    return parse(syntax.write(tree), FIELDS).matches(value)


@given(one=known, other=known, value=values)
@settings(max_examples=100)
def test_an_or_is_its_parts_and_an_and_no_more_than_each(one, other, value):
    """A filter never matches more than the parts of its OR, nor an AND more than any of its own."""
    assert matched(Or((one, other)), value) == (matched(one, value) or matched(other, value))
    assert matched(And((one, other)), value) == (matched(one, value) and matched(other, value))
    assert matched(Not(one), value) != matched(one, value)


@given(one=known, other=known, value=values)
@settings(max_examples=100)
def test_de_morgan(one, other, value):
    """NOT of an OR is the AND of the NOTs, and the other way round, absent values included."""
    assert matched(Not(Or((one, other))), value) == matched(And((Not(one), Not(other))), value)
    assert matched(Not(And((one, other))), value) == matched(Or((Not(one), Not(other))), value)


@given(tree=known, value=values)
@settings(max_examples=100)
def test_a_match_has_every_pinned_value(tree, value):
    """Reading only what is pinned loses no match."""
    found = parse(syntax.write(tree), FIELDS)
    if found.matches(value):
        for name in ("a", "b"):
            assert found.pinned(name) in (None, value.get(name))
        assert found.pinned_keys("c").items() <= value.get("c", {}).items()


PIECES = ["a", "b", "c.k", "f.k", '"', "'", "\\", "(", ")", " ", "=", "!", "~", "<", ">", ":", "-", "*", ".", ",", "{}"]
PIECES += ["AND ", "OR ", "NOT ", "1", "true", '"x"', '"\\ud83d"', "2026-01-01T00:00:00Z", "[", "\x00", "é", "\ud800"]


@given(text=st.one_of(st.text(max_size=30), st.lists(st.sampled_from(PIECES), max_size=14).map("".join)))
@settings(max_examples=300)
def test_garbage_is_refused_by_its_column_or_understood(text):
    """Whatever a caller writes: either a filter that can be written back, or an InvalidArgument that says where."""
    with contextlib.suppress(InvalidArgument):
        found = parse(text, FIELDS)
        assert found.is_blank or parse(str(found), FIELDS) == found
        found.matches({"a": "x", "c": {"k": "x"}})
        return
    with pytest.raises(InvalidArgument) as refused:
        parse(text, FIELDS)
    column = re.match(r"column (\d+): ", refused.value.problem)
    assert column
    assert 1 <= int(column[1]) <= len(text) + 1


def test_threads_share_one_parser():
    """The first filters of a process may come together."""
    grammar._build.cache_clear()
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda n: str(parse(f"b={n}", FIELDS)), range(64)))
    assert found == [f"b={n}" for n in range(64)]
    assert grammar._build.cache_info().misses == 1
