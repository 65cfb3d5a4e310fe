"""What is refused: in Google's shape, naming the field as the caller spelled it, with nothing half-stored."""

import json
from typing import Any

import pytest

from tests.journeys.caller import DEFAULT_BANK, VERSION, Caller, said

INGEST = f"{VERSION}/{DEFAULT_BANK}/memories:ingestEvents"
EVENTS = "directContentsSource.events"
RULE = "generationTriggerConfig.generation_rule"
MIB = 1024 * 1024


def events(*given: Any) -> dict[str, Any]:
    return {"directContentsSource": {"events": list(given)}}


def content(**given: Any) -> dict[str, Any]:
    return events({"content": given})


def rule(**given: Any) -> dict[str, Any]:
    return {"generationTriggerConfig": {"generation_rule": given}}


# One of each kind; tests/wire/test_wire_ingest_refusals.py has them all.
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"scope": {}}, "scope"),
    ({"scope": {"user_id": 7}}, "scope.user_id"),
    ({"streamId": "s" * 513}, "streamId"),
    ({"stream_id": "given twice"}, "stream_id"),
    (events(said("Hm."), {"content": "Hm."}), f"{EVENTS}[1].content"),
    (content(parts=[], author="me"), f"{EVENTS}[0].content.author"),
    (events(said("Hm.", at="2026-02-30T00:00:00Z")), f"{EVENTS}[0].event_time"),
    (rule(event_count=0), f"{RULE}.event_count"),
    (rule(idle_duration="300s", fixed_interval="300s"), RULE),
    ({"revisionTtl": "0s"}, "revisionTtl"),
    ({"metadata": {"a": {"double_value": "7"}}}, "metadata.a.double_value"),
    ({"waitForCompletion": True}, "waitForCompletion"),
]


@pytest.mark.parametrize(("part", "field"), REFUSED, ids=[f"{n}-{field[-40:]}" for n, (_, field) in enumerate(REFUSED)])
def test_bad_input_is_refused_by_its_field(caller: Caller, part: dict[str, Any], field: str) -> None:
    """A call with one bad field is 400 naming that field, and none of it is stored."""
    stream = caller.stream(name="refused")
    body = stream.body(said("I keep bees.", "e1"), rule={"event_count": 10}) | part
    error = caller.post(f"{DEFAULT_BANK}/memories:ingestEvents", body, status=400)["error"]
    assert (error["code"], error["status"]) == (400, "INVALID_ARGUMENT")
    [details] = error["details"]
    assert details["@type"] == "type.googleapis.com/google.rpc.BadRequest"
    [violation] = details["fieldViolations"]
    assert violation["field"] == field
    assert violation["description"] in error["message"]
    assert "Traceback" not in json.dumps(error)
    assert stream.send()["name"].endswith("-0")


# What is stored at its longest, or not as usual; tests/wire/test_wire_ingest_refusals.py has all that is legal.
LEGAL: list[dict[str, Any]] = [
    {"scope": {"k" * 256: "v" * 256}, "streamId": "s" * 512, **events(said("Hm.", "e" * 512))},
    events(*[said("Hm.")] * 100),
    events(said("Hm.", at="2026-01-02T03:04:05.123456789Z")),
    content(role="model", parts=[{"inline_data": {"mime_type": "image/png", "data": "__77Pz8-Pg=="}}]),
    rule(event_count=10_000, overlap_event_count=9_999),
    {
        "revisionTtl": f"{36_525 * 86_400}s",
        "revisionLabels": {str(number): "x" for number in range(63)},
        "metadata": {"at": {"timestamp_value": "2026-01-01T00:00:00+02:00"}},
        "timeZone": "Europe/Vienna",
    },
]


@pytest.mark.parametrize("part", LEGAL)
def test_input_at_the_limit_is_taken(caller: Caller, part: dict[str, Any]) -> None:
    """What is just inside a limit, or odd but legal, is accepted."""
    stream = caller.stream()
    body = stream.body(said("Hm."), rule={"event_count": 10_000}) | part
    stream.scope, stream.name = body["scope"], body["streamId"]
    metadata = caller.post(f"{DEFAULT_BANK}/memories:ingestEvents", body)["metadata"]
    assert metadata["acceptedEvents"] == len(body["directContentsSource"]["events"])


def test_one_bad_event_among_two_hundred_refuses_all(caller: Caller) -> None:
    """A call is validated whole before any of its parts is written: nothing of it is accepted."""
    stream = caller.stream()
    good = [said("Hm.", f"e{number}") for number in range(199)]
    body = stream.body(*good, said("Hm.", "e199") | {"event_time": "never"}, rule={"event_count": 1_000})
    error = caller.post(f"{DEFAULT_BANK}/memories:ingestEvents", body, status=400)["error"]
    assert error["details"][0]["fieldViolations"][0]["field"] == f"{EVENTS}[199].event_time"
    assert stream.items() == []
    assert stream.send(*good, rule={"event_count": 1_000})["metadata"]["acceptedEvents"] == 199


