"""Reading memories back, and deleting them."""

import math
from datetime import timedelta

import pytest

from tests.journeys.caller import DEFAULT_BANK, Caller, Document, moment, said

COLOURS = ["My favorite color is blue.", "My favorite color is green.", "My favorite color is red."]


def remembered(caller: Caller, *texts: str, bank: str = DEFAULT_BANK) -> Document:
    """Say something in a new scope and return the scope."""
    stream = caller.stream(bank=bank)
    stream.flush(*[said(text) for text in texts])
    return stream.scope


def pages(caller: Caller, path: str, key: str, **query: str) -> list[list[Document]]:
    """Return all pages of a list."""
    found, token = [], None
    while token != "":
        page = caller.get(path, params={**query, **({"pageToken": token} if token else {})})
        found.append(page[key])
        token = page.get("nextPageToken", "")
    return found


# ---- get, list, retrieve


def test_memory_is_read_by_its_name(caller: Caller) -> None:
    """A memory shows its fact, scope and times, and every name that any route returns can be read."""
    scope = remembered(caller, "I keep bees.")
    [memory] = caller.memories(scope)
    assert caller.get(memory["name"]) == memory
    assert memory["scope"] == scope
    assert "bees" in memory["fact"]
    assert memory["createTime"] == memory["updateTime"]
    assert abs(moment(memory["createTime"]) - caller.service.now()) < timedelta(minutes=1)
    assert "expireTime" not in memory
    [revision] = caller.revisions(memory)
    assert caller.get(revision["name"]) == revision
    assert revision["fact"] == memory["fact"]


def test_unknown_memory_is_not_found(caller: Caller) -> None:
    """A memory or revision that does not exist is 404, however its id is spelled."""
    [memory] = caller.memories(remembered(caller, "I keep bees."))
    for path in (
        f"{DEFAULT_BANK}/memories/m1",
        f"{memory['name']}x",
        f"{DEFAULT_BANK}/memories/M%23x",
        f"{memory['name']}/revisions/2",
        f"{memory['name']}/revisions/0",
        f"{memory['name']}/revisions/first",
        f"{memory['name']}/revisions/-1",
        f"{DEFAULT_BANK}/memories/m1/revisions",
    ):
        assert caller.get(path, status=404)["error"]["status"] == "NOT_FOUND"


def test_list_of_a_scope_holds_its_memories_only(caller: Caller) -> None:
    """A list filtered by scope holds that scope's memories, newest first, whatever the order of its keys."""
    scope = caller.scope() | {"app": "x"}
    for text in ("I keep bees.", "I am a baker.", "I drive a van."):
        caller.stream(scope).flush(said(text))
    remembered(caller, "I keep cats.")
    turned = "{" + f'\\"user_id\\": \\"{scope["user_id"]}\\", \\"app\\": \\"x\\"' + "}"
    [found] = pages(caller, f"{DEFAULT_BANK}/memories", "memories", filter=f'scope="{turned}"')
    assert len(found) == 3
    assert all(memory["scope"] == scope for memory in found)
    times = [moment(memory["createTime"]) for memory in found]
    assert times == sorted(times, reverse=True)
    paged = pages(caller, f"{DEFAULT_BANK}/memories", "memories", filter=f'scope="{turned}"', pageSize="2")
    assert [len(page) for page in paged] == [2, 1]
    assert [memory for page in paged for memory in page] == found


def test_list_of_a_bank_is_paged(caller: Caller) -> None:
    """A bank-wide list walks all its scopes newest first, each memory on exactly one page, and no other bank's."""
    bank = caller.bank()
    names = set()
    for text in ("I keep bees.", "I keep cats.", "I keep dogs.", "I keep goats.", "I keep hens."):
        names |= {memory["name"] for memory in caller.memories(remembered(caller, text, bank=bank), bank)}
    paged = pages(caller, f"{bank}/memories", "memories", pageSize="2")
    found = [memory for page in paged for memory in page]
    assert [len(page) for page in paged] == [2, 2, 1]
    assert {memory["name"] for memory in found} == names
    times = [moment(memory["createTime"]) for memory in found]
    assert times == sorted(times, reverse=True)
    assert pages(caller, f"{bank}/memories", "memories") == [found]


def test_token_of_another_list_is_refused(caller: Caller) -> None:
    """A page token belongs to the query that gave it."""
    bank = caller.bank()
    for text in ("I keep bees.", "I keep cats."):
        remembered(caller, text, bank=bank)
    token = caller.get(f"{bank}/memories", params={"pageSize": "1"})["nextPageToken"]
    for path, query in (
        (f"{DEFAULT_BANK}/memories", {}),
        (f"{bank}/memories", {"filter": 'scope="{\\"a\\": \\"b\\"}"'}),
    ):
        caller.get(path, status=400, params={"pageToken": token} | query)
    body = {"scope": {"a": "b"}, "simpleRetrievalParams": {"page_token": token}}
    caller.post(f"{bank}/memories:retrieve", body, status=400)


