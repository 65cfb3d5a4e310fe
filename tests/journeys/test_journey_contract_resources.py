"""Rules of the contract on resources, lists and operations that no other journey states: see docs/conformance.md."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.journeys.caller import Caller, Document

MEMORY = {
    *("name", "displayName", "description", "fact", "scope", "topics", "metadata", "memoryType"),
    *("structuredContent", "context", "createTime", "updateTime", "expireTime"),
}
REVISION = {
    *("name", "fact", "createTime", "expireTime", "labels", "extractedMemories", "structuredData", "context"),
}


@pytest.fixture
def full(caller: Caller) -> Document:
    """A memory that was given all that a call can say, as the call was answered."""
    body = {
        "fact": "I like tea",
        "scope": caller.scope(),
        "displayName": "Tea",
        "description": "hot",
        "ttl": "3600s",
        "revisionTtl": "600s",
        "revisionLabels": {"source": "x"},
        "disableMemoryRevisions": False,
        "topics": [{"managedMemoryTopic": "USER_PREFERENCES"}],
        "metadata": {"rank": {"doubleValue": 3}},
    }
    made: Document = caller.post(f"{caller.bank()}/memories", body)["response"]
    return made


def shown(caller: Caller, memory: Document) -> list[Document]:
    """Return *memory* as each read shows it."""
    bank = memory["name"].partition("/memories/")[0]
    search = {"similaritySearchParams": {"search_query": "tea"}}
    return [
        memory,
        caller.get(memory["name"]),
        caller.get(f"{bank}/memories")["memories"][0],
        caller.memories(memory["scope"], bank)[0],
        caller.retrieve(memory["scope"], bank, **search)[0]["memory"],
    ]


def test_memory_shows_its_fields_and_no_input(caller: Caller, full: Document) -> None:
    """Each read shows the same memory: what was input only, a TTL or a revision's settings, is not among its fields."""
    every = shown(caller, full)
    assert all(one == full for one in every)
    assert full.keys() == MEMORY - {"structuredContent", "context"} | {"eventTime"}  # an extension


def test_memory_without_an_end_shows_none(caller: Caller) -> None:
    """Memories have no TTL by default, and expireTime is there only where an end was set."""
    bank, scope = caller.bank(), caller.scope()
    made = caller.post(f"{bank}/memories", {"fact": "I like tea", "scope": scope})["response"]
    caller.pass_unseen(days=2)
    assert all("expireTime" not in one for one in shown(caller, made))


def test_revision_shows_its_fields(caller: Caller, full: Document) -> None:
    """A revision has a fact, times and labels; no metadata and no action."""
    [revision] = caller.revisions(full)
    assert caller.get(revision["name"]) == revision
    assert revision.keys() <= REVISION | {"eventTime"}  # an extension
    assert revision.keys() >= {"name", "fact", "createTime", "expireTime", "labels"}


def test_ids_of_the_service_are_numbers(caller: Caller) -> None:
    """A bank's id and a revision's are decimal and fit int64: Google's types take a revision to roll back to as one."""
    bank = caller.bank()
    memory = caller.post(f"{bank}/memories", {"fact": "I like tea", "scope": caller.scope()})["response"]
    [revision] = caller.revisions(memory)
    for name in (bank, revision["name"]):
        assert 0 < int(name.rsplit("/", 1)[1]) < 2**63


PERSON = {"type": "OBJECT", "properties": {"age": {"type": "INTEGER"}}}


@pytest.mark.parametrize(
    "config",
    [
        {"customizationConfigs": [{"disable_natural_language_memories": True}]},
        {"customizationConfigs": [{"consolidation_config": {"revisions_per_candidate_count": 3}}]},
        {"similaritySearchConfig": {"embedding_model": "projects/p/locations/l/publishers/google/models/m"}},
        {"generationConfig": {"model": "projects/p/locations/l/publishers/google/models/m"}},
        {"structuredMemoryConfigs": [{"schema_configs": [{"id": "a-1", "schema": PERSON}]}]},
    ],
    ids=lambda config: next(iter(config)),
)
def test_configuration_is_kept_whole(caller: Caller, config: Document) -> None:
    """What a bank is configured with is shown again, in camelCase, by a get and by a list."""
    bank = caller.bank(**config)
    spelled = json.loads(_camel(json.dumps(config)))
    listed = caller.get(bank.rsplit("/", 1)[0], params={"pageSize": "1000"})["reasoningEngines"]
    for one in (caller.get(bank), *(one for one in listed if one["name"] == bank)):
        assert one["contextSpec"]["memoryBankConfig"] == spelled