@pytest.mark.slow
def test_too_large_a_body_is_refused(caller: Caller) -> None:
    """More than 4 MB is 413 in Google's shape, and nothing of it is stored."""
    stream = caller.stream()
    body = stream.body(*[said("x" * 300_000, f"e{number}") for number in range(14)])
    error = caller.post(f"{DEFAULT_BANK}/memories:ingestEvents", body, status=413)["error"]
    assert error["code"] == 413
    assert stream.items() == []


def test_body_beyond_the_gateway_is_refused_by_it(caller: Caller) -> None:
    """More than API Gateway takes never reaches the service; its answer is bare."""
    reply = caller.client.post(INGEST, content=b'"' + b"x" * (10 * MIB) + b'"')
    assert reply.status_code == 413
    assert reply.json().keys() == {"message"}


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer wrong"}, {"authorization": "Basic local"}])
def test_caller_without_the_token_is_refused(caller: Caller, headers: dict[str, str]) -> None:
    """Without the right token every route is 401 in Google's shape."""
    client = caller.client
    for method, path in (("POST", INGEST), ("GET", f"{VERSION}/{DEFAULT_BANK}")):
        request = client.build_request(method, path, json=None)
        del request.headers["authorization"]
        request.headers.update(headers)
        reply = client.send(request)
        assert (reply.status_code, reply.json()["error"]["status"]) == (401, "UNAUTHENTICATED")


def test_api_key_is_a_token_too(caller: Caller) -> None:
    """Google's SDK may send the token as x-goog-api-key instead."""
    token = caller.client.headers["authorization"].removeprefix("Bearer ")
    request = caller.client.build_request("GET", f"{VERSION}/{DEFAULT_BANK}", headers={"x-goog-api-key": token})
    del request.headers["authorization"]
    assert caller.client.send(request).status_code == 200


@pytest.mark.parametrize("bank", ["4611686018427387904", "no#bank", "b" * 37, "%2e%2e", "DEFAULT"])
def test_unknown_bank_is_not_found(caller: Caller, bank: str) -> None:
    """Every route of a bank that does not exist is 404, and an ingest does not make it."""
    name = f"reasoningEngines/{bank.replace('#', '%23')}"
    body = caller.stream().body(said("Hm."))
    for method, path, document in (
        ("POST", f"{name}/memories:ingestEvents", body),
        ("POST", f"{name}:ingestEvents", body),
        ("POST", f"{name}/memories:retrieve", {"scope": body["scope"]}),
        ("GET", f"{name}/memories", None),
        ("GET", f"{name}/memories/m1", None),
        ("DELETE", f"{name}/memories/m1", None),
        ("GET", f"{name}/memories/m1/revisions", None),
        ("GET", f"{name}/operations/{'a' * 26}-0", None),
        ("GET", name, None),
        ("PATCH", name, {}),
        ("DELETE", name, None),
    ):
        assert caller.call(method, path, document, status=404)["error"]["status"] == "NOT_FOUND", (method, path)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1beta1"),
        ("GET", "/v2/reasoningEngines/default"),
        ("GET", "/v1beta1/projects/p/reasoningEngines/default"),
        ("GET", "/v1beta1/someEngines/default"),
        ("POST", f"{VERSION}/{DEFAULT_BANK}/memories:ingestevents"),
        ("POST", f"{VERSION}/{DEFAULT_BANK}/memories:forgetEverything"),
        ("POST", f"{VERSION}/{DEFAULT_BANK}:redrive"),
        ("GET", f"{VERSION}/{DEFAULT_BANK}/nothing"),
    ],
)
def test_unknown_route_is_not_found(caller: Caller, method: str, path: str) -> None:
    """What is no route is 404 in Google's shape, never a fault."""
    reply = caller.client.request(method, path, json={} if method in {"POST", "PUT", "PATCH"} else None)
    assert (reply.status_code, reply.json()["error"]["status"]) == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", f"{VERSION}/{DEFAULT_BANK}/memories:ingestEvents", "POST"),
        ("PUT", f"{VERSION}/{DEFAULT_BANK}/memories:ingestEvents", "POST"),
        ("HEAD", f"{VERSION}/{DEFAULT_BANK}/memories:ingestEvents", "POST"),
        ("OPTIONS", f"{VERSION}/{DEFAULT_BANK}:ingestEvents", "POST"),
        ("PUT", f"{VERSION}/{DEFAULT_BANK}", "DELETE, GET, PATCH"),
        ("GET", f"{VERSION}/{DEFAULT_BANK}/memories:retrieve", "POST"),
        ("PATCH", f"{VERSION}/{DEFAULT_BANK}/memories", "GET, POST"),
    ],
)
def test_a_method_that_a_path_does_not_have_is_405(caller: Caller, method: str, path: str, allowed: str) -> None:
    """The header `Allow` names the methods of the path, in Google's shape, and only to callers that are let in."""
    reply = caller.client.request(method, path)
    assert (reply.status_code, reply.headers["allow"]) == (405, allowed)
    assert method == "HEAD" or reply.json()["error"]["status"] == "UNIMPLEMENTED"
    assert caller.client.request(method, path, headers={"authorization": "Bearer wrong"}).status_code in {401, 403}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"7",
        b'{"scope": {"user_id": "u"},}',
        b'{"scope": {"user_id": "\xff"}}',
        b'{"scope": NaN}',
        b'{"scope": 1e999}',
        b"[" * 100_000,
        b'{"scope": {"user_id": "\\ud83d"}}',
    ],
)
def test_what_is_no_request_is_refused(caller: Caller, body: bytes) -> None:
    """A body that is no JSON object in UTF-8 is 400, on both functions."""
    for path in (INGEST, f"{VERSION}/{DEFAULT_BANK}/memories:retrieve"):
        reply = caller.client.post(path, content=body, headers={"content-type": "application/json"})
        assert (reply.status_code, reply.json()["error"]["status"]) == (400, "INVALID_ARGUMENT"), (path, reply.text)


