"""Threats, over HTTP (docs/threats.md): other people's data by every route, forgeries, hostile bodies, replays."""

from __future__ import annotations

import gzip
import http.client
import io
import json
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import pytest

from infra.openapi.document import full_path
from streambank import telemetry
from streambank.api.app import ROUTER
from streambank.api.route import Route
from streambank.model import ids
from streambank.model.api_key import Token
from streambank.wire import parameters
from streambank_local.command import stack_keys as keys
from streambank_local.service import LocalService
from tests.journeys import tenants
from tests.journeys.caller import DEFAULT_BANK, PARENT, VERSION, Caller, Document, Stream, said
from tests.journeys.tenants import MARK, THEIRS, Asked, Tenant, turn
from tests.stack.deployed import Deployed

pytestmark = pytest.mark.parametrize("service", [{"AuthMode": "keys"}], indirect=True, scope="package")

ALL_ROLES = ("ingest", "read", "edit", "admin")
MINE = {"user_id": "mine"}
Make = Callable[..., str]
# What a refusal may be long; none of ours is near it.
SHORT = 20_000


@pytest.fixture
def make(service: LocalService, capsys: pytest.CaptureFixture[str]) -> Make:
    """Make a key of all roles with the command and return it."""

    def make(*, bank: str = "", scope: str = "") -> str:
        where = ["--bank", bank] if bank else ["--all-banks"]
        bound = ["--scope", scope] if scope else []
        roles = [word for role in ALL_ROLES for word in ("--role", role)]
        assert keys.main(["create", "--table", service.stack.table_name, *where, *roles, *bound]) == 0
        return capsys.readouterr().out.strip()

    return make


@contextmanager
def holding(service: LocalService, token: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=service.base_url, headers={"authorization": f"Bearer {token}"}, timeout=60) as client:
        yield client


@pytest.fixture
def admin(service: LocalService, make: Make) -> Iterator[Caller]:
    with holding(service, make()) as client:
        yield Caller(service, client)


@pytest.fixture
def theirs(admin: Caller) -> Tenant:
    """A bank that is full of what nobody else may see."""
    made = admin.post(PARENT, {"displayName": MARK, "description": MARK})["response"]["name"]
    return Tenant.planted(admin, made)


@pytest.fixture
def mine(admin: Caller) -> str:
    return admin.bank().rsplit("/", 1)[1]


@pytest.fixture
def me(service: LocalService, make: Make, mine: str) -> Iterator[httpx.Client]:
    """Who may do everything in a bank of their own."""
    with holding(service, make(bank=mine)) as client:
        yield client


def sent(client: httpx.Client, asked: Asked) -> tuple[int, str]:
    reply = client.request(asked.route.method, asked.path, json=asked.body, params=asked.probe.query)
    assert reply.status_code < 500, (asked.path, reply.text)
    assert MARK not in reply.text.replace(quoted(asked), ""), (asked.path, reply.text)
    return reply.status_code, reply.text


def quoted(asked: Asked) -> str:
    """Return the part of a request that a refusal may repeat though it holds the mark."""
    return asked.probe.query.get("filter", "\0")


def nameless(answer: tuple[int, str], asked: Asked) -> tuple[int, str]:
    """Return an answer without the names that were asked for: two of them can be compared."""
    text = answer[1]
    for kind in ("operation", "session", "review", "memory", "bank"):
        text = text.replace(asked.ids[kind], kind)
    return answer[0], text


# ---- other people's data by every route


def test_no_route_answers_without_a_key(service: LocalService, theirs: Tenant) -> None:
    """Every route of every spelling is 401 in the same words, whether what it names is there or not."""
    with holding(service, "nobody") as nobody:
        answers = {sent(nobody, asked)[0] for asked in tenants.walk(theirs)}
        answers |= {
            nobody.request(tenants.BY_NAME[name].method, f"{VERSION}/{PARENT}").status_code for name in tenants.ABOVE
        }
    assert answers == {401}


def test_no_route_shows_or_changes_another_bank(admin: Caller, theirs: Tenant, me: httpx.Client, mine: str) -> None:
    """For a key of one bank every route of another is 404, in the words of a bank that never was (I8)."""
    before = admin.items()
    for asked in tenants.walk(theirs):
        answer, none = sent(me, asked), sent(me, nobody := asked.about(bank="999"))
        assert answer[0] == 404, (asked.path, answer)
        assert nameless(answer, asked) == nameless(none, nobody)
    for name, status in tenants.ABOVE.items():
        reply = me.request(
            tenants.BY_NAME[name].method, f"{VERSION}/{PARENT}", json={} if name == "createBank" else None
        )
        assert (reply.status_code, MARK in reply.text, theirs.bank in reply.text) == (status, False, False)
    assert admin.items() == before


