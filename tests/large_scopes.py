"""Scopes with a vector index, and what is right of their entries."""

from __future__ import annotations

from typing import Any

from streambank.model import ids
from streambank.model.memory import Memory
from streambank.model.scope_index import INDEX_LAG, IndexState, ScopeIndex
from streambank.pipeline.jobs import index_scope
from streambank.pipeline.memories.deletion import delete_memory
from streambank.pipeline.memories.edit import update_memory
from streambank.pipeline.memories.search import SearchQuery, search
from streambank.rules import bm25, word_vectors
from streambank.rules.edits import Edit
from streambank.store import keys
from tests import aws
from tests.world import SCOPE, World, event

LARGE = 5
CID = ids.scope_id(SCOPE)


def grown(client: Any, *facts: str, **more: Any) -> World:
    """Return a world whose scope is large and has an index that is ready; each fact is an event's."""
    world = World(client, large_scope=LARGE, **more)
    say(world, *(facts or [f"fact number {number}" for number in range(LARGE + 3)]))
    world.indexes.begin("default", SCOPE, now=world.clock())
    build(world)
    return world


def say(world: World, *texts: str, scope: dict[str, str] = SCOPE) -> None:
    """Let a memory be made of each text, without a record of the table's stream for the index."""
    world.ingest(*map(event, texts), scope=scope, forceFlush=True)
    settle(world)


def settle(world: World) -> None:
    """Let windows be sealed and generated, and no index be kept up."""
    for _ in range(10):
        for _ in range(2):  # a head is sealed, and then its window is started
            for key in world.stirring():
                world.react(*key)
        if not world.run():
            return


def build(world: World) -> None:
    """Let the sweep build an index, which is ready when a search sees its last entry."""
    index_scope.resume("default", CID, context=world.indexing())
    world.clock.instant += INDEX_LAG
    index_scope.resume("default", CID, context=world.indexing())
    assert index(world).state is IndexState.READY


def follow(world: World) -> None:
    """Deliver a record of the scope's version."""
    index_scope.follow("default", CID, context=world.indexing())


def index(world: World) -> ScopeIndex:
    found = world.indexes.get("default", CID)
    assert found
    return found


def find(world: World, text: str, top_k: int = 10, **more: Any) -> list[str]:
    """Return the facts nearest to *text*."""
    result = search("default", SCOPE, SearchQuery(text, top_k, **more), context=world.searching())
    return [one.fact for _, one in result.hits if isinstance(one, Memory)]


def entries(world: World, bank: str = "default", scope: dict[str, str] = SCOPE) -> dict[str, dict[str, Any]]:
    """Return the entries of a scope in the table, by the ids of their memories."""
    pk = keys.scope(bank, ids.scope_id(scope))
    items = [one for one in aws.dump(world.client) if one["PK"]["S"] == pk]
    return {keys.name_in(one["SK"]["S"]): one for one in items if one["SK"]["S"].startswith(("Y#", "YP#"))}


def wrong_entries(world: World, bank: str = "default", scope: dict[str, str] = SCOPE) -> list[str]:
    """Return the ids of memories without their entry, and of entries without their memory."""
    live = {one.id: one for one in world.memories.of_scope(bank, scope, now=world.clock())}
    cited = world.memories.citations(bank, scope, live.values(), now=world.clock())
    stored = entries(world, bank, scope)
    wrong = list(live.keys() ^ stored.keys())
    for name in live.keys() & stored.keys():
        texts = "\n".join(one.text for one in cited.get(name, ()))
        words = word_vectors.pack_words(bm25.count_words(texts))
        vector = word_vectors.text_vector(bm25.count_words(live[name].fact), live[name].vector, words)
        is_right = [int(one["N"]) for one in stored[name]["v"]["L"]] == list(vector)
        is_right = is_right and stored[name].get("w", {}).get("B", b"") == words
        is_right = is_right and stored[name]["VPK"]["S"] == keys.scope(bank, ids.scope_id(scope))
        wrong += [] if is_right else [name]
    return sorted(wrong)


def forget(world: World, fact: str) -> str:
    """Delete the memory with a fact and return its id."""
    stores = {"memories": world.memories, "retry_policy": world.retry_policy, "id_secret": world.id_secret}
    [name] = [one.id for one in world.memories.of_scope("default", SCOPE, now=world.clock()) if one.fact == fact]
    delete_memory("default", name, now=world.clock(), **stores)
    return name


def rewrite(world: World, fact: str, after: str) -> None:
    """Change the text of the memory with a fact."""
    [name] = [one.id for one in world.memories.of_scope("default", SCOPE, now=world.clock()) if one.fact == fact]
    update_memory("default", name, None, Edit(frozenset({"fact"}), after), context=world.editing())