@pytest.mark.parametrize("where", ["text", "event_id", "streamId"])
def test_half_a_surrogate_pair_is_refused(caller: Caller, where: str) -> None:
    """Text that has no UTF-8 cannot be stored and is refused by its field."""
    stream = caller.stream()
    body = stream.body(said("here", "e1"))
    text = json.dumps(body | ({"streamId": "here"} if where == "streamId" else {}))
    old, new = {"text": ("here", "\\ud83d"), "event_id": ("e1", "\\ud83d"), "streamId": ("here", "\\ud83d")}[where]
    reply = caller.client.post(INGEST, content=text.replace(f'"{old}"', f'"{new}"').encode())
    assert reply.status_code == 400, reply.text
    assert reply.json()["error"]["details"][0]["fieldViolations"][0]["field"]


def test_idempotency_key_makes_a_call_of_bare_events_repeatable(caller: Caller) -> None:
    """Events without an id are stored once under one X-Idempotency-Key, and again under another or under none."""
    stream = caller.stream()
    body = stream.body(said("Hm."), said("Hm."), rule={"event_count": 100})
    path = f"{DEFAULT_BANK}/memories:ingestEvents"
    replies = [
        caller.post(path, body, headers=headers)["metadata"]
        for headers in ({"x-idempotency-key": "k1"}, {"X-Idempotency-Key": "k1"}, {"x-idempotency-key": "k2"}, {})
    ]
    assert [reply["acceptedEvents"] for reply in replies] == [2, 0, 2, 2]
    assert replies[-1]["pendingEvents"] == 6


def test_a_key_with_another_body_is_409_on_every_route(caller: Caller) -> None:
    """Each route that takes the key repeats its own body, and refuses another one, which changes nothing."""
    bank, scope, headers = caller.bank(), caller.scope(), {"x-idempotency-key": "k"}
    ingest = {"scope": scope, "generationTriggerConfig": {"generationRule": {"eventCount": 50}}}
    stated = {"scope": scope, "disableConsolidation": True}
    calls = {
        f"{bank}/memories:ingestEvents": (ingest, "directContentsSource", "events", said("Hm."), said("Oh.")),
        f"{bank}:ingestEvents": (
            {**ingest, "streamId": "s"},
            "directContentsSource",
            "events",
            said("Hm."),
            said("Oh."),
        ),
        f"{bank}/memories:generate": (
            stated,
            "directMemoriesSource",
            "directMemories",
            {"fact": "I ski"},
            {"fact": "I sail"},
        ),
    }
    for path, (fixed, source, name, one, other) in calls.items():
        first = caller.post(path, {source: {name: [one]}, **fixed}, headers=headers)["name"]
        error = caller.post(path, {**fixed, source: {name: [other]}}, headers=headers, status=409)["error"]
        assert (error["status"], "idempotency key" in error["message"]) == ("ALREADY_EXISTS", True)
        assert caller.post(path, {**fixed, source: {name: [one]}}, headers=headers)["name"] == first


