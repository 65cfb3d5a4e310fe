"""Local mode with callers of its own: API keys, or tokens, checked as in a deployed stack."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx
import pytest

from streambank.errors import NotFound
from streambank.wire import http
from streambank_local.callers.jwt import TokenIssuer, rendered
from streambank_local.callers.tokens import AUDIENCE, ISSUER
from streambank_local.service import LocalService

BANKS = "/v1beta1/projects/p/locations/l/reasoningEngines"
DEFAULT = f"{BANKS}/default"
MINE, THEIRS = {"user_id": "mine"}, {"user_id": "theirs"}
EVENTS = {"events": [{"content": {"role": "user", "parts": [{"text": "I keep bees."}]}}]}
CLAIMS = {"streambank_banks": "default", "streambank_roles": "ingest read", "streambank_scope": json.dumps(MINE)}


@pytest.fixture(scope="module", params=["keys", "jwt"])
def service(request: pytest.FixtureRequest) -> Iterator[LocalService]:
    with LocalService(parameters={"AuthMode": request.param}, timer_enabled=False) as service:
        yield service


in_keys = pytest.mark.parametrize("service", ["keys"], indirect=True, scope="module")
in_jwt = pytest.mark.parametrize("service", ["jwt"], indirect=True, scope="module")


def mode_of(service: LocalService) -> str:
    return service.stack.environment()["AUTH_MODE"]


def make(service: LocalService, route: str, body: Any) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body)
    return httpx.post(f"{service.base_url}/_local/{route}", content=content)


@pytest.fixture
def bound(service: LocalService) -> str:
    """A credential of the mode, for ingesting and reading within one scope of one bank."""
    if mode_of(service) == "keys":
        body = {"bank": "default", "roles": ["ingest", "read"], "scope": MINE}
        return str(make(service, "keys", body).json()["key"])
    return str(make(service, "tokens", CLAIMS).json()["token"])


def ask(service: LocalService, token: str, method: str, path: str, body: Any = None) -> int:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return httpx.request(method, service.base_url + path, json=body, headers=headers).status_code


def test_local_is_an_operators_credential(service: LocalService) -> None:
    """`local` may do everything, in either mode; nothing else opens without having been made."""
    assert ask(service, "local", "POST", BANKS, {"displayName": "new"}) == 200
    assert ask(service, "local", "GET", f"{DEFAULT}/operations") == 200
    for token in ("", "other", "sb_nonsense", "a.b.c"):
        assert ask(service, token, "GET", DEFAULT) == 401


def test_local_opens_as_an_api_key_where_keys_are_checked(service: LocalService) -> None:
    """`x-goog-api-key: local` works in mode keys; API Gateway's authorizer reads no such header."""
    reply = httpx.get(service.base_url + DEFAULT, headers={"x-goog-api-key": "local"})
    assert reply.status_code == (200 if mode_of(service) == "keys" else 401)


def test_a_credential_opens_what_it_was_made_for(service: LocalService, bound: str) -> None:
    """Its bank, its roles and its scope are held by the functions' own checks, on both functions."""
    ingest, retrieve = f"{DEFAULT}/memories:ingestEvents", f"{DEFAULT}/memories:retrieve"
    assert ask(service, bound, "POST", ingest, {"scope": MINE, "directContentsSource": EVENTS}) == 200
    assert ask(service, bound, "POST", ingest, {"scope": THEIRS, "directContentsSource": EVENTS}) == 403
    assert ask(service, bound, "POST", retrieve, {"scope": MINE}) == 200
    assert ask(service, bound, "POST", retrieve, {"scope": THEIRS}) == 403
    assert ask(service, bound, "POST", f"{DEFAULT}/memories", {"scope": MINE, "fact": "I keep hens."}) == 403
    assert ask(service, bound, "GET", f"{BANKS}/4611686018427387905") == 404


def test_only_the_modes_own_route_is_there(service: LocalService) -> None:
    """Keys are made in mode keys, tokens in mode jwt."""
    other = {"keys": "tokens", "jwt": "keys"}[mode_of(service)]
    assert make(service, other, {}).status_code == 404


@in_keys
def test_a_key_is_for_every_bank_where_it_says_so(service: LocalService) -> None:
    """`*` stands for every bank; without a scope the key is bound to none."""
    key = make(service, "keys", {"bank": "*", "roles": ["admin"]}).json()["key"]
    assert ask(service, key, "POST", BANKS, {"displayName": "new"}) == 200
    assert ask(service, key, "GET", DEFAULT) == 403


