"""Our store of LangGraph against its own store in memory, operation by operation, over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streambank.wire.fields import MAX_FACT_BYTES
from streambank.wire.settings import MAX_MAP_BYTES
from streambank_local.service import LocalService
from tests.frameworks.programs import Program, needs_frameworks, page_block, run_example

pytestmark = [pytest.mark.slow, needs_frameworks]
_numbers = count(1)
MOST = 1_000


@pytest.fixture(scope="module")
def program(service: LocalService) -> Iterator[Program]:
    with Program("langgraph_program.py", service.base_url, "differential") as program:
        yield program


# ---- operations

_labels = st.sampled_from(["users", "a", "b", "ü", 'q"\\', "*x"])
_namespaces = st.lists(_labels, min_size=1, max_size=3)
_prefixes = st.lists(_labels, max_size=2)
_keys = st.sampled_from(["", "k", "key two", "K", "ключ"])
_scalars = (
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8) | st.sampled_from(["\ud800", "red", "blue", " ", "\x00"])
)  # fmt: skip
_json = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)
_names = st.sampled_from(["color", "size", "nested", ""])
_values = st.dictionaries(_names, _json | st.sampled_from([1, 2.5, {"x": 1}, [1, "a"]]), max_size=3)
_indexes = st.sampled_from([None, False, ["color"], ["nested.x", "size"], []])
_operators = st.dictionaries(
    st.sampled_from(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in"]), st.sampled_from([1, 2.5, "red", None]),
    min_size=1, max_size=2,
)  # fmt: skip
_conditions = st.sampled_from(["red", 1, 2.5, None, {"x": 1}, [1, "a"], {}]) | _operators
_filters = st.none() | st.dictionaries(_names, _conditions, max_size=2)
_paths = st.lists(_labels | st.just("*"), max_size=2)
_match_conditions = st.lists(st.tuples(st.sampled_from(["prefix", "suffix"]), _paths), max_size=2)

puts = st.tuples(
    st.just("put"),
    st.fixed_dictionaries({"namespace": _namespaces, "key": _keys, "value": st.none() | _values, "index": _indexes}),
)
gets = st.tuples(st.just("get"), st.fixed_dictionaries({"namespace": _namespaces, "key": _keys}))
searches = st.tuples(
    st.just("search"),
    st.fixed_dictionaries(
        {"namespace_prefix": _prefixes, "filter": _filters, "query": st.sampled_from([None, "", "red", "x"])}
    ),
).map(lambda one: ("search", {**one[1], "limit": MOST}))
lists = st.tuples(
    st.just("list"),
    st.fixed_dictionaries(
        {
            "match_conditions": _match_conditions,
            "max_depth": st.sampled_from([None, 1, 2]),
            "limit": st.sampled_from([2, MOST]),
            "offset": st.integers(0, 2),
        }
    ),
)
batches = st.lists(puts | puts | gets | searches, min_size=1, max_size=5) | st.lists(lists, min_size=1, max_size=2)


def unordered(results: Any) -> Any:
    """Return results with the items of a search in one order: the stores rank in their own ways."""
    if not isinstance(results, list):
        return results
    return [sorted(map(json.dumps, one)) if is_search(one) else one for one in results]


def is_search(result: Any) -> bool:
    return isinstance(result, list) and all(isinstance(item, list) and len(item) == 4 for item in result)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(batches, st.booleans()), min_size=1, max_size=6))
def test_the_stores_answer_alike(program: Program, history: list[tuple[list[Any], bool]]) -> None:
    """Whatever is put, deleted, read, searched and listed, awaited or not, both stores give the same results."""
    number = next(_numbers)
    for batch, is_async in history:
        theirs, ours = program.ask({"store": number, "batch": batch, "is_async": is_async})
        if batch[0][0] == "list":
            assert ours == theirs
        else:
            assert unordered(ours) == unordered(theirs), batch


# ---- what the store in memory does not show


@pytest.fixture(scope="module")
def cases(service: LocalService) -> Iterator[Program]:
    with Program("langgraph_cases.py", service.base_url, page_block("langgraph.md")) as program:
        yield program


def test_an_item_lives_as_long_as_it_is_read(cases: Program) -> None:
    """A read or a search that refreshes moves the expiry and nothing else; a put without a TTL takes it away."""
    assert cases.ask("ttl") == {
        "read_without_refresh": True,
        "refreshed": True,
        "is_same_update": True,
        "without_ttl": None,
        "default_is_kept": True,
        "expired": None,
    }


def test_a_search_ranks_and_pages(cases: Program) -> None:
    """The nearest item is first, one that is not indexed is last and has no score, and pages are the whole in parts."""
    answer = cases.ask("ranking")
    assert answer["keys"][0] == "home"
    assert answer["keys"][-1] == "secret"
    assert answer["scores"][-1] is None
    assert answer["scores"][:-1] == sorted(answer["scores"][:-1], reverse=True)
    assert answer["pages"] == answer["keys"]


def test_no_item_is_left_out_of_a_search(cases: Program) -> None:
    """A filter finds all of its items among more than one search of the service returns, each once."""
    answer = cases.ask("many")
    assert answer["filtered"] == sorted(answer["expected"])
    assert answer["all"] == 130


def test_sizes(cases: Program) -> None:
    """Texts and value of 8 KB together are kept exactly; what is larger, or no JSON, is refused and changes nothing."""
    assert cases.ask("sizes") == {
        "large": True,
        "large_fields": True,
        "too_large": "ValueError",
        "nan": "ValueError",
        "object": "TypeError",
        "unchanged": {"n": 1},
    }


def test_limits_are_the_service_s(cases: Program) -> None:
    """The sizes that the store checks are those of the service."""
    assert cases.ask("limits") == [MAX_FACT_BYTES, MAX_MAP_BYTES]


def test_deletions(cases: Program) -> None:
    """A deleted item is gone, leaves no revision and no text, and its key can be used at once and after its expiry."""
    assert cases.ask("deletion") == {"gone": None, "at_once": {"n": 2}, "revisions": 0, "later": {"n": 3}, "facts": []}


def test_stores_are_apart(cases: Program) -> None:
    """Another scope has none of the items, and a conversation about the user neither sees nor changes them."""
    assert cases.ask("isolation") == {"other": None, "conversation": 0, "kept": {"text": "I live in Graz."}}


def test_an_erasure(cases: Program) -> None:
    """The code of the page erases a store."""
    assert cases.ask("page") == {"left": 0, "namespaces": []}


def test_writers_at_once(cases: Program) -> None:
    """Eight threads put a new key at once: each succeeds, and one of the values is there."""
    assert cases.ask("threads") == {"failures": [], "is_one_of_them": True, "count": 1}


def test_the_example_runs(service: LocalService) -> None:
    """The nearest note answers a question of another thread."""
    assert run_example("langgraph_store.py", service.base_url) == [
        "I live in Graz. -> Noted.",
        "I like green tea. -> Noted.",
        "Where do I live? -> You said: I live in Graz.",
    ]
