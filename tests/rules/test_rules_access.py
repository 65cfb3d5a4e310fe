"""Who may do what: another's things do not exist, one's own may be forbidden."""

import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from streambank.errors import NotFound, PermissionDenied
from streambank.model.api_key import ApiKey, Token
from streambank.model.principal import Principal, Role, operator
from streambank.rules import access

NOW = datetime(2026, 3, 1, tzinfo=UTC)
TOKEN = Token.from_random_bytes(bytes(range(42)))

words = st.sampled_from(["a", "b", "c", "user_id"])
scopes = st.dictionaries(words, words, min_size=1, max_size=5)
banks = st.sampled_from(["default", "1", "2", "3"])
principals = st.builds(
    Principal,
    st.just("somebody"),
    st.lists(banks | st.just("*"), max_size=3).map(tuple),
    st.frozensets(st.sampled_from(Role)),
    st.none() | scopes,
)


def passes(check, *arguments):
    try:
        check(*arguments)
    except PermissionDenied:
        return False
    return True


def bound(**scope):
    return Principal("somebody", ("*",), frozenset(Role), scope)


# ---- banks and roles


@given(principal=principals, role=st.sampled_from(Role), source=banks, bank=banks, has_path_only=st.booleans())
def test_a_second_bank_is_judged_as_the_first(principal, role, source, bank, has_path_only):
    """Who may not use a bank may not name it in a body; if the path alone was judged, so may nobody."""
    judged = replace(principal, has_path_only=has_path_only)
    if has_path_only and source != bank:
        with pytest.raises(PermissionDenied, match=f"under {bank}/"):
            access.check_source_bank(judged, role, source, bank)
    elif not access.knows_bank(judged, source):
        with pytest.raises(NotFound, match=f"there is no bank '{source}'"):
            access.check_source_bank(judged, role, source, bank)
    else:
        assert passes(access.check_source_bank, judged, role, source, bank) is (role in judged.roles)


@given(principal=principals, role=st.sampled_from(Role), bank=banks)
def test_another_bank_does_not_exist_and_a_missing_role_is_forbidden(principal, role, bank):
    """A bank that is none of the caller's is 404 whatever its roles are (I8); only then does the role count."""
    is_known = "*" in principal.banks or bank in principal.banks
    assert access.knows_bank(principal, bank) is is_known
    if not is_known:
        with pytest.raises(NotFound, match=f"there is no bank '{bank}'"):
            access.check(principal, role, bank)
    elif role not in principal.roles:
        with pytest.raises(PermissionDenied, match=role):
            access.check(principal, role, bank)
    else:
        access.check(principal, role, bank)


def test_above_the_banks_the_role_alone_counts():
    """Listing banks is no bank's business; what is shown is filtered."""
    access.check(Principal("p", ("1",), frozenset({Role.READ})), Role.READ, "")
    with pytest.raises(PermissionDenied):
        access.check(Principal("p", ("1",), frozenset({Role.READ})), Role.ADMIN, "")


def test_no_bank_is_called_every_bank():
    """The star is no bank's name, not even for who has every bank."""
    with pytest.raises(NotFound):
        access.check(operator("o"), Role.READ, "*")


def test_roles_include_no_other():
    """An admin that may not read does not read."""
    for role in Role:
        principal = Principal("p", ("*",), frozenset({role}))
        assert [other for other in Role if passes(access.check, principal, other, "1")] == [role]


def test_a_new_bank_takes_every_bank():
    """Who is bound to banks would not see the bank that it made."""
    assert passes(access.check_new_bank, operator("o"))
    assert not passes(access.check_new_bank, Principal("p", ("1", "2"), frozenset(Role)))


# ---- scopes


@given(principal=principals, scope=scopes)
def test_a_binding_never_widens(principal, scope):
    """Whoever passes is unbound, or the scope holds every pair of the binding: nothing else ever passes."""
    is_inside = principal.scope is None or all(scope.get(key) == value for key, value in principal.scope.items())
    assert access.sees(principal, scope) is is_inside
    assert passes(access.check_scope, principal, scope) is is_inside


@given(principal=principals, scope=scopes, key=words, value=words)
def test_a_further_pair_opens_nothing_that_was_shut_by_another(principal, scope, key, value):
    """More pairs in the scope can complete a binding's pairs, never outweigh one that differs."""
    assume(principal.scope is not None)
    other = [name for name, wanted in principal.scope.items() if name != key and scope.get(name) != wanted]
    if other:
        assert not access.sees(principal, {**scope, key: value})


@given(binding=scopes, key=words, value=words, scope=scopes)
def test_a_longer_binding_sees_no_more(binding, key, value, scope):
    """Adding a pair to a binding only ever takes away."""
    assume(key not in binding)
    if access.sees(bound(**binding, **{key: value}), scope):
        assert access.sees(bound(**binding), scope)


def test_values_are_compared_whole():
    """A pattern is no prefix and no wildcard, and cases differ."""
    for other in ("12", "1234", "*", "", "A"):
        assert not access.sees(bound(user_id="123"), {"user_id": other})
    assert not access.sees(bound(user_id="*"), {"user_id": "123"})
    assert access.sees(bound(user_id="123"), {"app": "x", "user_id": "123"})


def test_what_reaches_over_all_scopes_is_for_the_unbound():
    """A bound caller may not ask about everything at once."""
    assert passes(access.check_unbound, operator("o"))
    assert not passes(access.check_unbound, bound(user_id="1"))


def test_an_empty_binding_cannot_be_made():
    """It would fit every scope."""
    with pytest.raises(ValueError, match="at least one"):
        bound()


# ---- sessions


@given(principal=principals, user=words)
def test_sessions_are_for_the_unbound_and_for_their_user(principal, user):
    """Sessions have no scope: a binding to anything but a user alone reaches none."""
    is_of_user = principal.scope is None or principal.scope == {"user_id": user}
    assert access.sees_user(principal, user) is is_of_user
    assert passes(access.check_user, principal, user) is is_of_user
    assert passes(access.check_user, principal, None) is (principal.scope is None)
    if is_of_user:
        access.check_sessions(principal)


def test_a_binding_to_more_than_a_user_reaches_no_session():
    """An application's user is another than the user of a session."""
    assert passes(access.check_sessions, bound(user_id="1"))
    assert not passes(access.check_sessions, bound(user_id="1", app="x"))
    assert not passes(access.check_sessions, bound(app="x"))


# ---- keys


def key(**changes):
    return ApiKey(**{"id": TOKEN.key_id, "digest": TOKEN.digest, "principal": operator("o"), "created": NOW, **changes})


def test_a_key_admits_its_own_secret_only():
    """The digest is that of the secret, and another secret has another."""
    assert access.admits(key(), TOKEN, now=NOW)
    assert key().digest == hashlib.sha256(TOKEN.secret.encode()).digest()
    assert not access.admits(key(), Token(TOKEN.key_id, "A" * 43), now=NOW)


def test_a_key_ends_when_it_expires_or_is_revoked():
    """At its expiry a key is over, whatever DynamoDB's TTL has got round to (I9)."""
    ending = key(expires=NOW + timedelta(days=1))
    assert access.admits(ending, TOKEN, now=NOW + timedelta(hours=23))
    assert not access.admits(ending, TOKEN, now=NOW + timedelta(days=1))
    assert not access.admits(key(revoked=NOW), TOKEN, now=NOW)