def test_no_route_takes_another_banks_ids_in_ones_own(
    theirs: Tenant, me: httpx.Client, mine: str, admin: Caller
) -> None:
    """In one's own bank another's memory, session or operation is what was never there, in path and body."""
    asked_about = [asked.about(bank=mine) for asked in tenants.walk(theirs) if asked.names_something]
    assert {asked.route.name for asked in asked_about} >= {
        "generateMemories",
        "getMemory",
        "getSession",
        "getOperation",
    }
    export = admin.post(f"{PARENT}/{theirs.bank}:export", {})["response"]["source"]
    before = [item for item in admin.items() if theirs.bank in str(item)]
    for asked in asked_about:
        nothing = asked.about_nothing()
        assert nameless(sent(me, asked), asked) == nameless(sent(me, nothing), nothing), asked.path
    source = {"session": f"{PARENT}/{theirs.bank}/sessions/{theirs.ids['session'][0]}"}
    reply = me.post(f"{VERSION}/{PARENT}/{mine}/memories:generate", json={"vertexSessionSource": source})
    assert (reply.status_code, MARK in reply.text) == (404, False)
    sources = (export, export.replace(theirs.bank, "999"))
    found, none = (me.post(f"{VERSION}/{PARENT}/{mine}:import", json={"source": one}) for one in sources)
    assert (found.status_code, found.text.replace(theirs.bank, "999")) == (404, none.text)
    assert [item for item in admin.items() if theirs.bank in str(item)] == before


def test_no_route_lets_a_bound_key_out_of_its_scope(
    service: LocalService, admin: Caller, theirs: Tenant, make: Make
) -> None:
    """A key of the bank that another scope binds: what it names is 403, what it finds by id was never there (I8)."""
    key, before = make(bank=theirs.bank, scope="user_id=mine"), admin.items()
    with holding(service, key) as bound:
        for asked in tenants.walk(theirs, tenants.SPELLINGS[:1]):
            answer = bound.request(asked.route.method, asked.path, json=asked.body, params=asked.probe.query)
            is_shown = asked.route.name in {"getBank", "getBankCreation", "getBankUpdate"}
            assert is_shown or MARK not in answer.text.replace(quoted(asked), ""), (asked.path, answer.text)
            is_everybodys = asked.ids["operation"].endswith("-0") and "{operation}" in asked.route.path
            assert is_everybodys or answer.status_code == asked.probe.bound, (asked.path, answer.text)
            if asked.names_something:
                nothing = asked.about_nothing()
                expected = nameless(sent(bound, nothing), nothing)
                assert nameless((answer.status_code, answer.text), asked) == expected, asked.path
    assert admin.items() == before


# ---- forged names and tokens


FORGED_OPERATIONS = [
    *("{sid}", "{sid}-01", "{SID}-1", "{sid}-\u0661", "{sid}-\uff11", "{sid}-{big}", "{sid}-1-G"),
    *("{sid}-1%0A", "{sid}-1%23", "erase-{sid}-0", "erase-{sid}-9", "erase-\uff11"),
]


@pytest.mark.parametrize("forged", FORGED_OPERATIONS)
def test_a_forged_operation_is_not_found(admin: Caller, forged: str) -> None:
    """Whatever is done with it: a name that we did not write leads nowhere, though its stream is there."""
    stream = admin.stream()
    sid = stream.send(said("Hm.", "e1"), rule={"event_count": 9})["name"].rsplit("/", 1)[1].partition("-")[0]
    name = forged.format(sid=sid, SID=sid.upper(), big=10**12)
    path = f"{VERSION}/{DEFAULT_BANK}/operations/{name}"
    for method, verb in (("GET", ""), ("DELETE", ""), ("POST", ":redrive"), ("POST", ":cancel"), ("POST", ":wait")):
        assert admin.client.request(method, path + verb).status_code == 404, (method, verb)
    assert admin.client.get(f"{VERSION}/{DEFAULT_BANK}/memories/m/operations/{name}").status_code == 404


PAGED = (
    "listBanks",
    "listMemories",
    "listRevisions",
    "listSessions",
    "listSessionEvents",
    "listOperations",
    "listStreams",
    "listReviews",
    "listChanges",
)
RETRIEVED = "retrieveMemories"


