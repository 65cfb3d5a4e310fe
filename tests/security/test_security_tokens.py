"""Names and tokens that callers send back: taken as we wrote them, or not at all."""

from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.errors import InvalidArgument, NotFound
from streambank.model.api_key import ID_BYTES, SECRET_BYTES, ApiKey, Token
from streambank.model.erasure import ErasureId
from streambank.model.ids import OperationId
from streambank.model.principal import operator
from streambank.rules import access
from streambank.wire import http, paging

SECRET, NOW = b"the secret of these tests", datetime(2026, 3, 1, tzinfo=UTC)
SID = "abcdefghijklmnopqrstuvwxyz"
SHAPES = {"memories": (int, int, str), "sessions": (int, str), "events": (int,), "operations": (int, str, int)}
POSITIONS = {"memories": [5, 6, "m"], "sessions": [5, "s"], "events": [5], "operations": [1, "x", 2]}


@pytest.mark.parametrize("kind", SHAPES)
def test_a_token_that_was_cut_is_refused(kind):
    """No beginning of a token is a token, and neither is its end."""
    token = paging.token(kind, POSITIONS[kind], secret=SECRET)
    for at in range(1, len(token)):
        for part in (token[:at], token[at:]):
            with pytest.raises(InvalidArgument):
                paging.position(kind, part, SHAPES[kind], secret=SECRET)


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("other", SHAPES)
def test_a_token_of_another_kind_is_refused(kind, other):
    """A token of one list does not move another, not even where the query's text is the same."""
    token = paging.token("q", POSITIONS[kind], secret=SECRET)
    if kind == other:
        assert paging.position("q", token, SHAPES[other], secret=SECRET) == POSITIONS[kind]
        return
    with pytest.raises(InvalidArgument):
        paging.position("q", token, SHAPES[other], secret=SECRET)


@given(st.text(max_size=80))
def test_an_operation_name_has_one_spelling(text):
    """What is read as an operation is written back letter by letter: no zeros, no capitals, no other digits."""
    for kind in (OperationId, ErasureId):
        found = kind.parse(text)
        assert found is None or str(found) == text


@pytest.mark.parametrize(
    "text",
    [
        f"{SID}-01",
        f"{SID}-1\n",
        f" {SID}-1",
        f"{SID}-\u0661",
        f"{SID}-\uff11",
        f"{SID.upper()}-1",
        f"{SID}-1-G",
        f"{SID}-1-g-g",
        f"{SID}--1",
        f"{SID}-1#2",
        f"{SID}-1/../{SID}-2",
        f"{SID[:-1]}1-1",
        f"{SID}-{10**12}",
        f"erase-{SID}-0",
        f"erase-{SID}-\u0661",
        "erase-1\n",
        "erase-\uff11",
    ],
)
def test_a_forged_operation_name_is_none(text):
    """Zeros in front, other digits, capitals, separators of keys, ends of lines: nothing is looked up for them."""
    assert OperationId.parse(text) is None
    assert ErasureId.parse(text) is None


# ---- paths


@pytest.mark.parametrize(
    "path",
    [
        "/v1/reasoningEngines/mine/../theirs/memories",
        "/v1/reasoningEngines/mine/./memories",
        "/v1/reasoningEngines/mine//memories",
        "/v1/reasoningEngines/mine/memories/../../theirs",
        "/v1/reasoningEngines/mine:x/../theirs",
        "/v1/projects/p/locations/l/reasoningEngines/mine/reasoningEngines/theirs",
        "/v1/reasoningEngines/mine/memories?x=/theirs",
        "/v1/reasoningEngines/mine\\..\\theirs",
    ],
)
def test_a_path_is_taken_apart_from_the_left_and_never_mended(path):
    """The bank that is asked about is the one that is used; dots and slashes lead nowhere else."""
    with suppress(NotFound):
        assert http.bank_path({"rawPath": path}).bank == "mine"


@pytest.mark.parametrize(
    "bank", ["\u0661", "\uff11", "mine\u200b", "m\u0456ne", "mine\x00", "mine#", "*", "mine ", "a" * 37]
)
def test_a_bank_is_called_by_ascii_alone(bank):
    """Digits and letters of other scripts, separators and the star are no bank's."""
    with pytest.raises(NotFound):
        http.bank_path({"rawPath": f"/v1/reasoningEngines/{bank}/memories"})


# ---- API keys


def test_a_key_has_256_random_bits_beside_its_name():
    """Every random bit is in the token, none is used twice, and the secret does not follow from the id."""
    assert (ID_BYTES, SECRET_BYTES) == (10, 32)
    none = Token.from_random_bytes(bytes(42))
    for bit in range(42 * 8):
        random = (1 << bit).to_bytes(42, "big")
        changed = Token.from_random_bytes(random)
        is_in_id = bit >= SECRET_BYTES * 8
        assert (changed.key_id != none.key_id, changed.secret != none.secret) == (is_in_id, not is_in_id)


class Guarded(bytes):
    """Bytes that may be compared by nobody who stops at the first difference."""

    __hash__ = bytes.__hash__

    def __eq__(self, other):
        raise AssertionError("compared in a time that tells where they differ")

    __ne__ = __eq__


def test_secrets_are_compared_in_constant_time():
    """A digest meets another in `hmac.compare_digest` alone: `==` would tell how much of a guess was right."""
    token = Token.from_random_bytes(bytes(range(42)))
    key = ApiKey(token.key_id, Guarded(token.digest), operator("o"), NOW)
    assert access.admits(key, token, now=NOW)
    assert not access.admits(key, Token(token.key_id, "A" * 43), now=NOW)