@in_keys
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"roles": ["read"]}, "bank"),
        ({"bank": "default"}, "roles"),
        ({"bank": "de#fault", "roles": ["read"]}, "bank"),
        ({"bank": 1, "roles": ["read"]}, "bank"),
        ({"bank": "default", "roles": []}, "roles"),
        ({"bank": "default", "roles": ["owner"]}, "roles[0]"),
        ({"bank": "default", "roles": "read"}, "roles"),
        ({"bank": "default", "roles": ["read"], "scope": {}}, "scope"),
        ({"bank": "default", "roles": ["read"], "scope": {"user_id": 1}}, "scope"),
        ({"bank": "default", "roles": ["read"], "days": 3}, "days"),
        ([], ""),
        (b"{", ""),
        (b"", ""),
    ],
)
def test_a_key_that_cannot_be_made_is_400(service: LocalService, body: Any, field: str) -> None:
    """The refusal has Google's shape and names the field."""
    reply = make(service, "keys", body)
    error = reply.json()["error"]
    assert (reply.status_code, error["status"]) == (400, "INVALID_ARGUMENT")
    if field:
        assert error["details"][0]["fieldViolations"][0]["field"].startswith(field)


@in_jwt
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"exp": "tomorrow"}, "exp"),
        ({"nbf": True}, "nbf"),
        ({"sub": 1}, "sub"),
        ({"aud": [1]}, "aud"),
        (b'{"exp": NaN}', ""),
        (["a"], ""),
        (b"", ""),
        (b'{"a": "' + b"x" * 9_000 + b'"}', ""),
    ],
)
def test_a_token_that_cannot_be_made_is_refused(service: LocalService, body: Any, field: str) -> None:
    """Claims with a type of their own are checked; a body that is no object, or long, is refused."""
    reply = make(service, "tokens", body)
    error = reply.json()["error"]
    assert (reply.status_code, error["status"]) in [(400, "INVALID_ARGUMENT"), (413, "INVALID_ARGUMENT")]
    if field:
        assert error["details"][0]["fieldViolations"][0]["field"] == field


@in_jwt
@pytest.mark.parametrize(
    "claims",
    [{"exp": 1}, {"nbf": 4_102_444_800}, {"iss": "https://elsewhere.example"}, {"aud": "another"}, {"aud": ["b", "c"]}],
)
def test_a_token_that_api_gateway_would_refuse_is_401(service: LocalService, claims: dict[str, Any]) -> None:
    """Expired, not valid yet, of another issuer, for another audience: API Gateway's bare refusal."""
    token = make(service, "tokens", CLAIMS | claims).json()["token"]
    reply = httpx.get(service.base_url + DEFAULT, headers={"authorization": f"Bearer {token}"})
    assert (reply.status_code, reply.json()) == (401, {"message": "Unauthorized"})


@in_jwt
def test_a_token_without_a_claim_grants_nothing(service: LocalService) -> None:
    """The functions refuse a token that lacks a claim, or has one that they do not know."""
    for name in CLAIMS:
        claims = {key: value for key, value in CLAIMS.items() if key != name}
        assert ask(service, make(service, "tokens", claims).json()["token"], "GET", DEFAULT) == 403
    unreadable = CLAIMS | {"streambank_scope": MINE}
    assert ask(service, make(service, "tokens", unreadable).json()["token"], "GET", DEFAULT) == 403


@in_jwt
def test_a_token_ends_by_the_services_clock(service: LocalService) -> None:
    """A token is valid for an hour of the clock that can be moved; lists are claims too."""
    claims = CLAIMS | {"streambank_banks": ["default"], "streambank_roles": ["read"], "aud": ["a", AUDIENCE]}
    token = make(service, "tokens", claims).json()["token"]
    assert ask(service, token, "GET", DEFAULT) == 200
    service.clock.advance(timedelta(hours=1))
    assert ask(service, token, "GET", DEFAULT) == 401


@in_jwt
def test_a_token_of_another_key_pair_is_refused(service: LocalService) -> None:
    """The right issuer, audience and time are nothing without the signature; a changed token has none."""
    now = int(service.now().timestamp())
    claims = CLAIMS | {"iss": ISSUER, "aud": AUDIENCE, "exp": now + 60}
    assert ask(service, TokenIssuer(ISSUER, AUDIENCE).issue(claims), "GET", DEFAULT) == 401
    header, _, signature = make(service, "tokens", CLAIMS).json()["token"].split(".")
    body = TokenIssuer(ISSUER, AUDIENCE).issue(claims).split(".")[1]
    assert ask(service, f"{header}.{body}.{signature}", "GET", DEFAULT) == 401


def test_claims_are_rendered_as_api_gateway_does() -> None:
    """Functions get texts: numbers, lists and objects too."""
    claims = {"sub": "me", "exp": 1, "all": True, "roles": ["a", "b"], "scope": {"user_id": "1"}}
    rendering = {"sub": "me", "exp": "1", "all": "true", "roles": "[a b]", "scope": "map[user_id:1]"}
    assert rendered(claims) == rendering


@pytest.mark.parametrize("path", ["/_local/keys", "/_local/tokens", "/_local/clock:advance"])
def test_a_deployed_stack_has_no_local_routes(path: str) -> None:
    """No function knows these paths."""
    with pytest.raises(NotFound):
        http.bank_path({"rawPath": path})