def paged(admin: Caller) -> dict[str, str]:
    """Return the path of every list of a new bank that has two of everything."""
    bank = admin.bank(review_policy={"actions": ["CREATED"]})
    Stream(admin, bank, MINE, "reviewed").flush(said("I keep bees."), said("I drive a van."))
    for number in range(2):
        admin.post(f"{bank}/memories", {"scope": MINE, "fact": "Likes tea."}, params={"memoryId": f"m{number}"})
        session = admin.post(f"{bank}/sessions", {"userId": "mine"})["response"]["name"]
        Stream(admin, bank, MINE, f"s{number}").send(said("Hm.", "e1"), rule={"event_count": 9})
        admin.post(f"{session}:appendEvent", turn("Hm."))
        admin.post(f"{session}:appendEvent", turn("Hm."))
    admin.call("PATCH", f"{bank}/memories/m0", {"fact": "Likes jam."})
    kept = [PARENT, f"{bank}/memories", f"{bank}/memories/m0/revisions", f"{bank}/sessions", f"{session}/events"]
    return dict(
        zip(
            (*PAGED, RETRIEVED),
            [
                *kept,
                *(
                    f"{bank}/{one}"
                    for one in ("operations", "streams", "memories:reviews", "changes", "memories:retrieve")
                ),
            ],
            strict=True,
        )
    )


def page(admin: Caller, kind: str, path: str, token: str = "") -> httpx.Response:
    """Ask for one row of a list, after *token*."""
    if kind == RETRIEVED:
        body = {"scope": MINE, "simpleRetrievalParams": {"pageSize": 1, "pageToken": token}}
        return admin.client.post(f"{VERSION}/{path}", json=body)
    more = {"pageToken": token} if token else {}
    return admin.client.get(f"{VERSION}/{path}", params={"pageSize": "1", **more})


def test_a_page_token_opens_the_list_that_it_is_of_and_no_other(admin: Caller) -> None:
    """Each list's token is 400 on each other list, on the same list of another bank, and with an end cut off."""
    lists, others = paged(admin), paged(admin)
    assert {route.name for route in ROUTER.routes if parameters.PAGE_TOKEN in route.parameters} == set(PAGED)
    tokens = {kind: page(admin, kind, path).json()["nextPageToken"] for kind, path in lists.items()}
    for kind, token in tokens.items():
        assert page(admin, kind, lists[kind], token).status_code == 200
        bad = [page(admin, other, path, token) for other, path in lists.items() if other != kind]
        bad += [page(admin, kind, others[kind], token)] if kind != "listBanks" else []
        bad += [page(admin, kind, lists[kind], forged) for forged in (token[:-1], token[4:], token.swapcase())]
        assert {reply.status_code for reply in bad} == {400}, kind
        assert all("pageToken" in reply.text.replace("page_token", "pageToken") for reply in bad)


# ---- bodies


ASKING = {route.name: route for route in ROUTER.routes if route.body}
# One of each function, of each limit, and of each way in which a body is read; the slow suite tries them all.
TYPICAL = {"ingestEvents", "retrieveMemories", "createMemory", "updateSession", "storeChatHistory"}
EACH_ROUTE = [pytest.param(name, marks=[] if name in TYPICAL else [pytest.mark.slow]) for name in ASKING]
LONG = "x" * 500_000


@pytest.fixture
def target(admin: Caller) -> dict[str, str]:
    """What the bodies are sent to: the ids of things that are there."""
    bank = admin.bank()
    memory = admin.post(f"{bank}/memories", {"scope": MINE, "fact": "Likes tea."})["response"]["name"]
    session = admin.post(f"{bank}/sessions", {"userId": "mine"})["response"]["name"]
    operation = admin.stream(bank=bank).send(said("Hm."), rule={"event_count": 9})["name"]
    names = {"bank": bank, "memory": memory, "session": session, "operation": operation}
    return {kind: name.rsplit("/", 1)[1] for kind, name in names.items()}


def path_of(route: Route, target: dict[str, str]) -> str:
    return full_path(route).format(project="demo", location="here", **target)


def post(admin: Caller, route: Route, target: dict[str, str], raw: bytes, **headers: str) -> httpx.Response:
    params = {"conversationId": "c"} if "chatHistory" in route.path else {}
    sent_headers = {"content-type": "application/json", **headers}
    return admin.client.request(route.method, path_of(route, target), content=raw, params=params, headers=sent_headers)


@pytest.mark.parametrize("name", EACH_ROUTE)
def test_every_route_bounds_its_body(admin: Caller, target: dict[str, str], name: str) -> None:
    """Too large is 413, 100,000 levels and an endless name are 400; none of these refusals is long."""
    route = ASKING[name]
    limit = 5 * 1024 * 1024 if name in {"storeChatHistory", "appendChatHistory"} else 4_000_000
    cases = {
        b'{"a": "' + b"x" * limit + b'"}': 413,
        b'{"a":' * 100_000: 400,
        b"[" * 100_000 + b"]" * 100_000: 400,
        json.dumps({LONG: 1}).encode(): 400,
        b'{"a":' + b"1" * 100_000 + b"}": 400,
        b"[" + b"[]," * 100_000 + b"[]]": 400,
    }
    for raw, status in cases.items():
        reply = post(admin, route, target, raw)
        assert reply.status_code == status, (raw[:20], reply.text[:200])
        assert len(reply.content) < SHORT


