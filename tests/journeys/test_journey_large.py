"""As much as the service takes: bodies at the limit, a thousand memories, hundreds of revisions, purges.

What no call could write in the time of a test is written through the store of the running service.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest

from streambank.model import ids
from streambank.model.memory import Revision
from streambank.store import keys
from streambank.store.actions import Put
from streambank.store.memory_items import memory_values, revision_values
from streambank_local.service import LocalService
from tests.journeys.caller import VERSION, Caller, said
from tests.journeys.crowding import Calls, filled, names, pages, purge, scoped, stores, wiring

pytestmark = pytest.mark.usefixtures("calls")

# Lambda takes 6 MB of answer, in which the body is a JSON string.
MOST_ANSWER_BYTES = 6 * 1024 * 1024


# ---- bodies


def test_generation_of_megabytes_is_taken(caller: Caller) -> None:
    """A direct generation of nearly 4 MB ends and accounts for all of its events; beyond that it is 413."""
    scope = caller.scope()
    events = [said(" " * 340_000) for _ in range(11)]
    body = {"scope": scope, "directContentsSource": {"events": [said("I keep bees."), *events]}}
    assert 3_700_000 < len(json.dumps(body)) < 4_000_000
    bank = caller.bank()
    sent = caller.post(f"{bank}/memories:generate", body)
    caller.settle()
    done = caller.get(sent["name"])
    assert done["done"]
    assert done["metadata"]["coverage"] == {"events": 12, "covered": 1, "notCovered": {"BLANK": 11}}
    assert len(caller.memories(scope, bank)) == 1
    body["directContentsSource"]["events"].append(events[0])
    caller.post(f"{bank}/memories:generate", body, status=413)


def test_longest_fields_are_taken(caller: Caller) -> None:
    """Facts, names and descriptions at their limits are stored and read whole, wherever they come from."""
    bank, scope = caller.bank(), {f"{place}" * 256: "ä" * 128 for place in range(5)}
    labels = {f"{place:02}": "x" * 50 for place in range(64)}
    fact = "🐝" * 2_048
    body = {"fact": fact, "scope": scope, "displayName": "ä" * 512, "description": "x" * 1_024}
    made = caller.post(f"{bank}/memories", {**body, "revisionLabels": labels})["response"]["name"]
    shown = caller.get(made)
    assert {key: shown[key] for key in body} == body
    [revision] = caller.revisions(shown)
    assert (revision["fact"], revision["labels"]) == (fact, labels)
    stated = [{"fact": f"{place}" + "y" * 8_191} for place in range(5)]
    source = {"directMemoriesSource": {"direct_memories": stated}, "disableConsolidation": True}
    caller.post(f"{bank}/memories:generate", {"scope": scope, **source})
    caller.settle()
    assert len(caller.memories(scope, bank)) == 6
    groups = [{"filters": [{"key": "k" * 200, "value": {"string_value": "v"}, "negate": True}] * 10}] * 10
    text = "fact:y AND " + " AND ".join(["fact:y"] * 99)
    assert len(caller.retrieve(scope, bank, filterGroups=groups, filter=text)) == 5
    assert len(caller.get(f"{bank}/memories", params={"filter": scoped(scope)})["memories"]) == 6


def test_largest_bank_is_taken(caller: Caller) -> None:
    """A configuration of nearly 300 KB is kept whole, one above is 400 and changes nothing."""
    topic = {"customMemoryTopic": {"label": "x", "description": "d" * 1_000}}
    config = {"customizationConfigs": [{"memoryTopics": [topic] * 280}]}
    bank = caller.bank(**config)
    assert caller.get(bank)["contextSpec"]["memoryBankConfig"] == config
    larger = {"customizationConfigs": [{"memoryTopics": [topic] * 300}]}
    caller.call("PATCH", bank, {"context_spec": {"memory_bank_config": larger}}, status=400)
    assert caller.get(bank)["contextSpec"]["memoryBankConfig"] == config


# ---- many memories


@pytest.fixture(scope="module", params=[110, pytest.param(1_000, marks=pytest.mark.slow)])
def crowd(request: pytest.FixtureRequest, service: LocalService, client: httpx.Client) -> Crowd:
    """A bank with a scope of a thousand memories, or of a few more than a page."""
    caller = Caller(service, client)
    bank, scope = caller.bank(), {"user_id": "crowd"}
    return bank, scope, filled(caller, bank, scope, request.param)


Crowd = tuple[str, dict[str, str], list[str]]


@pytest.mark.slow
def test_list_of_a_crowd_is_complete(caller: Caller, crowd: Crowd) -> None:
    """Bank-wide or of the scope, in one page or in several, each memory is there once and newest first."""
    bank, scope, every = crowd
    for query in ({"pageSize": "1000"}, {"pageSize": str(len(every) // 2)}):
        assert names(caller, bank, **query) == every
    assert names(caller, bank, filter=scoped(scope), pageSize="400") == every
    ascending = names(caller, bank, filter=scoped(scope), pageSize="400", orderBy="update_time")
    assert ascending == every[::-1]
    assert len(caller.get(f"{bank}/memories")["memories"]) == 100
    assert names(caller, bank, filter='fact="I like 7"', pageSize="500") == [every[-8]]


def test_retrieve_of_a_crowd_is_complete(caller: Caller, crowd: Crowd) -> None:
    """A bare retrieve gives a hundred and no token; pages of a hundred go on to the last."""
    bank, scope, every = crowd
    bare = caller.post(f"{bank}/memories:retrieve", {"scope": scope})
    assert len(bare["retrievedMemories"]) == 100
    assert "nextPageToken" not in bare
    found: list[str] = []
    token = ""
    while token or not found:
        params = {"page_size": 500, "page_token": token}
        page = caller.post(f"{bank}/memories:retrieve", {"scope": scope, "simpleRetrievalParams": params})
        assert len(page["retrievedMemories"]) <= 100
        found += [row["memory"]["name"] for row in page["retrievedMemories"]]
        token = page.get("nextPageToken", "")
    assert found == every


def test_filter_over_a_bank_looks_at_all_of_it(caller: Caller, crowd: Crowd) -> None:
    """A filter that fits one memory of a bank finds it, if need be after short pages with a token."""
    bank, _, every = crowd
    assert names(caller, bank, filter='fact=~" 3$"', pageSize="50") == [every[-4]]


def test_filter_with_small_pages_costs_no_more(caller: Caller, calls: Calls) -> None:
    """What a filtered list reads does not grow with the smallness of its pages: API Gateway gives it 30 seconds."""
    bank = caller.bank()
    filled(caller, bank, caller.scope(), 15)
    before = calls.counts.total()
    assert names(caller, bank, filter="fact:nothing", pageSize="1") == []
    assert calls.counts.total() - before < 50


@pytest.mark.slow
def test_page_of_the_longest_facts_can_be_answered(caller: Caller) -> None:
    """However long the facts, a page is short enough for Lambda, and the next one goes on."""
    bank, scope = caller.bank(), caller.scope()
    every = filled(caller, bank, scope, 800, "x" * 8_187 + "{:05}")
    reply = caller.client.get(f"{VERSION}/{bank}/memories", params={"pageSize": "1000"})
    assert len(json.dumps(reply.text, ensure_ascii=False).encode()) <= MOST_ANSWER_BYTES
    assert names(caller, bank, pageSize="1000") == every


@pytest.mark.slow
def test_page_by_page_everything_can_be_deleted(caller: Caller) -> None:
    """Listing a page and deleting it, until none is left, leaves nothing behind."""
    bank, scope = caller.bank(), caller.scope()
    left = set(filled(caller, bank, scope, 24))
    while page := caller.get(f"{bank}/memories", params={"pageSize": "10"})["memories"]:
        for memory in page:
            caller.delete(memory["name"])
            left.remove(memory["name"])
    assert left == set()
    assert caller.memories(scope, bank) == []


# ---- purge


@pytest.mark.parametrize("count", [40, pytest.param(600, marks=pytest.mark.slow)])
def test_purge_of_hundreds_leaves_nothing(caller: Caller, count: int) -> None:
    """A purge within its limit deletes everything that matches in several scopes, and nothing beside."""
    bank, one, other = caller.bank(), caller.scope() | {"app": "a"}, caller.scope() | {"app": "b"}
    filled(caller, bank, one, count)
    kept = caller.post(f"{bank}/memories", {"fact": "I like jam", "scope": other})["response"]["name"]
    assert purge(caller, bank, "fact:like", force=False)["response"] == {"purgeCount": count + 1}
    assert purge(caller, bank, "scope.app=a", force=True)["response"] == {"purgeCount": count}
    assert names(caller, bank) == [kept]
    assert caller.memories(one, bank) == []
    assert purge(caller, bank, "scope.app=a", force=True)["response"] == {"purgeCount": 0}


@pytest.mark.slow
def test_purge_beyond_its_limit_deletes_nothing(caller: Caller) -> None:
    """2,001 matches are 400 FAILED_PRECONDITION that names the count; a narrower filter goes through."""
    bank, scope = caller.bank(), caller.scope()
    every = filled(caller, bank, scope, 2_001)
    for force in (False, True):
        error = purge(caller, bank, scoped(scope), force=force, status=400)["error"]
        assert error["status"] == "FAILED_PRECONDITION"
        assert "2001" in error["message"]
    assert names(caller, bank, pageSize="1000") == every
    assert purge(caller, bank, f'{scoped(scope)} AND fact!="I like 7"', force=False)["response"]["purgeCount"] == 2_000


# ---- many revisions


@pytest.mark.slow
def test_hundreds_of_revisions_are_all_there(caller: Caller) -> None:
    """Four hundred revisions are listed in pages, newest first, found by their labels, and rolled back to."""
    bank, scope = caller.bank(), caller.scope()
    caller.post(f"{bank}/memories", {"fact": "I like 1", "scope": scope}, params={"memoryId": "many"})
    written(caller, bank, "many", 400)
    path = f"{bank}/memories/many/revisions"
    wanted = [f"I like {number}" for number in range(400, 0, -1)]
    for size in ("1000", "150"):
        found = [one["fact"] for page in pages(caller, path, "memoryRevisions", pageSize=size) for one in page]
        assert found == wanted
    tenth = pages(caller, path, "memoryRevisions", filter="labels.n=7", pageSize="15")
    assert [one["fact"] for page in tenth for one in page] == [f for f in wanted if f.endswith("7")]
    caller.post(f"{bank}/memories/many:rollback", {"targetRevisionId": "17"})
    assert caller.get(f"{bank}/memories/many")["fact"] == "I like 17"
    caller.delete(f"{bank}/memories/many")
    assert len(caller.get(path, params={"pageSize": "1000"})["memoryRevisions"]) == 402
    caller.advance(hours=49)
    caller.get(path, status=404)


def written(caller: Caller, bank: str, memory_id: str, count: int) -> None:
    """Give a memory *count* revisions."""
    now, bank_id = caller.service.now(), bank.rsplit("/", 1)[-1]
    memory = stores().memories.find(bank_id, memory_id, now=now)
    cid = ids.scope_id(memory.scope)
    revisions = [
        Revision(memory_id, number, f"I like {number}", now, now + timedelta(days=30), {"n": str(number % 10)})
        for number in range(1, count + 1)
    ]
    puts = [Put(keys.revision(bank_id, cid, memory_id, one.number), revision_values(one)) for one in revisions]
    last = replace(memory, fact=f"I like {count}", revision=count, own_revision=None)
    puts.append(Put(keys.memory(bank_id, cid, memory_id), memory_values(bank_id, last)))
    for start in range(0, len(puts), 100):
        wiring().deployment.table.transact(puts[start : start + 100])