def test_bare_retrieve_returns_all_without_a_token(caller: Caller) -> None:
    """A retrieve of a scope alone returns all its memories, with neither distance nor token."""
    scope = remembered(caller, "I keep bees.", "I am a baker.", "I drive a van.", "I live in Graz.")
    reply = caller.post(f"{DEFAULT_BANK}/memories:retrieve", {"scope": scope})
    assert "nextPageToken" not in reply
    assert len(reply["retrievedMemories"]) == 4
    assert all(row.keys() == {"memory"} for row in reply["retrievedMemories"])
    assert caller.retrieve(caller.scope()) == []


def test_simple_retrieve_is_paged(caller: Caller) -> None:
    """A simple retrieve gives three at a time unless told otherwise, and a token while more follow."""
    scope = remembered(caller, "I keep bees.", "I am a baker.", "I drive a van.", "I live in Graz.")
    found, token = [], ""
    for expected in (3, 1):
        params = {"page_token": token} if token else {"page_size": 0}
        reply = caller.post(f"{DEFAULT_BANK}/memories:retrieve", {"scope": scope, "simpleRetrievalParams": params})
        assert len(reply["retrievedMemories"]) == expected
        found += [row["memory"]["name"] for row in reply["retrievedMemories"]]
        token = reply.get("nextPageToken", "")
    assert token == ""
    assert len(set(found)) == 4


def test_similarity_search_returns_the_nearest_first(caller: Caller) -> None:
    """A search gives the three nearest by default, by ascending Euclidean distance, and no token."""
    scope = remembered(
        caller, "I keep bees.", "I am a baker.", "I drive a van.", "I live in Graz.", "My favorite color is blue."
    )
    params = {"search_query": "Which colour does the user like?"}
    reply = caller.post(f"{DEFAULT_BANK}/memories:retrieve", {"scope": scope, "similaritySearchParams": params})
    rows = reply["retrievedMemories"]
    distances = [row["distance"] for row in rows]
    assert len(rows) == 3
    assert "blue" in rows[0]["memory"]["fact"]
    assert distances == sorted(distances)
    assert all(math.isfinite(distance) and distance >= 0 for distance in distances)
    assert "nextPageToken" not in reply


@pytest.mark.parametrize(("top_k", "count", "header"), [(0, 3, None), (1, 1, None), (100, 4, None), (500, 4, "100")])
def test_top_k_is_at_most_a_hundred(caller: Caller, top_k: int, count: int, header: str | None) -> None:
    """C47: a top_k above 100 is taken as 100, and the reply says so; 0 is the default."""
    scope = remembered(caller, "I keep bees.", "I am a baker.", "I drive a van.", "I live in Graz.")
    body = {"scope": scope, "similaritySearchParams": {"search_query": "pets", "top_k": top_k}}
    reply = caller.client.post(f"/v1beta1/{DEFAULT_BANK}/memories:retrieve", json=body)
    assert len(reply.json()["retrievedMemories"]) == count
    assert reply.headers.get("x-streambank-effective-top-k") == header


# ---- revisions


def test_revisions_are_listed_newest_first(caller: Caller) -> None:
    """Each change of a fact is a revision; they are listed newest first, in pages, and each can be read."""
    stream = caller.stream()
    for text in COLOURS:
        stream.flush(said(text))
    [memory] = caller.memories(stream.scope)
    revisions = caller.revisions(memory)
    colours = [word for one in revisions for word in ("blue", "green", "red") if word in one["fact"]]
    assert colours == ["red", "green", "blue"]
    assert revisions[0]["fact"] == memory["fact"]
    assert [caller.get(one["name"]) for one in revisions] == revisions
    paged = pages(caller, f"{memory['name']}/revisions", "memoryRevisions", pageSize="2")
    assert [len(page) for page in paged] == [2, 1]
    assert [one for page in paged for one in page] == revisions
    assert all(one["name"].rsplit("/", 1)[-1].isdigit() for one in revisions)
    assert moment(memory["updateTime"]) > moment(memory["createTime"])


def test_update_is_told_with_its_previous_revision(caller: Caller) -> None:
    """The generation that changed a memory says UPDATED and names the revision before, which holds the old fact."""
    stream = caller.stream()
    stream.flush(said(COLOURS[0]))
    done = stream.flush(said(COLOURS[1]))
    [generated] = caller.get(done["response"]["name"])["response"]["generatedMemories"]
    [memory] = caller.memories(stream.scope)
    assert (generated["action"], generated["memory"]["name"]) == ("UPDATED", memory["name"])
    assert "blue" in caller.get(generated["previousRevision"])["fact"]


