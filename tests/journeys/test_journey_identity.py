"""A deployment that asks for keys: who gets in, and what each key reaches."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx
import pytest

from streambank.model import ids
from streambank.model.api_key import Token
from streambank_local.command import stack_keys as keys
from streambank_local.service import LocalService
from tests.journeys.caller import DEFAULT_BANK, PARENT, VERSION, Caller, Document, Stream, said

pytestmark = pytest.mark.parametrize("service", [{"AuthMode": "keys"}], indirect=True, scope="package")

ALL_ROLES = ("ingest", "read", "edit", "admin")
INGEST = f"{DEFAULT_BANK}/memories:ingestEvents"
MINE, THEIRS = {"user_id": "mine"}, {"user_id": "theirs"}
Make = Callable[..., str]


@pytest.fixture
def make(service: LocalService, capsys: pytest.CaptureFixture[str]) -> Make:
    """Make a key with the command and return it."""

    def make(*roles: str, bank: str = "", **options: str) -> str:
        where = ["--bank", bank] if bank else ["--all-banks"]
        more = [word for name, value in options.items() for word in (f"--{name}", value)]
        wanted = [word for role in roles or ALL_ROLES for word in ("--role", role)]
        assert keys.main(["create", "--table", service.stack.table_name, *where, *wanted, *more]) == 0
        return capsys.readouterr().out.strip()

    return make


@dataclass
class Holder:
    """Somebody with a key; a call returns its status and its document."""

    service: LocalService
    token: str

    def __call__(self, method: str, path: str, body: Any = None, **params: str) -> tuple[int, Document]:
        url = f"{self.service.base_url}{VERSION}/{path}"
        headers = {"authorization": f"Bearer {self.token}"}
        reply = httpx.request(method, url, json=body, params=params, headers=headers, timeout=60)
        return reply.status_code, reply.json()


@pytest.fixture
def hold(service: LocalService) -> Callable[[str], Holder]:
    return lambda token: Holder(service, token)


@pytest.fixture
def admin(service: LocalService, make: Make) -> Iterator[Caller]:
    headers = {"authorization": f"Bearer {make()}"}
    with httpx.Client(base_url=service.base_url, headers=headers, timeout=60) as client:
        yield Caller(service, client)


def ask(service: LocalService, path: str = DEFAULT_BANK, **headers: str) -> httpx.Response:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.get(f"{service.base_url}{VERSION}/{path}", headers=sent, timeout=60)


def is_refused(reply: httpx.Response) -> bool:
    """Tell whether a reply is 401 in the shape that Google's SDK takes apart."""
    error = reply.json()["error"]
    assert reply.headers["www-authenticate"] == "Bearer"
    return (reply.status_code, error["code"], error["status"]) == (401, 401, "UNAUTHENTICATED")


def test_a_key_lists_its_own_banks(hold: Callable[[str], Holder], make: Make, admin: Caller) -> None:
    """A key of one bank lists that bank alone, also page by page, and nothing once the bank is deleted."""
    mine, other = (admin.bank() for _ in range(2))
    me = hold(make(bank=mine.rsplit("/", 1)[1]))
    for size in ("1", "100"):
        status, reply = me("GET", PARENT, pageSize=size)
        assert (status, [bank["name"] for bank in reply["reasoningEngines"]]) == (200, [mine])
        assert "nextPageToken" not in reply
    assert other in [bank["name"] for bank in admin.get(f"/v1beta1/{PARENT}?pageSize=1000")["reasoningEngines"]]
    admin.delete(mine)
    assert me("GET", PARENT)[1].get("reasoningEngines", []) == []


# ---- getting in


def test_a_key_opens_in_either_header(service: LocalService, make: Make) -> None:
    """As a bearer token and as Google's API key, and in both where they agree."""
    token = make()
    assert ask(service, authorization=f"Bearer {token}").status_code == 200
    assert ask(service, x_goog_api_key=token).status_code == 200
    assert ask(service, authorization=f"Bearer {token}", x_goog_api_key=token).status_code == 200
    assert is_refused(ask(service, authorization=f"Bearer {token}", x_goog_api_key=make()))


