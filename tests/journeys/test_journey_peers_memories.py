"""What users of other memory services complain of about memories at rest, and how it goes here.

The numbers are those of the complaint log. Rows of ingestion are in test_journey_peers; C47's `top_k` and C41's scopes
of strange characters are in test_journey_memories and there.
"""

from __future__ import annotations

import json
from datetime import UTC, timedelta, timezone

import pytest

from tests.journeys.caller import DEFAULT_BANK, VERSION, Caller, Document, moment, said

BEES = "I keep bees."


def made(caller: Caller, bank: str, fact: str, scope: Document, **more: object) -> Document:
    """Create a memory and return it as it is read."""
    done = caller.post(f"{bank}/memories", {"fact": fact, "scope": scope, **more})
    return caller.get(done["response"]["name"])


def purged(caller: Caller, bank: str, text: str, *, force: bool = True) -> int:
    body = {"filter": text, "force": force}
    count: int = caller.post(f"{bank}/memories:purge", body)["response"]["purgeCount"]
    return count


def stated(caller: Caller, bank: str, scope: Document, fact: str, **more: object) -> Document:
    """Generate from one stated fact and return what came of it."""
    source = {"directMemoriesSource": {"direct_memories": [{"fact": fact}]}}
    sent = caller.post(f"{bank}/memories:generate", {"scope": scope, **source, **more})
    caller.settle()
    response: Document = caller.get(sent["name"])["response"]
    return response


# ---- A: duplicates


def test_c2_fact_that_was_created_is_known_to_an_ingest(caller: Caller) -> None:
    """A fact made by a call, stated to a generation and said in a stream is one memory."""
    bank, scope = caller.bank(), caller.scope()
    memory = made(caller, bank, "I keep bees", scope)
    done = caller.stream(scope, bank=bank).flush(said(BEES))
    made_by_ingest = caller.get(f"{done['name']}-g")["response"]["generatedMemories"]
    made_by_statement = stated(caller, bank, scope, "I keep bees")["generatedMemories"]
    assert {one["action"] for one in made_by_ingest + made_by_statement} <= {"UPDATED"}
    assert [one["name"] for one in caller.memories(scope, bank)] == [memory["name"]]


@pytest.mark.parametrize("params", [{}, {"memoryId": "mine"}])
def test_c9_creation_sent_again_under_its_key_is_one_memory(caller: Caller, params: dict[str, str]) -> None:
    """A retried creation under one key has the same name and is one memory; another key or scope makes another."""
    bank, scope = caller.bank(), caller.scope()
    body, key = {"fact": "I keep bees", "scope": scope}, {"x-idempotency-key": "k1"}
    names = [caller.post(f"{bank}/memories", body, params=params, headers=key)["response"]["name"] for _ in range(2)]
    assert len(set(names)) == len(caller.memories(scope, bank)) == 1
    assert len(caller.revisions({"name": names[0]})) == 1
    others = [({"x-idempotency-key": "k2"}, scope), (key, caller.scope()), ({}, scope)]
    for headers, each in others:
        names.append(caller.post(f"{bank}/memories", body | {"scope": each}, headers=headers)["response"]["name"])
    assert len(set(names)) == 4
    caller.post(f"{bank}/memories", body, headers={"x-idempotency-key": "k" * 513}, status=400)


# ---- D: deletion


def test_c35_delete_all_is_seen_by_every_read_at_once(caller: Caller) -> None:
    """What a purge deleted is in no search, list or get that follows it, however warm the search was."""
    bank, scope = caller.bank(), caller.scope()
    for _ in range(5):
        names = [made(caller, bank, fact, scope)["name"] for fact in ("I keep bees", "I drive a van")]
        assert len(caller.find(scope, "bees", 100, bank)) == 2
        assert purged(caller, bank, f"scope.user_id={scope['user_id']}") == 2
        assert caller.find(scope, "bees", 100, bank) == caller.memories(scope, bank) == []
        assert caller.get(f"{bank}/memories") == {"memories": []}
        for name in names:
            caller.get(name, status=404)