def test_no_route_unpacks_a_body(admin: Caller, target: dict[str, str]) -> None:
    """A packed body is no JSON, whatever `content-encoding` says: nothing grows."""
    before, packed = admin.items(), gzip.compress(b'{"scope": {"user_id": "u"}}')
    for route, coding in product(ASKING.values(), ("gzip", "deflate", "br", "x-gzip, gzip")):
        reply = post(admin, route, target, packed, **{"content-encoding": coding})
        assert reply.status_code == 400, (route.name, reply.text)
    assert admin.items() == before


def hostile_values() -> dict[str, Any]:
    deep: Any = "bottom"
    for _ in range(400):
        deep = {"a": deep}
    return {
        "deep": deep,
        "a number": 10**4_000,
        "a long list": [[]] * 10_000,
        "half": "\ud800",
        "a map": {LONG: 1},
    }


# Taken and not looked at: what is shown is always the service's own.
READ_ONLY = {"name", "createTime", "updateTime"}


@pytest.mark.parametrize("name", EACH_ROUTE)
def test_every_field_bounds_its_value(admin: Caller, target: dict[str, str], name: str) -> None:
    """In every field of every body 400 levels, 4,000 digits or an endless name are no fault of ours."""
    route = ASKING[name]
    assert route.body
    for spelled, (kind, value) in (
        (one, two) for one in sorted(route.body.model_fields) for two in hostile_values().items()
    ):
        field = route.body.model_fields[spelled].alias or spelled
        reply = post(admin, route, target, json.dumps({field: value}).encode())
        is_refused = reply.status_code in {400, 413}
        assert is_refused or (field in READ_ONLY and reply.status_code == 200), (field, kind, reply.text[:300])
        assert len(reply.content) < SHORT, (field, kind)


# ---- fields that are the server's


INVENTED = ("revision", "deleted", "bank", "principal", "roles", "vector", "etag", "PK", "version", "done", "__proto__")
OF_MEMORIES = ("memoryType", "createTime", "updateTime", "sources", *INVENTED)
BASES: dict[str, tuple[Document, tuple[str, ...]]] = {
    "createBank": ({}, ("createTime", "updateTime", *INVENTED)),
    "updateBank": ({"displayName": "x"}, ("createTime", "updateTime", *INVENTED)),
    "createMemory": ({"scope": MINE, "fact": "x"}, OF_MEMORIES),
    "updateMemory": ({"fact": "x"}, OF_MEMORIES),
    "createSession": ({"userId": "mine"}, ("events", "state", *INVENTED)),
    "updateSession": ({"displayName": "x"}, ("events", "state", *INVENTED)),
    "appendEvent": (turn("x"), ("createTime", "sequence", *INVENTED)),
    "ingestEvents": ({"scope": MINE}, ("window", "pendingEvents", "acceptedEvents", *INVENTED)),
    "appendChatHistory": ({"messages": [{}]}, ("conversationId", "updateTime", "messageCount", *INVENTED)),
    "storeChatHistory": ({"messages": []}, ("conversationId", "updateTime", "expireTime", *INVENTED)),
}


def test_a_field_of_the_servers_is_refused(admin: Caller, target: dict[str, str]) -> None:
    """What only the service decides is no field of a request: 400 by its name, nothing stored."""
    before = admin.items()
    for name, (base, fields) in BASES.items():
        for field in fields:
            reply = post(admin, ASKING[name], target, json.dumps({**base, field: "forged"}).encode())
            assert (reply.status_code, "unknown field" in reply.text) == (400, True), (name, field, reply.text)
    assert admin.items() == before


def test_a_field_that_is_read_only_is_not_looked_at(admin: Caller, mine: str) -> None:
    """A name or a time that comes along with a resource changes neither, nor anybody else's resource."""
    bank, forged = f"{PARENT}/{mine}", {"name": DEFAULT_BANK, "createTime": "2000-01-01T00:00:00Z", "updateTime": "x"}
    made = admin.post(f"{bank}/sessions", {"userId": "mine", **forged})["response"]
    assert made["name"].startswith(f"{bank}/sessions/")
    assert not made["createTime"].startswith("2000")
    changed = admin.call("PATCH", made["name"], {"displayName": "x", **forged, "name": f"{bank}/sessions/other"})
    assert (changed["name"], changed["createTime"]) == (made["name"], made["createTime"])
    one, two = (
        admin.post(f"{bank}/memories", {"scope": MINE, "fact": fact, "name": f"{bank}/memories/forged"})["response"]
        for fact in ("Likes tea.", "Likes jam.")
    )
    assert not one["name"].endswith("forged")
    admin.call("PATCH", one["name"], {"fact": "Likes gin.", "name": two["name"]})
    assert (admin.get(one["name"])["fact"], admin.get(two["name"])["fact"]) == ("Likes gin.", "Likes jam.")
    new = admin.post(PARENT, {"displayName": "x", "name": DEFAULT_BANK})["response"]["name"]
    assert new not in {DEFAULT_BANK, bank}