def test_expired_revision_is_gone(caller: Caller) -> None:
    """A revision is gone from list and get when its TTL has passed; the memory stays."""
    stream = caller.stream()
    stream.flush(said(COLOURS[0]), revision_ttl="3600s")
    [memory] = caller.memories(stream.scope)
    [revision] = caller.revisions(memory)
    caller.advance(minutes=59)
    assert caller.revisions(memory) == [revision]
    caller.advance(minutes=2)
    assert caller.revisions(memory) == []
    caller.get(revision["name"], status=404)
    assert caller.get(memory["name"]) == memory


# ---- delete


@pytest.mark.slow
def test_deleted_memory_is_gone_from_every_read_at_once(caller: Caller) -> None:
    """C35: twenty memories are deleted one by one; of a hundred searches right after, none shows one that is gone."""
    bank = caller.bank()
    things = ["stamps", "coins", "books", "shells", "stones", "maps", "dolls", "cards", "bells", "masks"]
    streams = [caller.stream(bank=bank) for _ in range(2)]
    for stream in streams:
        stream.send(*[said(f"I collect {thing}.") for thing in things])
    caller.settle()
    for stream in streams:
        left = {memory["name"]: memory["fact"] for memory in caller.memories(stream.scope, bank)}
        assert len(left) == len(things)
        for name, fact in list(left.items()):
            caller.delete(name)
            del left[name]
            search = {"search_query": fact, "top_k": 100}
            for _ in range(5):
                found = caller.retrieve(stream.scope, bank, similaritySearchParams=search)
                assert {row["memory"]["name"] for row in found} == left.keys()
        caller.get(name, status=404)
        assert caller.memories(stream.scope, bank) == []
    assert caller.get(f"{bank}/memories") == {"memories": []}


def test_deletion_is_an_operation_that_is_done(caller: Caller) -> None:
    """A delete answers with a done operation that can be read again; deleting twice is 404."""
    scope = remembered(caller, "I keep bees.")
    [memory] = caller.memories(scope)
    deleted = caller.delete(memory["name"])
    assert (deleted["done"], deleted["response"]) == (True, {})
    assert caller.get(deleted["name"]) == deleted
    assert caller.delete(memory["name"], status=404)["error"]["status"] == "NOT_FOUND"
    assert pages(caller, f"{DEFAULT_BANK}/memories", "memories", filter=_filter(scope)) == [[]]
    assert caller.memories(scope) == []


def _filter(scope: Document) -> str:
    return 'scope="{' + ", ".join(f'\\"{key}\\": \\"{value}\\"' for key, value in scope.items()) + '}"'


def test_revisions_of_a_deleted_memory_stay_for_two_days(caller: Caller) -> None:
    """For 48 hours the revisions of a deleted memory can be read, the last one empty; then they are 404."""
    [memory] = caller.memories(remembered(caller, "I keep bees."))
    [before] = caller.revisions(memory)
    caller.delete(memory["name"])
    caller.advance(hours=47)
    last, first = caller.revisions(memory)
    assert (last["fact"], first["fact"]) == ("", before["fact"])
    caller.advance(hours=2)
    for path in (f"{memory['name']}/revisions", first["name"], last["name"]):
        caller.get(path, status=404)


def test_deleted_text_leaves_the_memory_at_once(caller: Caller) -> None:
    """C36: what a deleted memory said is in none of its items but its revisions, and neither is its vector."""
    [memory] = caller.memories(remembered(caller, "I collect zebrafish."))
    caller.delete(memory["name"])
    short = memory["name"].rsplit("/", 1)[-1]
    items = [item for item in caller.items() if item["SK"]["S"] == f"M#{short}"]
    assert len(items) == 1
    assert "zebrafish" not in str(items)
    assert not any("B" in value and len(value["B"]) > 100 for value in items[0].values())


def test_same_fact_after_deletion_is_a_new_memory(caller: Caller) -> None:
    """A deleted memory is not resurrected: the fact said again is a memory of another name."""
    stream = caller.stream()
    stream.flush(said("I keep bees."))
    [memory] = caller.memories(stream.scope)
    caller.delete(memory["name"])
    stream.flush(said("I keep bees."))
    [again] = caller.memories(stream.scope)
    assert again["name"] != memory["name"]
    assert len(caller.revisions(again)) == 1


def test_replay_after_deletion_brings_nothing_back(caller: Caller) -> None:
    """A history that is sent again after one of its memories was deleted does not bring it back."""
    stream = caller.stream()
    stream.flush(said("I keep bees.", "e1"))
    [memory] = caller.memories(stream.scope)
    caller.delete(memory["name"])
    stream.flush(said("I keep bees.", "e1"))
    assert caller.facts(stream.scope) == []