@pytest.mark.slow
def test_c36_one_deletion_takes_text_and_vector_with_it(caller: Caller) -> None:
    """Text, names, metadata and vector of what was deleted are in its revisions only, and those end in 48 hours."""
    bank, scope = caller.bank(), caller.scope()
    more = {"displayName": "zebrafish", "description": "zebrafish", "metadata": {"k": {"string_value": "zebrafish"}}}
    topics = [{"custom_memory_topic_label": "zebrafish"}]
    memories = [made(caller, bank, f"I collect zebrafish {number}", scope, **more) for number in range(3)]
    for memory in memories:
        caller.call("PATCH", memory["name"], {"fact": "I breed zebrafish", "topics": topics})
    caller.delete(memories[0]["name"])
    assert purged(caller, bank, "fact:zebrafish") == 2
    caller.advance(minutes=2)
    deadline = (caller.service.now() + timedelta(hours=48, minutes=5)).timestamp()
    items = [item for item in caller.items() if bank.rsplit("/", 1)[-1] in item["PK"]["S"]]
    left = [item for item in items if "zebrafish" in str(item)]
    assert len(left) == 6
    assert all(item["SK"]["S"].startswith("R#") and int(item["ttl"]["N"]) <= deadline for item in left)
    assert not [item for item in items if any(len(value.get("B", b"")) > 100 for value in item.values())]


def test_c40_every_id_that_is_returned_is_one(caller: Caller) -> None:
    """Whatever route returned a memory's name, GET and DELETE take it, and then both tell the truth: 404."""
    bank, scope = caller.bank(), caller.scope()
    names = [made(caller, bank, "I drive a van", scope)["name"]]
    names += [one["memory"]["name"] for one in stated(caller, bank, scope, "I live in Graz")["generatedMemories"]]
    done = caller.stream(scope, bank=bank).flush(said(BEES))
    names += [one["memory"]["name"] for one in caller.get(f"{done['name']}-g")["response"]["generatedMemories"]]
    search = {"search_query": "bees", "top_k": 100}
    rows = caller.retrieve(scope, bank, similaritySearchParams=search)
    assert {row["memory"]["name"] for row in rows} == set(names)
    assert {one["name"] for one in caller.get(f"{bank}/memories")["memories"]} == set(names)
    assert len(names) == 3
    for name in names:
        caller.get(name)
        caller.delete(name)
        caller.get(name, status=404)
        caller.delete(name, status=404)
        caller.call("PATCH", name, {"fact": "x"}, status=404)


def test_c40_deletion_by_query_is_previewed(caller: Caller) -> None:
    """A purge without force tells how many would go, the purge after it deletes just those."""
    bank, scope = caller.bank(), caller.scope()
    for fact in ("I keep bees", "I kept bees", "I drive a van"):
        made(caller, bank, fact, scope)
    assert purged(caller, bank, "fact:bees", force=False) == 2
    assert len(caller.memories(scope, bank)) == 3
    assert purged(caller, bank, "fact:bees") == 2
    assert caller.facts(scope, bank) == ["I drive a van"]


# ---- E: isolation


@pytest.mark.slow
def test_c41_filters_on_a_scope_are_exact(caller: Caller) -> None:
    """No character of a scope's value is a wildcard or a prefix in a filter: a purge takes the very scope only."""
    bank = caller.bank()
    values = ["ann-lee", "ann_lee", "a", "ab", "a%", "a.", ".", "A", "a#", "a/b", 'a"', "a\\", "é", "e\u0301", "a\0"]
    for value in values:
        made(caller, bank, f"I am {value}", {"user_id": value})
    left = set(values)
    for value in values:
        assert purged(caller, bank, f"scope.user_id={json.dumps(value)}", force=False) == 1
        assert purged(caller, bank, f"scope={json.dumps(json.dumps({'user_id': value}))}") == 1
        left.remove(value)
        shown = caller.get(f"{bank}/memories")["memories"]
        assert {memory["scope"]["user_id"] for memory in shown} == left
    assert purged(caller, bank, 'scope.user_id="*"') == purged(caller, bank, "scope.user_id=%") == 0


UNKNOWN: list[Document] = [
    {"filter_groups": [{"filters": [{"key": "k", "value": {"string_value": "v"}, "op": "regex"}]}]},
    {"filterGroups": [{"filters": [{"key": "k", "value": {"list_value": []}}]}]},
    {"filterGroups": [{"filters": [{"field": "k", "value": {"string_value": "v"}}]}]},
    {"filterGroups": [{"filters": [{"key": "k", "value": {"bool_value": True}, "op": "LESS_THAN"}]}]},
    {"filterGroups": [{"any": []}]},
    {"filter": "user_id=u1"},
    {"filter": "scope.user_id<u1"},
    {"filter": 'fact LIKE "%"'},
    {"filter": "metadata.k=v"},
    {"filter": "fact"},
    {"filters": "fact=x"},
]


@pytest.mark.parametrize("part", UNKNOWN, ids=lambda part: json.dumps(part)[-60:])
def test_c42_unknown_filter_is_refused_on_every_route(caller: Caller, part: Document) -> None:
    """An operator, key or field that is not known is 400 wherever it is asked for: nothing is dropped or widened."""
    scope = caller.scope()
    error = caller.post(f"{DEFAULT_BANK}/memories:retrieve", {"scope": scope, **part}, status=400)["error"]
    assert error["status"] == "INVALID_ARGUMENT"
    caller.post(f"{DEFAULT_BANK}/memories:purge", {"force": True, **part}, status=400)
    if "filter" in part:
        caller.get(f"{DEFAULT_BANK}/memories", params=part, status=400)