def test_no_caller_takes_the_id_of_anothers_memory(service: LocalService, admin: Caller, make: Make, mine: str) -> None:
    """A bound key takes every id that can be worked out from what is public: another user's memory is made at once."""
    sid, path = ids.stream_key(THEIRS, ""), f"{VERSION}/{PARENT}/{mine}/memories"
    worked_out = "m" + ids.digest("memory", sid, "1", "0")
    reserved = ids.secret_id(b"", "window", mine, sid, "1", "0", "0")
    with holding(service, make(bank=mine, scope="user_id=mine")) as mallory:
        replies = [
            mallory.post(path, params={"memoryId": name}, json={"scope": MINE, "fact": "Taken."})
            for name in (worked_out, reserved)
        ]
    assert [reply.status_code for reply in replies] == [200, 400]
    assert "memoryId" in replies[1].text
    operation = admin.stream(bank=f"{PARENT}/{mine}", scope=THEIRS).flush(said("I keep bees."))
    assert operation["metadata"]["state"] == "DONE"
    assert operation["metadata"]["attempts"] == 1
    [made] = admin.post(f"{PARENT}/{mine}/memories:retrieve", {"scope": THEIRS})["retrievedMemories"]
    assert re.fullmatch("0[a-z2-7]{26}", made["memory"]["name"].rpartition("/")[2])


# ---- replays


def test_a_key_of_one_scope_stream_or_bank_repeats_nothing_in_another(admin: Caller, mine: str) -> None:
    """X-Idempotency-Key belongs to the stream: sent again elsewhere it is a new call."""
    headers = {"x-idempotency-key": "k"}
    body = {
        "directContentsSource": {"events": [said(MARK)]},
        "generationTriggerConfig": {"generation_rule": {"event_count": 9}},
    }
    first = {"scope": THEIRS, "streamId": "a"}
    places = [
        (mine, first),
        (mine, {"scope": MINE, "streamId": "a"}),
        (mine, {"scope": THEIRS, "streamId": "b"}),
        (admin.bank().rsplit("/", 1)[1], first),
    ]
    replies = [
        admin.post(f"{PARENT}/{bank}/memories:ingestEvents", {**body, **where}, headers=headers)
        for bank, where in places
    ]
    assert [reply["metadata"]["acceptedEvents"] for reply in replies] == [1, 1, 1, 1]
    assert len({reply["name"] for reply in replies}) == 4
    again = admin.post(f"{PARENT}/{mine}/memories:ingestEvents", {**body, **first}, headers=headers)
    assert (again["name"], again["metadata"]["acceptedEvents"]) == (replies[0]["name"], 0)


@pytest.mark.parametrize("route", ["memories", "memories:generate"])
def test_a_key_of_another_principal_shows_nothing(
    service: LocalService, admin: Caller, make: Make, mine: str, route: str
) -> None:
    """Under the same key a bound caller gets an answer of its own scope, never the one that was given before."""
    fact = {"fact": MARK} if route == "memories" else {"directMemoriesSource": {"directMemories": [{"fact": MARK}]}}
    path, headers = f"{VERSION}/{PARENT}/{mine}/{route}", {"x-idempotency-key": "k"}
    first = admin.client.post(path, json={"scope": THEIRS, **fact}, headers=headers)
    admin.settle()
    own = {"fact": "Tea."} if route == "memories" else {"directMemoriesSource": {"directMemories": [{"fact": "Tea."}]}}
    with holding(service, make(bank=mine, scope="user_id=mine")) as bound:
        second = bound.post(path, json={"scope": MINE, **own}, headers=headers)
        third = bound.post(path, json={"scope": THEIRS, **fact}, headers=headers)
    assert (first.status_code, second.status_code, third.status_code) == (200, 200, 403)
    assert second.json()["name"] != first.json()["name"]
    assert MARK not in second.text + third.text


def test_an_event_id_of_one_stream_is_new_in_another(admin: Caller, mine: str) -> None:
    """Ids are remembered stream by stream: nobody's events are lost to a guess of another's ids, nor betrayed by it."""
    bank = f"{PARENT}/{mine}"
    for scope, name in ((THEIRS, "a"), (THEIRS, "b"), (MINE, "a")):
        stream = Stream(admin, bank, scope, name)
        sent_first = stream.send(said("Hm.", "e1"), rule={"event_count": 9})["metadata"]
        sent_again = stream.send(said("Hm.", "e1"))["metadata"]
        assert (sent_first["acceptedEvents"], sent_first.get("duplicateEvents", 0)) == (1, 0)
        assert (sent_again.get("acceptedEvents", 0), sent_again["duplicateEvents"]) == (0, 1)


