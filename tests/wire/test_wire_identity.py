"""Who calls, as requests say it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.errors import PermissionDenied, Unauthenticated
from streambank.model.principal import Role
from streambank.wire import http, identity

CLAIMS = {
    "sub": "u1",
    "streambank_banks": "default",
    "streambank_roles": "read ingest",
    "streambank_scope": '{"user_id":"u1"}',
}


def asked(**headers):
    return {"headers": {name.replace("_", "-"): value for name, value in headers.items()}}


def with_claims(**changes):
    claims = {name: value for name, value in {**CLAIMS, **changes}.items() if value is not None}
    return {"requestContext": {"authorizer": {"jwt": {"claims": claims, "scopes": None}}}}


# ---- tokens


@pytest.mark.parametrize(
    ("headers", "token"),
    [
        ({}, None),
        ({"authorization": "Bearer T"}, "T"),
        ({"authorization": "bearer  T "}, "T"),
        ({"x_goog_api_key": "T"}, "T"),
        ({"authorization": "Bearer T", "x_goog_api_key": "T"}, "T"),
        ({"authorization": "Bearer"}, ""),
        ({"authorization": "Bearer T,Bearer U"}, "T,Bearer U"),
    ],
)
def test_a_token_comes_in_either_header(headers, token):
    """As a bearer token or as an API key, as Google's SDK sends either; both may agree."""
    assert identity.token(asked(**headers)) == token


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer T", "x_goog_api_key": "U"},
        {"authorization": "Bearer T", "x_goog_api_key": ""},
        {"authorization": "Basic T"},
        {"authorization": "T"},
        {"authorization": "", "x_goog_api_key": "T"},
        {"authorization": "AWS4-HMAC-SHA256 T", "x_goog_api_key": "T"},
    ],
)
def test_what_says_two_things_is_refused(headers):
    """Two different tokens, or another scheme: nobody guesses, and no message repeats a token."""
    with pytest.raises(Unauthenticated) as refused:
        identity.token(asked(**headers))
    assert not {"T", "U"} & set(str(refused.value).replace("'", " ").split())


def test_a_refusal_names_the_scheme():
    """401 says Bearer, 403 does not; both are in Google's shape."""
    for error, status, code in (
        (Unauthenticated("p"), 401, "UNAUTHENTICATED"),
        (PermissionDenied("p"), 403, "PERMISSION_DENIED"),
    ):
        reply = http.error_response(error)
        assert json.loads(reply["body"])["error"] == {"code": status, "message": "p", "status": code}
        assert reply["headers"].get("www-authenticate") == ("Bearer" if status == 401 else None)


# ---- claims


def test_claims_become_a_principal():
    """Banks, roles and scope are read from their claims, the name from `sub`."""
    principal = identity.claimed(with_claims())
    assert (principal.name, principal.banks, principal.scope) == ("u1", ("default",), {"user_id": "u1"})
    assert principal.roles == {Role.READ, Role.INGEST}


@pytest.mark.parametrize("said", ["read ingest", "read,ingest", " read, ingest", "[read ingest]", '["read","ingest"]'])
def test_lists_are_read_as_gateways_and_people_write_them(said):
    """Spaces, commas, API Gateway's brackets: all the same."""
    assert identity.claimed(with_claims(streambank_roles=said)).roles == {Role.READ, Role.INGEST}
    assert identity.claimed(with_claims(streambank_roles=["read", "ingest"])).roles == {Role.READ, Role.INGEST}


def test_every_scope_must_be_said():
    """A star is any scope; a claim that a provider dropped is not."""
    assert identity.claimed(with_claims(streambank_scope="*")).scope is None
    with pytest.raises(PermissionDenied, match="streambank_scope"):
        identity.claimed(with_claims(streambank_scope=None))


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("streambank_banks", None),
        ("streambank_banks", ""),
        ("streambank_banks", "[]"),
        ("streambank_banks", "a#b"),
        ("streambank_banks", "b" * 37),
        ("streambank_roles", None),
        ("streambank_roles", "read root"),
        ("streambank_roles", "READ"),
        ("streambank_roles", []),
        ("streambank_scope", ""),
        ("streambank_scope", "{}"),
        ("streambank_scope", "map[user_id:u1]"),
        ("streambank_scope", '{"user_id":1}'),
        ("streambank_scope", '["user_id"]'),
        ("streambank_scope", "[" * 100_000),
        ("streambank_scope", {"user_id": "u1"}),
    ],
)
def test_a_claim_that_says_nothing_grants_nothing(claim, said):
    """What is missing, empty, unknown or misshapen is 403 and names the claim."""
    with pytest.raises(PermissionDenied, match=claim):
        identity.claimed(with_claims(**{claim: said}))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(claims=st.dictionaries(st.sampled_from(sorted(CLAIMS)), json_values))
def test_no_claims_break_anything(claims):
    """Whatever claims say, the answer is a principal or a refusal."""
    event = {"requestContext": {"authorizer": {"jwt": {"claims": claims}}}}
    try:
        principal = identity.claimed(event)
    except (PermissionDenied, Unauthenticated):
        return
    assert principal.banks
    assert principal.roles


@pytest.mark.parametrize("context", [{}, {"requestContext": None}, {"requestContext": {"authorizer": {"iam": {}}}}])
def test_a_request_that_nobody_checked_is_refused(context):
    """Without what API Gateway adds there is no caller: a route without its authoriser opens nothing."""
    with pytest.raises(Unauthenticated):
        identity.claimed(context)
    with pytest.raises(Unauthenticated):
        identity.signed(context)


def test_a_signature_opens_everything_that_iam_lets_through():
    """The caller is named by its ARN; what it may call is the IAM policy's business."""
    arn = "arn:aws:iam::123456789012:user/me"
    principal = identity.signed({"requestContext": {"authorizer": {"iam": {"userArn": arn}}}})
    assert (principal.name, principal.banks, principal.roles, principal.scope) == (arn, ("*",), set(Role), None)
    assert principal.has_path_only


def test_a_forged_header_makes_no_claims():
    """Claims come from the request's context, which callers cannot write."""
    event = asked(authorization="Bearer x", streambank_banks="*", streambank_roles="admin")
    with pytest.raises(Unauthenticated):
        identity.claimed(event)