@pytest.mark.parametrize("path", [DEFAULT_BANK, PARENT, f"{DEFAULT_BANK}/memories", "nowhere", f"{PARENT}/42/memories"])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer nonsense"},
        {"authorization": "Bearer sb_nonsense"},
        {"authorization": "Basic bG9jYWw6bG9jYWw="},
        {"authorization": "Bearer " + Token.from_random_bytes(bytes(42)).reveal()},
        {"x_goog_api_key": ""},
    ],
)
def test_without_a_key_every_route_is_refused(service: LocalService, path: str, headers: dict[str, str]) -> None:
    """No token, nonsense, an unknown key: 401 before anything is said about what there is."""
    assert is_refused(ask(service, path, **headers))


def test_ingest_is_refused_without_a_key(service: LocalService) -> None:
    """The hot path asks as the others do."""
    url = f"{service.base_url}{VERSION}/{INGEST}"
    assert is_refused(httpx.post(url, json={"scope": MINE}))
    assert is_refused(httpx.post(url, json={"scope": MINE}, headers={"x-goog-api-key": "sb_no"}))


def test_a_wrong_secret_is_refused(service: LocalService, make: Make) -> None:
    """Knowing a key's id helps nobody, also while the key is in use."""
    token = Token.parse(make())
    assert token
    assert ask(service, x_goog_api_key=token.reveal()).status_code == 200
    assert is_refused(ask(service, x_goog_api_key=Token(token.key_id, "A" * 43).reveal()))


def test_a_revoked_key_is_refused_within_a_minute(service: LocalService, make: Make) -> None:
    """What the functions remember of a key they forget in time."""
    token = Token.parse(make())
    assert token
    assert ask(service, x_goog_api_key=token.reveal()).status_code == 200
    assert keys.main(["revoke", "--table", service.stack.table_name, token.key_id]) == 0
    service.clock.advance(timedelta(seconds=60))
    assert is_refused(ask(service, x_goog_api_key=token.reveal()))


def test_an_expired_key_is_refused(service: LocalService, make: Make) -> None:
    """A key for a month opens nothing after a month of the service's clock."""
    token = make(days="30")
    assert ask(service, x_goog_api_key=token).status_code == 200
    service.clock.advance(timedelta(days=31))
    assert is_refused(ask(service, x_goog_api_key=token))