def _camel(text: str) -> str:
    head, *rest = text.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in rest)


# ---- lists


@pytest.mark.parametrize(
    "text",
    [
        'fact=~".*tea$"',
        'create_time>="2001-01-01T00:00:00Z"',
        "create_time>=978307200000000",
        'updateTime>"2001-01-01T00:00:00Z" AND topics.managed_memory_topic:USER_PREFERENCES',
        "topics:USER_PREFERENCES",
        "(fact:tea OR fact:jam) AND NOT fact:milk",
    ],
)
def test_one_filter_on_every_route(caller: Caller, full: Document, text: str) -> None:
    """The documented fields and operators hold for retrieve, list and purge alike, and their negation for the rest."""
    bank, scope = full["name"].partition("/memories/")[0], full["scope"]
    for asked, count in ((text, 1), (f"NOT ({text})", 0)):
        assert len(caller.retrieve(scope, bank, filter=asked)) == count
        assert len(caller.get(f"{bank}/memories", params={"filter": asked})["memories"]) == count
        counted = caller.post(f"{bank}/memories:purge", {"filter": asked, "force": False})
        assert counted["response"]["purgeCount"] == count


def test_groups_are_no_part_of_a_list(caller: Caller, full: Document) -> None:
    """filterGroups are of retrieve and purge; a list has a filter, and it compares a scope as a whole or by a key."""
    bank, scope = full["name"].partition("/memories/")[0], full["scope"]
    groups = [{"filters": [{"key": "rank", "value": {"double_value": 3}}]}]
    assert len(caller.retrieve(scope, bank, filterGroups=groups)) == 1
    assert caller.post(f"{bank}/memories:purge", {"filterGroups": groups})["response"]["purgeCount"] == 1
    whole = json.dumps(json.dumps(scope))
    assert len(caller.get(f"{bank}/memories", params={"filter": f"scope={whole}"})["memories"]) == 1
    caller.get(f"{bank}/memories", params={"filter": f"scope<{whole}"}, status=400)


def test_list_is_newest_first(caller: Caller) -> None:
    """Without orderBy a list is by create_time, descending; with it ascending unless desc follows."""
    bank, scope = caller.bank(), caller.scope()
    made = []
    for number in range(3):
        made.append(caller.post(f"{bank}/memories", {"fact": f"I like {number}", "scope": scope})["response"]["name"])
        caller.pass_unseen(seconds=1)

    def listed(**query: Any) -> list[str]:
        return [one["name"] for one in caller.get(f"{bank}/memories", params=query)["memories"]]

    assert listed() == listed(orderBy="create_time desc") == made[::-1]
    assert listed(orderBy="create_time") == made


# ---- operations


def test_operation_of_a_memory_is_done_in_its_reply(caller: Caller) -> None:
    """Create, update, rollback, delete and purge need no poll: done, with a name, and the memory where there is one."""
    bank, scope = caller.bank(), caller.scope()
    created = caller.post(f"{bank}/memories", {"fact": "I like tea", "scope": scope})
    name = created["response"]["name"]
    done = [
        created,
        caller.call("PATCH", name, {"fact": "I like jam"}),
        caller.post(f"{name}:rollback", {"targetRevisionId": "1"}),
        caller.post(f"{bank}/memories:purge", {"filter": "fact:tea", "force": False}),
        caller.delete(name),
    ]
    assert all(one["done"] and "error" not in one and "/operations/" in one["name"] for one in done)
    assert [one["response"].get("name") for one in done] == [name, name, name, None, None]
    assert done[3]["response"] == {"purgeCount": 1}
    assert done[4]["response"] == {}
    for one in done:
        assert caller.get(one["name"])["name"] == one["name"]


@pytest.mark.parametrize("way", [{"body": {"force": True}}, {"params": {"force": "true"}}], ids=["body", "query"])
def test_force_of_a_deletion_is_said_either_way(caller: Caller, way: dict[str, Any]) -> None:
    """Google's SDK sends force in a body, its discovery document has it in the query: either empties a bank."""
    bank = caller.bank()
    caller.post(f"{bank}/memories", {"fact": "I like tea", "scope": caller.scope()})
    caller.delete(bank, status=400)
    assert caller.delete(bank, **way)["done"]
    caller.get(bank, status=404)