def test_a_token_that_is_used_after_a_deletion_brings_nothing_back(admin: Caller) -> None:
    """It goes on behind what was deleted; of a new session under an old name, and of a deleted bank, it is none."""
    lists = paged(admin)
    bank, events = lists["listMemories"].removesuffix("/memories"), lists["listSessionEvents"]
    token = page(admin, "listMemories", lists["listMemories"]).json()
    end = token["memories"][0]["name"]
    admin.delete(end)
    after = page(admin, "listMemories", lists["listMemories"], token["nextPageToken"]).json()
    assert [row["name"] for row in after["memories"]] == [
        one for one in (f"{bank}/memories/m0", f"{bank}/memories/m1") if one != end
    ]
    of_events = page(admin, "listSessionEvents", events).json()["nextPageToken"]
    session = events.removesuffix("/events")
    admin.delete(session)
    assert page(admin, "listSessionEvents", events, of_events).status_code == 404
    admin.post(f"{bank}/sessions", {"userId": "other"}, params={"sessionId": session.rsplit("/", 1)[1]})
    admin.post(f"{session}:appendEvent", turn("Hm."))
    assert page(admin, "listSessionEvents", events, of_events).status_code == 400
    admin.delete(bank, {"force": True})
    assert page(admin, "listMemories", lists["listMemories"], token["nextPageToken"]).status_code == 404


# ---- headers and paths, as no client library would send them


Headers = list[tuple[str, str]]


def raw(service: LocalService, method: str, target: str, headers: Headers) -> tuple[int, str]:
    """Send a request whose path and headers nobody mends on the way."""
    connection = http.client.HTTPConnection(urlsplit(service.base_url).netloc, timeout=60)
    connection.putrequest(method, target, skip_accept_encoding=True)
    for name, value in headers:
        connection.putheader(name, value)
    connection.endheaders()
    reply = connection.getresponse()
    text = reply.read().decode()
    connection.close()
    return reply.status, text


def test_a_header_that_comes_twice_opens_nothing(service: LocalService, make: Make) -> None:
    """Two tokens are none, in whatever order, header or case; one is taken in any case."""
    key, other, path = make(), make(), f"{VERSION}/{DEFAULT_BANK}"
    bearer = f"Bearer {key}"
    alone: list[Headers] = [[("aUtHoRiZaTiOn", f"bEaReR {key}")], [("X-GOOG-API-KEY", key)]]
    assert [raw(service, "GET", path, headers)[0] for headers in alone] == [200, 200]
    twice: list[Headers] = [
        [("Authorization", bearer), ("authorization", f"Bearer {other}")],
        [("Authorization", bearer), ("AUTHORIZATION", "Bearer x")],
        [("Authorization", "Bearer x"), ("Authorization", bearer)],
        [("Authorization", "Basic x"), ("Authorization", bearer)],
        [("x-goog-api-key", key), ("X-Goog-Api-Key", other)],
        [("x-goog-api-key", key), ("Authorization", f"Bearer {other}")],
        [("Authorization", f"Bearer {key},{key}")],
        [("Cookie", f"authorization=Bearer {key}; x-goog-api-key={key}")],
        [("X-Api-Key", key)],
        [("Proxy-Authorization", bearer)],
    ]
    for headers in twice:
        status, text = raw(service, "GET", path, headers)
        assert (status, key in text) == (401, False), headers
    for query in (f"?key={key}", f"?access_token={key}", f"?authorization=Bearer%20{key}"):
        assert raw(service, "GET", path + query, [])[0] == 401


CLAIMS = {
    "X-HTTP-Method-Override": "DELETE",
    "X-Method-Override": "DELETE",
    "X-Original-URL": f"{VERSION}/{DEFAULT_BANK}/memories",
    "X-Rewrite-URL": f"{VERSION}/{DEFAULT_BANK}/memories",
    "X-Forwarded-Prefix": "/v1",
    "X-Forwarded-Host": "elsewhere.example",
    "X-Forwarded-User": "admin",
    "X-User-Id": "theirs",
    "X-Amzn-Oidc-Identity": "admin",
    "X-Amz-Security-Token": "x",
    "X-Streambank-Scope": "{}",
}


def test_no_header_changes_method_path_or_caller(service: LocalService, admin: Caller, make: Make, mine: str) -> None:
    """What proxies and frameworks elsewhere believe of a header is believed here of none."""
    made = admin.post(f"{PARENT}/{mine}/memories", {"scope": MINE, "fact": "Likes tea."})["response"]
    hidden = admin.post(f"{PARENT}/{mine}/memories", {"scope": THEIRS, "fact": MARK})["response"]
    key = ("authorization", f"Bearer {make(bank=mine, scope='user_id=mine')}")
    for header in CLAIMS.items():
        assert raw(service, "GET", f"{VERSION}/{made['name']}", [key, header]) == (
            200,
            json.dumps(made, separators=(",", ":")),
        )
        status, text = raw(service, "GET", f"{VERSION}/{hidden['name']}", [key, header])
        assert (status, MARK in text) == (404, False), header
    assert admin.get(made["name"]) == made


