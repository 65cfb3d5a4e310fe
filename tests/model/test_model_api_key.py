"""Tokens: what a caller shows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.model.api_key import ID_BYTES, KEY_ID, SECRET_BYTES, ApiKey, Token

TOKEN = Token.from_random_bytes(bytes(range(42)))


@given(random=st.binary(min_size=ID_BYTES + SECRET_BYTES, max_size=ID_BYTES + SECRET_BYTES))
def test_a_token_survives_being_sent(random):
    """What is revealed is read back, for any random bytes; the id is one that the commands take."""
    token = Token.from_random_bytes(random)
    assert Token.parse(token.reveal()) == token
    assert KEY_ID.fullmatch(token.key_id)
    assert len(token.key_id) >= 12


@given(text=st.text())
def test_what_is_no_token_is_none(text):
    """Anything but the exact form is no token: nothing is looked up for it."""
    assert Token.parse(text) is None


@pytest.mark.parametrize(
    "text",
    [
        TOKEN.reveal() + "\n",
        TOKEN.reveal() + "A",
        TOKEN.reveal()[:-1],
        " " + TOKEN.reveal(),
        TOKEN.reveal().upper(),
        TOKEN.reveal().replace("sb_", "sb-"),
        f"sb_{TOKEN.key_id[:11]}_{TOKEN.secret}",
        f"sb_{TOKEN.key_id}#_{TOKEN.secret}",
        f"sb_{TOKEN.key_id}_{TOKEN.secret[:-1]}é",
    ],
)
def test_a_token_is_exact(text):
    """No spare character, no shorter id, no other alphabet."""
    assert Token.parse(text) is None


def test_a_secret_is_in_no_representation():
    """What logs print of a token or a key tells neither secret nor digest."""
    key = ApiKey(TOKEN.key_id, TOKEN.digest, None, None)
    for shown in (repr(TOKEN), str(TOKEN), f"{TOKEN}", repr(key)):
        assert TOKEN.secret not in shown
        assert repr(TOKEN.digest) not in shown