def test_a_token_is_in_no_log_and_no_answer(
    service: LocalService, make: Make, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever a key opens or does not open, its secret is not repeated."""
    token = Token.parse(make("read"))
    assert token
    caplog.set_level(logging.DEBUG)
    wrong = Token(token.key_id, token.secret[::-1])
    headers = ({"authorization": f"Bearer {shown.reveal()}"} for shown in (token, wrong))
    said_back = [
        httpx.request(method, f"{service.base_url}{VERSION}/{path}", headers=one, json={"scope": MINE}).text
        for one in [*headers, {"authorization": f"Basic {token.reveal()}"}]
        for method, path in (("GET", DEFAULT_BANK), ("POST", INGEST), ("GET", "nowhere"), ("DELETE", DEFAULT_BANK))
    ]
    printed = "".join(capsys.readouterr())
    for text in (
        *said_back,
        printed,
        *(f"{entry.getMessage()}{entry.args}{entry.exc_text}" for entry in caplog.records),
    ):
        assert token.secret not in text
        assert wrong.secret not in text


# ---- roles and banks

CALLS = {
    "ingest": [("POST", INGEST, {"scope": MINE}), ("POST", f"{DEFAULT_BANK}:ingestEvents", {"scope": MINE})],
    "read": [
        ("GET", DEFAULT_BANK, None),
        ("GET", PARENT, None),
        ("GET", f"{DEFAULT_BANK}/memories", None),
        ("GET", f"{DEFAULT_BANK}/sessions", None),
        ("POST", f"{DEFAULT_BANK}/memories:retrieve", {"scope": MINE}),
    ],
    "edit": [
        ("POST", f"{DEFAULT_BANK}/memories", {"scope": {"user_id": "roles"}, "fact": "Likes tea."}),
        ("POST", f"{DEFAULT_BANK}/memories:purge", {"filter": 'fact="nothing"', "force": False}),
        ("POST", f"{DEFAULT_BANK}/sessions", {"userId": "roles"}),
    ],
    "admin": [("POST", PARENT, {}), ("PATCH", DEFAULT_BANK, {"displayName": "mine"})],
}


@pytest.mark.parametrize("role", ALL_ROLES)
def test_a_role_opens_its_calls_and_no_others(make: Make, hold: Callable[[str], Holder], role: str) -> None:
    """A key with one role: its calls are answered, all others are 403 in Google's shape."""
    holder = hold(make(role))
    for other, calls in CALLS.items():
        for method, path, body in calls:
            status, document = holder(method, path, body)
            assert status == (200 if other == role else 403), (path, document)
            assert status == 200 or document["error"]["status"] == "PERMISSION_DENIED"


def test_another_bank_does_not_exist(admin: Caller, make: Make, hold: Callable[[str], Holder]) -> None:
    """For a key of one bank the others are 404 on every route, in the words of a bank that never was (I8)."""
    mine, other = admin.bank(), admin.bank()
    holder = hold(make(bank=mine.rsplit("/", 1)[1]))
    assert holder("GET", mine)[0] == 200
    for calls in CALLS.values():
        for method, path, body in ((m, p, b) for m, p, b in calls if p.startswith(DEFAULT_BANK)):
            answers = [holder(method, path.replace(DEFAULT_BANK, bank), body) for bank in (other, f"{PARENT}/999")]
            assert [status for status, _ in answers] == [404, 404]
            texts = [document["error"]["message"] for _, document in answers]
            assert texts[0].replace(other.rsplit("/", 1)[1], "999") == texts[1]
    listed = holder("GET", PARENT)[1]["reasoningEngines"]
    assert [bank["name"] for bank in listed] == [mine]
    assert holder("POST", PARENT, {})[0] == 403


# ---- keys that a scope binds


@dataclass
class Theirs:
    """What somebody else has in the bank: a memory, its revision, an operation of each kind, a session."""

    memory: str
    operations: list[str]
    session: str

    @classmethod
    def made(cls, admin: Caller) -> Theirs:
        stream = Stream(admin, DEFAULT_BANK, THEIRS, "s")
        pending = Stream(admin, DEFAULT_BANK, THEIRS, "pending")
        ended = stream.flush(said("I am allergic to nuts.", "e1"))
        waiting = pending.send(said("Hm.", "e1"), rule={"event_count": 9})
        direct = {"scope": THEIRS, "directMemoriesSource": {"directMemories": [{"fact": "Owns a boat."}]}}
        generated = admin.post(f"{DEFAULT_BANK}/memories:generate", direct)
        admin.settle()
        [memory, *_] = admin.memories(THEIRS)
        session = admin.post(f"{DEFAULT_BANK}/sessions", {"userId": "theirs"})["response"]
        return cls(memory["name"], [ended["name"], waiting["name"], generated["name"]], session["name"])


@pytest.fixture
def theirs(admin: Caller) -> Theirs:
    return Theirs.made(admin)


@pytest.fixture
def bound(make: Make, hold: Callable[[str], Holder]) -> Holder:
    """Who may do everything, within their own scope."""
    return hold(make(bank="default", scope="user_id=mine"))


def test_a_bound_key_has_an_error_for_each_request_of_a_batch_that_is_not_its_own(bound: Holder, admin: Caller) -> None:
    """In one batch its own scope's requests work, and those about another scope are refused and change nothing."""
    batch = f"{DEFAULT_BANK}/memories:batch"
    made = [{"memory": {"scope": scope, "fact": "Has bees."}} for scope in (MINE, THEIRS)]
    [mine, refused] = bound("POST", f"{batch}Create", {"requests": made})[1]["results"]
    assert refused["error"]["code"] == 403
    theirs = admin.post(f"{DEFAULT_BANK}/memories", made[1]["memory"])["response"]["name"]
    names = [mine["memory"]["name"], theirs]
    requests = [{"memory": {"name": name, "fact": "Has hens."}} for name in names]
    for action, body in (("Update", {"requests": requests}), ("Delete", {"names": names})):
        results = bound("POST", f"{batch}{action}", body)[1]["results"]
        assert [one.get("error", {}).get("code") for one in results] == [None, 404]
    assert admin.get(theirs)["fact"] == "Has bees."
    admin.delete(theirs)


def test_a_bound_key_does_all_in_its_own_scope(bound: Holder, service: LocalService) -> None:
    """Ingest, look, retrieve, list, edit, roll back, delete: as with any other key."""
    event = said("I live in Bern.", "e1")
    sent = bound("POST", INGEST, {"scope": MINE, "directContentsSource": {"events": [event]}, "forceFlush": True})
    service.wait_until_idle()
    assert bound("GET", sent[1]["name"])[1]["done"]
    [row] = bound("POST", f"{DEFAULT_BANK}/memories:retrieve", {"scope": MINE})[1]["retrievedMemories"]
    name = row["memory"]["name"]
    listing = bound("GET", f"{DEFAULT_BANK}/memories", filter='scope="{\\"user_id\\": \\"mine\\"}"')
    assert [memory["name"] for memory in listing[1]["memories"]] == [name]
    told = bound("GET", f"{DEFAULT_BANK}/changes", filter='scope="{\\"user_id\\": \\"mine\\"}"')[1]["changes"]
    assert name in [one.get("memory") for one in told]
    assert bound("PATCH", name, {"fact": "I live in Basel."}, updateMask="fact")[0] == 200
    revisions = bound("GET", f"{name}/revisions")[1]["memoryRevisions"]
    assert bound("GET", revisions[-1]["name"])[0] == 200
    back = {"targetRevisionId": revisions[-1]["name"].rsplit("/", 1)[1]}
    assert bound("POST", f"{name}:rollback", back)[0] == 200
    gone = bound("DELETE", name)
    assert (gone[0], bound("GET", name)[0], bound("GET", gone[1]["name"])[0]) == (200, 404, 200)


def test_a_bound_key_moves_between_its_own_scopes_alone(bound: Holder, admin: Caller) -> None:
    """It must hold both scopes; a move of others is not there for it, nor an operation that was moved away from it."""
    wide, other, moving = {**MINE, "app": "a"}, {"user_id": "other"}, f"{DEFAULT_BANK}:moveScope"
    for source, target in ((wide, THEIRS), (THEIRS, wide)):
        assert bound("POST", moving, {"scope": source, "targetScope": target})[0] == 403
        assert bound("POST", moving, {"scope": source, "targetScope": target, "dryRun": True})[0] == 403
    event = said("I live in Bern.", "e1")
    body = {"scope": wide, "directContentsSource": {"events": [event]}, "forceFlush": True}
    sent = bound("POST", INGEST, body)[1]["name"]
    admin.settle()
    own = bound("POST", moving, {"scope": wide, "targetScope": {**MINE, "app": "b"}})
    assert own[1]["response"]["moved"]["memories"] == 1
    assert (bound("GET", own[1]["name"])[0], bound("GET", sent)[0]) == (200, 200)
    away = admin.post(moving, {"scope": {**MINE, "app": "b"}, "targetScope": other})
    assert (bound("GET", away["name"])[0], bound("GET", sent)[0], bound("GET", sent, view="FULL")[0]) == (404, 404, 404)
    assert admin.get(sent)["done"]
    admin.post(f"{DEFAULT_BANK}:eraseScope", {"scope": other})


def items_of_others(admin: Caller) -> list[Document]:
    """Return the items of the table but those of the memories of the bound scope.

    On a deployed stack the sweep may still finish what earlier tests deleted there.
    """
    mine = ids.scope_id(MINE)
    return [item for item in admin.items() if mine not in item["PK"]["S"]]


def test_a_further_pair_is_within_the_binding(bound: Holder) -> None:
    """A scope that holds the binding and more is the caller's own."""
    scope = {"user_id": "mine", "app": "x"}
    assert bound("POST", f"{DEFAULT_BANK}/memories:retrieve", {"scope": scope})[0] == 200
    assert bound("POST", f"{DEFAULT_BANK}/memories:retrieve", {"scope": {"app": "x"}})[0] == 403


def test_a_bound_key_may_not_name_another_scope(bound: Holder, admin: Caller, theirs: Theirs) -> None:
    """Who names a scope that is not theirs is forbidden, and nothing is written."""
    admin.settle()  # what the tests before left under way changes the table
    before = items_of_others(admin)
    event = {"directContentsSource": {"events": [said("Poison.", "p1")]}, "scope": THEIRS}
    calls: list[tuple[str, str, Document | None, dict[str, str]]] = [
        ("POST", INGEST, event, {}),
        ("POST", f"{DEFAULT_BANK}:ingestEvents", event, {}),
        ("POST", f"{DEFAULT_BANK}/memories:generate", event, {}),
        ("POST", f"{DEFAULT_BANK}/memories", {"scope": THEIRS, "fact": "Poison."}, {}),
        ("POST", f"{DEFAULT_BANK}/memories:retrieve", {"scope": THEIRS}, {}),
        ("POST", f"{DEFAULT_BANK}/memories:retrieveProfiles", {"scope": THEIRS}, {}),
        ("GET", f"{DEFAULT_BANK}/memories", None, {"filter": 'scope="{\\"user_id\\": \\"theirs\\"}"'}),
        ("POST", f"{DEFAULT_BANK}/sessions", {"userId": "theirs"}, {}),
        ("GET", f"{DEFAULT_BANK}/sessions", None, {"filter": 'user_id="theirs"'}),
    ]
    for method, path, body, params in calls:
        status, document = bound(method, path, body, **params)
        assert (status, document["error"]["status"]) == (403, "PERMISSION_DENIED"), path
    assert items_of_others(admin) == before


def test_a_bound_key_may_not_reach_over_all_scopes(bound: Holder) -> None:
    """Lists without a scope, purges and banks are for the unbound."""
    calls: list[tuple[str, str, Document | None, dict[str, str]]] = [
        ("GET", f"{DEFAULT_BANK}/memories", None, {}),
        ("GET", f"{DEFAULT_BANK}/memories", None, {"filter": 'fact="x"'}),
        ("GET", f"{DEFAULT_BANK}/sessions", None, {}),
        ("GET", f"{DEFAULT_BANK}/operations", None, {}),
        ("POST", f"{DEFAULT_BANK}/memories:purge", {"filter": 'scope.user_id="mine"', "force": True}, {}),
        ("PATCH", DEFAULT_BANK, {"displayName": "x"}, {}),
        ("DELETE", DEFAULT_BANK, {"force": True}, {}),
        ("POST", PARENT, {}, {}),
    ]
    for method, path, body, params in calls:
        assert bound(method, path, body, **params)[0] == 403, path


def test_what_is_another_scopes_is_not_found(bound: Holder, admin: Caller, theirs: Theirs) -> None:
    """By its name another scope's memory, revision, operation or session is 404, as if it were not there (I8)."""
    calls: list[tuple[str, str, Document | None]] = [
        ("GET", theirs.memory, None),
        ("PATCH", theirs.memory, {"fact": "Poison."}),
        ("DELETE", theirs.memory, None),
        ("POST", f"{theirs.memory}:rollback", {"targetRevisionId": "1"}),
        ("GET", f"{theirs.memory}/revisions", None),
        ("GET", f"{theirs.memory}/revisions/1", None),
        ("GET", f"{theirs.memory}/operations/create-1", None),
        *(("GET", name, None) for name in theirs.operations),
        *(("GET", name.replace("/operations/", "/memories/m1/operations/"), None) for name in theirs.operations),
        *(("POST", f"{name}:{verb}", None) for name in theirs.operations for verb in ("redrive", "cancel", "wait")),
        *(("DELETE", name, None) for name in theirs.operations),
        ("GET", theirs.session, None),
        ("PATCH", theirs.session, {"displayName": "x"}),
        ("DELETE", theirs.session, None),
        ("GET", f"{theirs.session}/events", None),
        ("GET", f"{theirs.session}/operations/create", None),
        ("POST", f"{theirs.session}:appendEvent", append()),
        ("POST", f"{DEFAULT_BANK}/memories:generate", {"vertexSessionSource": {"session": theirs.session}}),
    ]
    admin.settle()  # what the tests before left under way changes the table
    before = items_of_others(admin)
    for method, path, body in calls:
        status, document = bound(method, path, body)
        assert (status, document["error"]["status"]) == (404, "NOT_FOUND"), (method, path, document)
    assert items_of_others(admin) == before


def append() -> Document:
    content = {"parts": [{"text": "Poison."}], "role": "user"}
    return {"author": "user", "invocationId": "1", "timestamp": "2026-01-01T00:00:00+00:00", "content": content}


def test_another_scopes_memory_is_no_answer_to_a_repeat(bound: Holder, admin: Caller, theirs: Theirs) -> None:
    """Under an idempotency key a taken id answers with its memory, but never with that of another scope (I8)."""
    admin.post(f"{DEFAULT_BANK}/memories", {"scope": THEIRS, "fact": "A secret."}, params={"memoryId": "taken"})
    headers = {"authorization": f"Bearer {bound.token}", "x-idempotency-key": "k"}
    url = f"{bound.service.base_url}{VERSION}/{DEFAULT_BANK}/memories"
    reply = httpx.post(url, json={"scope": MINE, "fact": "x"}, params={"memoryId": "taken"}, headers=headers)
    assert (reply.status_code, "secret" in reply.text) == (409, False)


def test_a_bound_key_has_the_sessions_of_its_user(bound: Holder) -> None:
    """A key that is bound to a user makes, continues, lists and ends that user's sessions."""
    made = bound("POST", f"{DEFAULT_BANK}/sessions", {"userId": "mine"})[1]["response"]["name"]
    assert bound("POST", f"{made}:appendEvent", append())[0] == 200
    assert len(bound("GET", f"{made}/events")[1]["sessionEvents"]) == 1
    listed = bound("GET", f"{DEFAULT_BANK}/sessions", filter='user_id="mine"')[1]["sessions"]
    assert [session["name"] for session in listed] == [made]
    assert bound("PATCH", made, {"displayName": "x"}, updateMask="displayName")[0] == 200
    assert bound("DELETE", made)[0] == 200
    assert bound("GET", f"{made}/operations/delete")[0] == 200


def test_a_key_that_is_bound_to_more_than_a_user_has_no_sessions(
    make: Make, hold: Callable[[str], Holder], theirs: Theirs
) -> None:
    """Sessions know users only: a key of an application is forbidden all of them, without a word on what there is."""
    holder = hold(make(scope="app=x"))
    for method, path in (("GET", theirs.session), ("DELETE", f"{DEFAULT_BANK}/sessions/nothing")):
        assert holder(method, path)[0] == 403
    assert holder("POST", f"{DEFAULT_BANK}/sessions", {"userId": "x"})[0] == 403


def test_a_bound_key_reaches_no_conversation(admin: Caller, make: Make, hold: Callable[[str], Holder]) -> None:
    """A conversation has no scope: a bound key neither reads nor writes one; roles part readers from writers."""
    path, who = f"{DEFAULT_BANK}/chatHistory", {"conversationId": "c 1"}
    admin.call("PUT", path, {"messages": [{"n": 1}]}, params=who)
    bound, reader = hold(make(scope="user_id=mine")), hold(make("read"))
    for method, body in (("GET", None), ("PUT", {"messages": []}), ("DELETE", None)):
        assert bound(method, path, body, **who)[0] == 403
    for holder in (bound, reader):
        assert holder("POST", f"{path}:append", {"messages": [{"n": 2}]}, **who)[0] == 403
    assert reader("GET", path, **who)[1]["messages"] == [{"n": 1}]
    assert reader("PUT", path, {"messages": []}, **who)[0] == 403
    assert reader("DELETE", path, **who)[0] == 403
    assert admin.get(path, params=who)["messages"] == [{"n": 1}]


def test_an_export_is_no_way_into_another_bank(admin: Caller, make: Make, hold: Callable[[str], Holder]) -> None:
    """Who imports must know the bank that exported, as an admin of no scope; others are not told that there is one."""
    bank, other = admin.bank(), admin.bank()
    done = admin.post(f"{bank}:export", {})
    body, id_of = {"source": done["response"]["source"]}, other.rsplit("/", 1)[-1]
    mine = hold(make(bank=id_of))
    assert mine("POST", f"{other}:import", body)[0] == 404
    assert mine("POST", f"{other}:import", {"source": f"{id_of}/export-1/manifest.json"})[0] == 400
    assert mine("GET", done["name"])[0] == 404
    for holder in (hold(make("read", "edit")), hold(make(scope="user_id=mine"))):
        assert holder("POST", f"{other}:import", body)[0] == 403
        assert holder("POST", f"{bank}:export", {"scope": MINE})[0] == 403
    assert hold(make(scope="user_id=mine"))("GET", done["name"])[0] == 403
    assert hold(make())("POST", f"{other}:import", body)[1]["done"]