def test_c43_filter_narrows_a_scope_and_never_replaces_it(caller: Caller) -> None:
    """Under one user's scope a filter for another's finds nothing, and neither does one that anything would pass."""
    bank, mine, theirs = caller.bank(), caller.scope(), caller.scope()
    made(caller, bank, "I keep bees", mine)
    other = made(caller, bank, "I keep cats", theirs, metadata={"k": {"string_value": "v"}})
    narrow = [
        {"filter": f'scope.user_id="{theirs["user_id"]}"'},
        {"filter": f"scope={json.dumps(json.dumps(theirs))}"},
        {"filter": "fact:cats"},
        {"filterGroups": [{"filters": [{"key": "k", "value": {"string_value": "v"}}]}]},
    ]
    for part in narrow:
        assert caller.retrieve(mine, bank, **part) == []
        assert [row["memory"]["name"] for row in caller.retrieve(theirs, bank, **part)] == [other["name"]]
    wide = "fact:keep OR fact!=x OR scope.user_id:*"
    assert [row["memory"]["fact"] for row in caller.retrieve(mine, bank, filter=wide)] == ["I keep bees"]
    assert purged(caller, bank, f"scope.user_id={mine['user_id']} AND ({wide})", force=False) == 1


# ---- F: filters, paging


def test_c45_metadata_is_compared_by_type(caller: Caller) -> None:
    """Of 9 and 10 one is above 9; the text "10" is no number; times are equal within their second."""
    bank, scope = caller.bank(), caller.scope()
    values: dict[str, Document] = {
        "nine": {"double_value": 9},
        "ten": {"double_value": 10},
        "text": {"string_value": "10"},
        "time": {"timestamp_value": "2026-01-01T00:00:00.900Z"},
        "truth": {"bool_value": True},
    }
    for fact, value in values.items():
        made(caller, bank, fact, scope, metadata={"k": value})

    def found(value: Document, op: str = "EQUAL") -> list[str]:
        groups = [{"filters": [{"key": "k", "value": value, "op": op}]}]
        return [row["memory"]["fact"] for row in caller.retrieve(scope, bank, filterGroups=groups)]

    assert found({"double_value": 9}, "GREATER_THAN") == ["ten"]
    assert found({"double_value": 10}) == ["ten"]
    assert found({"string_value": "10"}) == ["text"]
    assert found({"timestamp_value": "2026-01-01T01:00:00.1+01:00"}) == ["time"]
    assert found({"timestamp_value": "2026-01-01T00:00:00Z"}, "GREATER_THAN") == []
    assert found({"double_value": 1}) == []


def test_c47_no_limit_is_applied_in_silence(caller: Caller) -> None:
    """A size above the limit is refused, or the reply says what it was taken as."""
    scope = caller.scope()
    for path in ("memories", "sessions", "memories/m/revisions"):
        caller.get(f"{DEFAULT_BANK}/{path}", params={"pageSize": "1001"}, status=404 if "/m/" in path else 400)
    body = {"scope": scope, "similaritySearchParams": {"search_query": "x", "top_k": 500}}
    reply = caller.client.post(f"{VERSION}/{DEFAULT_BANK}/memories:retrieve", json=body)
    assert reply.headers["x-streambank-effective-top-k"] == "100"
    simple = {"scope": scope, "simpleRetrievalParams": {"page_size": -1}}
    caller.post(f"{DEFAULT_BANK}/memories:retrieve", simple, status=400)


# ---- G: time and expiry


def test_c48_times_are_utc_and_offsets_are_understood(caller: Caller) -> None:
    """Every time that is shown is UTC, and a filter may name the same instant with any offset."""
    bank, scope = caller.bank(), caller.scope()
    begun = caller.service.now()
    memory = made(caller, bank, "I keep bees", scope, expireTime="2090-01-01T01:00:00+05:30")
    assert memory["createTime"].endswith("Z")
    assert begun - timedelta(seconds=1) <= moment(memory["createTime"]) <= caller.service.now()
    assert memory["expireTime"] == "2089-12-31T19:30:00Z"
    created = moment(memory["createTime"])
    for zone in (UTC, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-8))):
        for op, count in (("=", 1), ("<", 0), (">=", 1)):
            text = f'create_time{op}"{created.astimezone(zone).isoformat()}"'
            assert len(caller.retrieve(scope, bank, filter=text)) == count, text
    session = caller.post(f"{bank}/sessions", {"userId": "u"})["response"]["name"]
    event = {"author": "a", "invocationId": "1", "timestamp": "2026-01-01T01:00:00+05:30"}
    caller.post(f"{session}:appendEvent", event)
    assert caller.get(f"{session}/events")["sessionEvents"][0]["timestamp"] == "2025-12-31T19:30:00Z"