CONFUSED = [
    "{mine}/../{theirs}/memories/{memory}",
    "{mine}/%2e%2e/{theirs}/memories/{memory}",
    "{mine}%2F..%2F{theirs}/memories/{memory}",
    "{mine}%2f%2e%2e%2f{theirs}%2fmemories%2f{memory}",
    "{mine}%252F..%252F{theirs}/memories/{memory}",
    "{mine}//memories/{memory}",
    "{mine}/memories//{memory}",
    "{mine}/./memories/{memory}",
    "{mine}/memories/..%2F..%2F{theirs}%2Fmemories%2F{memory}",
    "{mine}/memories/{memory}/../../../{theirs}/memories/{memory}",
    "{mine};{theirs}/memories/{memory}",
    "{mine}%00{theirs}/memories/{memory}",
    "{mine}%23{theirs}/memories/{memory}",
    "{mine}%0a{theirs}/memories/{memory}",
    "{mine}:{theirs}/memories/{memory}",
    "{theirs}/memories/{memory}?bank={mine}",
    "{theirs}/memories/{memory}/",
    "{THEIRS}/memories/{memory}",
    "{mine}\\..\\{theirs}/memories/{memory}",
    "*/memories/{memory}",
    "%2A/memories/{memory}",
    "/memories/{memory}",
    "{mine}/reasoningEngines/{theirs}/memories/{memory}",
    "{mine}/memories/{memory}%2Frevisions",
    "{fullwidth}/memories/{memory}",
]


METHODS = ("GET", "DELETE", "PATCH", "POST", "PUT", "HEAD", "OPTIONS")


def test_no_path_leads_out_of_the_bank_that_it_names(
    service: LocalService, admin: Caller, theirs: Tenant, make: Make, mine: str
) -> None:
    """Dots, slashes in every coding, separators and other scripts' digits are names that nothing has."""
    key, before = ("authorization", f"Bearer {make(bank=mine)}"), admin.items()
    names = {"mine": mine, "theirs": theirs.bank, "memory": theirs.ids["memory"][0], "THEIRS": theirs.bank.upper()}
    names["fullwidth"] = quote("".join(chr(ord(letter) + 0xFEE0) for letter in theirs.bank))
    for pattern, parent, method in product(CONFUSED, (f"{VERSION}/{PARENT}", f"/%76%31//{PARENT}"), METHODS):
        status, text = raw(service, method, f"{parent}/{pattern.format(**names)}", [key])
        # A path of the caller's own bank may have other methods; of a bank that it may not know, nothing is told.
        allowed = {404, 405} if pattern.startswith("{mine}/memories") else {404}
        assert (status in allowed, MARK in text) == (True, False), (method, parent, pattern, text)
    assert admin.items() == before


def test_a_project_is_only_echoed(admin: Caller, theirs: Tenant, me: httpx.Client, mine: str) -> None:
    """Another bank's name in the place of project and location opens nothing; the bank is the last that is named."""
    for project in (theirs.bank, f"reasoningEngines%2F{theirs.bank}"):
        path = f"/v1/projects/{project}/locations/{theirs.bank}/reasoningEngines/{mine}"
        reply = me.get(f"{path}/memories/{theirs.ids['memory'][0]}")
        assert (reply.status_code, MARK in reply.text) == (404, False)


# ---- logs and error bodies


HOSTILE = f'{MARK}"}}\r\n{{"level": "ERROR", "message": "forged"}}\x1b[2J\u2028\x85'
PRINTABLE = f'{MARK}"}} {{"level":"ERROR"}}'


@pytest.fixture
def logged() -> Iterator[Callable[[], list[list[str]]]]:
    """What is logged at INFO and above, by the service's logger in its own format and by everybody else in any."""
    if Deployed.named():
        pytest.skip("needs the service in this process")
    streams = io.StringIO(), io.StringIO()
    handlers = [logging.StreamHandler(stream) for stream in streams]
    handlers[0].setFormatter(telemetry.LOGGER.registered_formatter)
    loggers = logging.getLogger(telemetry.LOGGER.name), logging.getLogger()
    for logger, handler in zip(loggers, handlers, strict=True):
        handler.setLevel(logging.INFO)
        logger.addHandler(handler)
    level = loggers[0].level
    loggers[0].setLevel(logging.INFO)
    yield lambda: [[line for line in stream.getvalue().split("\n") if line] for stream in streams]
    loggers[0].setLevel(level)
    for logger, handler in zip(loggers, handlers, strict=True):
        logger.removeHandler(handler)


HOSTILE_SCOPE = {"user_id": HOSTILE, HOSTILE[:200]: "x"}