def test_a_created_memory_remembers_its_key(caller: Caller) -> None:
    """The key repeats its own body after the memory was changed too; every other body is 409, also with a chosen id."""
    bank, scope, headers = caller.bank(), caller.scope(), {"x-idempotency-key": "k"}
    for params in ({}, {"memoryId": "mine"}):
        body = {"fact": "I ski", "displayName": "sport", "scope": scope}
        made = caller.post(f"{bank}/memories", body, params=params, headers=headers)["response"]
        caller.call("PATCH", made["name"], {"fact": "I sail"})
        again = caller.post(f"{bank}/memories", {**body, "ttl": None}, params=params, headers=headers)["response"]
        assert (again["name"], again["fact"]) == (made["name"], "I sail")
        for change in ({"fact": "I sail"}, {"displayName": "hobby"}):
            reply = caller.post(f"{bank}/memories", {**body, **change}, params=params, headers=headers, status=409)
            assert "idempotency key" in reply["error"]["message"]


@pytest.mark.parametrize("key", ["", "k" * 513])
def test_bad_idempotency_key_is_refused(caller: Caller, key: str) -> None:
    """The key's limits are those of an event id; an empty one says nothing and is refused."""
    body = caller.stream().body(said("Hm."))
    headers = {"x-idempotency-key": key}
    error = caller.post(f"{DEFAULT_BANK}/memories:ingestEvents", body, status=400, headers=headers)["error"]
    assert error["details"][0]["fieldViolations"][0]["field"] == "X-Idempotency-Key"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "scope"),
        ({"scope": {"user_id": "*"}}, "scope.user_id"),
        ({"scope": {"u": "1"}, "similaritySearchParams": {}}, "similaritySearchParams.searchQuery"),
        (
            {"scope": {"u": "1"}, "similaritySearchParams": {"search_query": "q", "top_k": -1}},
            "similaritySearchParams.top_k",
        ),
        (
            {"scope": {"u": "1"}, "simpleRetrievalParams": {"page_token": "mine"}},
            None,
        ),
        (
            {"scope": {"u": "1"}, "simpleRetrievalParams": {}, "similaritySearchParams": {"search_query": "q"}},
            "simpleRetrievalParams",
        ),
        ({"scope": {"u": "1"}, "everything": True}, "everything"),
    ],
)
def test_bad_retrieve_is_refused(caller: Caller, body: dict[str, Any], field: str | None) -> None:
    """A retrieve that cannot be meant is 400, never a wider search."""
    error = caller.post(f"{DEFAULT_BANK}/memories:retrieve", body, status=400)["error"]
    assert error["status"] == "INVALID_ARGUMENT"
    assert field is None or error["details"][0]["fieldViolations"][0]["field"] == field


@pytest.mark.parametrize(
    "query",
    [
        {"pageSize": "1001"},
        {"pageSize": "-1"},
        {"pageSize": "many"},
        {"pageToken": "mine"},
        {"filter": 'fiction="x"'},
        {"filter": "scope"},
        {"pageSize": "0000001001"},
        {"pageSize": "0" * 6 + "9" * 5_000},
        {"filter": f'scope="{"[" * 2_000}"'},
    ],
)
def test_bad_list_is_refused(caller: Caller, query: dict[str, str]) -> None:
    """A page size, token or filter that is none is 400."""
    error = caller.get(f"{DEFAULT_BANK}/memories", status=400, params=query)["error"]
    assert error["status"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"generationConfig": {"generation_trigger_config": {"generation_rule": {"event_count": 0}}}}, "event_count"),
        ({"generationConfig": {"generation_trigger_config": {"generation_rule": {"idle_duration": "90s"}}}}, "idle"),
        (
            {
                "generationConfig": {
                    "generation_trigger_config": {"generation_rule": {"idle_duration": "60s", "fixed_interval": "60s"}}
                }
            },
            "generation",
        ),
        ({"ttlConfig": {"memory_revision_default_ttl": "a year"}}, "ttl"),
        ({"unknownConfig": {}}, "unknownConfig"),
        ({"ttlConfig": {"memory_revision_default_ttl": "0s"}}, "ttl"),
        ({"ttlConfig": {"memory_revision_default_ttl": "300000000000s"}}, "ttl"),
    ],
)
def test_bad_bank_is_refused(caller: Caller, config: dict[str, Any], field: str) -> None:
    """A configuration that no window could follow is refused when it is given (C69)."""
    body = {"context_spec": {"memory_bank_config": config}}
    for method, path in (("POST", DEFAULT_BANK.rpartition("/")[0]), ("PATCH", DEFAULT_BANK)):
        error = caller.call(method, path, body, status=400)["error"]
        named = error["details"][0]["fieldViolations"][0]["field"]
        assert field in named