@pytest.mark.parametrize(("zone", "day"), [(None, "28"), ("UTC", "28"), ("Asia/Shanghai", "1")])
def test_c49_relative_dates_are_of_the_zone_that_was_named(caller: Caller, zone: str | None, day: str) -> None:
    """Yesterday is the day before in the caller's zone: at 20:00 UTC it is tomorrow already in Shanghai."""
    bank, scope = caller.bank(), caller.scope()
    event = said("I moved to Graz yesterday.", at="2026-03-01T20:00:00Z")
    body = {"scope": scope, "directContentsSource": {"events": [event]}}
    more = {"timeZone": zone} if zone else {}
    streamed = caller.stream(bank=bank)
    streamed.flush(event, **({"time_zone": zone} if zone else {}))
    sent = caller.post(f"{bank}/memories:generate", body | more)
    caller.settle()
    assert caller.get(sent["name"])["done"]
    for facts in (caller.facts(streamed.scope, bank), caller.facts(scope, bank)):
        [fact] = facts
        month = "March" if day == "1" else "February"
        assert month in fact or f"2026-{'03' if day == '1' else '02'}-{int(day):02}" in fact, fact
        assert "yesterday" not in fact


def test_c50_reading_changes_no_expiry(caller: Caller) -> None:
    """A memory that is found, listed and read expires when it did before; an update starts the bank's TTL anew."""
    bank = caller.bank(ttlConfig={"default_ttl": "604800s"})
    stream = caller.stream(bank=bank)
    stream.flush(said("My favorite color is blue."))
    [memory] = caller.memories(stream.scope, bank)
    for _ in range(2):
        caller.pass_unseen(days=1)
        assert caller.find(stream.scope, "color", bank=bank)
        caller.get(f"{bank}/memories")
        caller.revisions(memory)
        assert caller.get(memory["name"])["expireTime"] == memory["expireTime"]
    stream.flush(said("My favorite color is green."))
    after = caller.get(memory["name"])
    span = moment(after["expireTime"]) - moment(after["updateTime"])
    assert after["expireTime"] > memory["expireTime"]
    assert abs(span - timedelta(days=7)) < timedelta(seconds=10)


def test_c51_expired_memory_is_gone_though_nobody_swept(caller: Caller) -> None:
    """61 seconds after a TTL of 60 a memory is in no read, and the next generation does not build upon it."""
    bank = caller.bank(ttlConfig={"granular_ttl_config": {"generate_created_ttl": "60s"}})
    stream = caller.stream(bank=bank)
    stream.flush(said("My favorite color is blue."))
    [memory] = caller.memories(stream.scope, bank)
    caller.pass_unseen(seconds=61)
    caller.get(memory["name"], status=404)
    assert caller.find(stream.scope, "color", bank=bank) == caller.memories(stream.scope, bank) == []
    assert caller.get(f"{bank}/memories") == {"memories": []}
    done = stream.flush(said("My favorite color is green."))
    [generated] = caller.get(f"{done['name']}-g")["response"]["generatedMemories"]
    assert generated["action"] == "CREATED"
    assert generated["memory"]["name"] != memory["name"]


def test_c52_revisions_of_an_expired_memory_are_shown_by_no_route(caller: Caller) -> None:
    """A revision that outlives its memory is found by neither list nor get, and cannot be rolled back to."""
    memory = made(caller, caller.bank(), "I keep bees", caller.scope(), ttl="60s", revisionTtl="3600s")
    [revision] = caller.revisions(memory)
    caller.pass_unseen(seconds=120)
    caller.get(f"{memory['name']}/revisions", status=404)
    caller.get(revision["name"], status=404)
    caller.post(f"{memory['name']}:rollback", {"targetRevisionId": "1"}, status=404)


def test_c52_memory_outlives_its_revisions(caller: Caller) -> None:
    """A memory without a living revision is read and changed like any other; numbers of revisions go on."""
    bank = caller.bank()
    memory = made(caller, bank, "I keep bees", caller.scope(), revisionTtl="60s")
    caller.pass_unseen(seconds=62)
    assert caller.revisions(memory) == []
    assert caller.get(memory["name"]) == memory
    caller.call("PATCH", memory["name"], {"fact": "I keep cats"})
    assert [one["name"].rsplit("/", 1)[-1] for one in caller.revisions(memory)] == ["2"]