def hostile_calls(bank: str) -> list[tuple[str, str, Document | None, dict[str, str]]]:
    scope = HOSTILE_SCOPE
    window = {
        "revisionLabels": {HOSTILE: HOSTILE},
        "metadata": {HOSTILE: {"stringValue": HOSTILE}},
        "streamId": HOSTILE,
    }
    events = {"directContentsSource": {"events": [said(f"I live in {HOSTILE}.", HOSTILE)]}}
    memory = {"scope": scope, "fact": HOSTILE, "displayName": HOSTILE, "description": HOSTILE}
    session = {
        "userId": HOSTILE,
        "displayName": HOSTILE,
        "labels": {HOSTILE: HOSTILE},
        "sessionState": {HOSTILE: HOSTILE},
    }
    return [
        ("POST", f"{bank}/memories:ingestEvents", {"scope": scope, **events, **window, "forceFlush": True}, {}),
        ("POST", f"{bank}/memories:generate", {"scope": scope, **events}, {}),
        ("POST", f"{bank}/memories", memory, {}),
        ("POST", f"{bank}/memories:retrieve", {"scope": scope, "similaritySearchParams": {"searchQuery": HOSTILE}}, {}),
        ("POST", f"{bank}/sessions", session, {}),
        ("PUT", f"{bank}/chatHistory", {"messages": [{HOSTILE: HOSTILE}]}, {"conversationId": HOSTILE}),
        ("PATCH", bank, {"displayName": HOSTILE, "description": HOSTILE}, {}),
        ("GET", f"{bank}/memories", None, {"filter": HOSTILE, "pageToken": HOSTILE, "orderBy": HOSTILE}),
        ("GET", f"{bank}/memories/{quote(HOSTILE, safe='')}", None, {}),
        ("GET", f"{bank}/operations/{quote(HOSTILE, safe='')}", None, {}),
        ("GET", f"{bank}/{quote(HOSTILE, safe='')}", None, {HOSTILE: HOSTILE}),
        ("POST", f"{bank}/memories:ingestEvents", {HOSTILE: HOSTILE}, {}),
    ]


def test_nothing_that_is_said_is_logged(admin: Caller, mine: str, logged: Callable[[], list[list[str]]]) -> None:
    """Text in events, ids, names, labels, paths, queries and headers is in no line at INFO; each line is one JSON."""
    headers = {
        "x-idempotency-key": PRINTABLE,
        "user-agent": PRINTABLE,
        "x-goog-user-project": PRINTABLE,
        PRINTABLE[:7]: "x",
    }
    bank = f"{PARENT}/{mine}"
    erasure = "POST", f"{bank}:eraseScope", {"scope": HOSTILE_SCOPE}, {}
    for calls in (hostile_calls(bank), [erasure]):
        for method, path, body, params in calls:
            reply = admin.client.request(method, f"{VERSION}/{path}", json=body, params=params, headers=headers)
            assert reply.status_code < 500, (path, reply.text)
        admin.settle()  # or the erasure might leave a generation nothing to commit
    admin.advance(minutes=2)
    ours, everybodys = logged()
    others = [line for line in everybodys if not line.startswith("HTTP Request: ")]  # the test's own client
    assert [line for line in (*ours, *others) if MARK in line or "forged" in line] == []
    assert {telemetry.INGESTED, telemetry.COMMITTED, telemetry.SWEPT} <= {json.loads(line)["message"] for line in ours}


def test_no_answer_repeats_a_secret(service: LocalService, admin: Caller, make: Make) -> None:
    """Keys, wrong keys, idempotency keys and etags are in no error's body: it may end in somebody's log."""
    token = Token.parse(make())
    assert token
    wrong, long = Token(token.key_id, token.secret[::-1]).reveal(), MARK * 60
    path, body = f"{VERSION}/{DEFAULT_BANK}/memories:ingestEvents", {"scope": MINE}
    texts = [
        raw(service, "GET", path, [("authorization", f"Bearer {wrong}")])[1],
        raw(service, "GET", path, [("authorization", f"Basic {token.reveal()}")])[1],
        raw(service, "GET", path, [("authorization", f"Bearer {token.reveal()}"), ("x-goog-api-key", wrong)])[1],
        admin.client.post(path, json=body, headers={"x-idempotency-key": long}).text,
        admin.client.post(path.replace(":ingestEvents", ""), json=body, headers={"x-idempotency-key": long}).text,
        admin.client.put(
            f"{VERSION}/{DEFAULT_BANK}/chatHistory",
            params={"conversationId": "c"},
            json={"messages": []},
            headers={"if-match": f'"{MARK}"'},
        ).text,
    ]
    for text in texts:
        assert "error" in json.loads(text)
        assert not [secret for secret in (token.secret, token.secret[::-1], MARK) if secret in text], text
