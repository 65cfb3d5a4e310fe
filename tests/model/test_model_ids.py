import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.model import ids
from streambank.model.ids import OperationId
from streambank.wire.parameters import MEMORY_ID_PATTERN

scopes = st.dictionaries(st.text(max_size=9), st.text(max_size=9), min_size=1, max_size=5)


@given(scope=scopes, turn=st.randoms(use_true_random=False))
def test_key_order_is_irrelevant(scope, turn):
    """The same pairs in any order are the same scope and the same stream."""
    pairs = list(scope.items())
    turn.shuffle(pairs)
    assert ids.scope_id(dict(pairs)) == ids.scope_id(scope)
    assert ids.stream_key(dict(pairs), "s") == ids.stream_key(scope, "s")


@given(first=scopes, second=scopes)
def test_other_pairs_are_another_scope(first, second):
    """Two scopes share an id only if they are equal: no memory crosses a scope (I8)."""
    assert (ids.scope_id(first) == ids.scope_id(second)) is (first == second)
    assert json.loads(ids.canonical(first)) == first


def test_characters_are_not_normalised():
    """An e with an accent is not an e followed by one, nor is upper case lower case."""
    assert len({ids.scope_id({"u": name}) for name in ("\u00e9", "e\u0301", "\u00c9")}) == 3


@given(name=st.text(max_size=20), scope=scopes)
def test_an_unnamed_stream_is_the_default_one(name, scope):
    """An empty stream id means `default`; any other name is a stream of its own."""
    assert ids.stream_key(scope, "") == ids.stream_key(scope, "default")
    assert (ids.stream_key(scope, name) == ids.stream_key(scope, "default")) is (name in ("", "default"))


@given(text=st.text(max_size=30), position=st.integers(0, 999))
def test_derived_keys_live_in_a_domain_of_their_own(text, position):
    """No event id of a caller's is remembered like one that an idempotency key derived."""
    assert ids.derived_event_key(text, position) != ids.event_key(text)
    assert ids.derived_event_key(text, position) != ids.derived_event_key(text, position + 1)
    assert ids.event_key(f"{text}\0{position}") != ids.derived_event_key(text, position)


@given(parts=st.lists(st.text(max_size=5), min_size=1, max_size=3))
def test_digests_are_url_safe_and_of_one_length(parts):
    """A digest is 26 characters of lower-case base32: safe in keys, paths and execution names."""
    assert ids.digest(*parts) == ids.digest(*parts)
    assert len(ids.digest(*parts)) == 26
    assert set(ids.digest(*parts)) <= set("abcdefghijklmnopqrstuvwxyz234567")


@given(window=st.integers(0, 999_999_999_999), downstream=st.booleans(), name=st.text())
def test_operation_ids_round_trip(window, downstream, name):
    """An operation's name says which window it is of, and whether it is the generation's."""
    operation = OperationId(ids.digest(name), window, downstream)
    assert OperationId.parse(str(operation)) == operation


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "a-1",
        "a" * 26,
        "A" * 26 + "-1",
        "a" * 26 + "-01",
        "a" * 26 + "-1-x",
        "a" * 26 + "-1-g-g",
        "1" * 26 + "-1",
    ],
)
def test_foreign_operation_names_are_none_of_ours(text):
    """What is not exactly a name of ours names nothing."""
    assert OperationId.parse(text) is None
    assert OperationId.parse("a" * 26 + "-1\n") is None


@given(secret=st.binary(min_size=1), parts=st.lists(st.text(alphabet="ab#1", max_size=4), min_size=1, max_size=4))
def test_an_id_of_the_services_own_cannot_be_foreseen_or_named(secret, parts):
    """It follows from the secret and from all of its parts, and no id that a caller may give looks like it."""
    made = ids.secret_id(secret, *parts)
    assert made == ids.secret_id(secret, *parts)
    assert made not in (ids.secret_id(secret + b"1", *parts), ids.secret_id(secret, *parts, ""))
    assert re.fullmatch("0[a-z2-7]{26}", made)
    assert not re.fullmatch(MEMORY_ID_PATTERN, made)


def test_execution_names_fit():
    """The longest name of an execution stays within the 80 characters that Step Functions takes."""
    assert len(ids.execution_name("b" * 36, "s" * 26, 999_999, 999_999)) <= 80


@pytest.mark.parametrize(
    ("text", "is_legal"),
    [("default", True), ("1234", True), ("a#b", False), ("", False), ("b" * 36, True), ("b" * 37, False)],
)
def test_which_bank_ids_are_legal(text, is_legal):
    """A bank id holds nothing that separates keys and at most 36 characters."""
    assert bool(ids.BANK_ID.fullmatch(text)) is is_legal
