"""Reindexing: after it every vector is of the bank's model, whoever writes, runs or dies meanwhile."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from streambank.errors import Conflict, ModelNotConfigured, ModelRejected, ModelUnavailable
from streambank.model.memory import Change, Profile
from streambank.model.reindex import Reindex
from streambank.model.usage import Usage
from streambank.pipeline.banks import BankChange, create_bank, delete_bank, update_bank
from streambank.pipeline.jobs import erase, reindex
from streambank.pipeline.memories.edit import update_memory
from streambank.rules import vectors
from streambank.rules.edits import Edit
from streambank.store.reindexes import Reindexes
from streambank.store.usage import UsageStore
from tests import aws, scanner
from tests.aws import Killed
from tests.pipeline.test_pipeline_faults import Killer, _armed
from tests.pipeline.test_pipeline_interleavings import Interruption
from tests.world import SCOPE, HashEmbedder, World, event

ELSEWHERE = {"user_id": "u2"}
ALL_CALLS = pytest.mark.parametrize("most", [3, pytest.param(None, marks=pytest.mark.slow)])
Step = Callable[[World], Any]
BANK = "other"


class Named(HashEmbedder):
    """An embedder whose vectors name its model; it keeps the texts of each call."""

    def __init__(self, name: str, *, is_local: bool = True) -> None:
        self.name, self.is_local = name, is_local
        self.calls: list[list[str]] = []
        self.refuses: tuple[str, ...] = ()
        self.error: type[Exception] | None = None
        self.meanwhile: Callable[[], None] | None = None

    def embed(self, texts: Any, *, model: str | None = None, for_query: bool = False) -> list[bytes]:
        self.calls.append(list(texts))
        if self.meanwhile and len(texts) > 1:
            self.meanwhile, meanwhile = None, self.meanwhile
            meanwhile()
        if self.error:
            raise self.error("scripted")
        if any(text in self.refuses for text in texts):
            raise ModelRejected("scripted")
        return [vectors.pack(vectors.unpack(one), model or self.name) for one in super().embed(texts)]


def lived(client: Any, count: int = 3, bank: str = "default") -> World:
    """A bank with *count* memories in one scope and one in another, and an embedder of another model."""
    aws.empty(client)
    world = World(client, embedder=Named("old"))
    if bank != "default":
        create_bank(bank, BankChange(), banks=world.banks, now=world.clock())
    world.ingest(*(event(f"fact {number}") for number in range(count)), bank=bank, forceFlush=True)
    world.ingest(event("beside"), scope=ELSEWHERE, bank=bank, forceFlush=True)
    world.settle()
    world.embedder = Named("new")
    return world


def reindexed(world: World, bank: str = "default", **more: Any) -> Reindex:
    return reindex.reindex_bank(bank, context=world.reindexing(**more))


def memories(world: World, bank: str = "default") -> list[Any]:
    return [one for scope in (SCOPE, ELSEWHERE) for one in world.memories.of_scope(bank, scope, now=world.clock())]


def old_ones(world: World, bank: str = "default") -> list[str]:
    """Return the facts whose vector is not what the model of now makes of them."""
    return [one.fact for one in memories(world, bank) if one.vector != world.embedder.embed([one.fact])[0]]


# ---- what it does


def test_every_memory_gets_a_vector_of_the_new_model(client):
    """All vectors are the new model's; texts, times and versions are as they were, and a second run keeps all."""
    world = lived(client)
    before = memories(world)
    done = reindexed(world)
    assert (done.failure, done.counts) == (None, {"reindexed": 4})
    assert old_ones(world) == []
    assert [replace(one, vector=b"") for one in memories(world)] == [replace(one, vector=b"") for one in before]
    again = reindexed(world)
    assert (again.id, again.counts) == ("reindex-2", {"kept": 4})


def test_one_call_embeds_many_texts(client, monkeypatch):
    """The texts of a batch go to the model together, after the one that shows its vectors."""
    monkeypatch.setattr(reindex, "BATCH_TEXTS", 3)
    world = lived(client)
    reindexed(world)
    assert [len(call) for call in world.embedder.calls] == [1, 3, 1]


def test_vectors_of_another_length_or_without_a_model_are_made_anew(client):
    """A vector of an older release, which names no model, is not taken for the new model's."""
    world = lived(client)
    world.embedder = HashEmbedder()
    assert reindexed(world).counts == {"reindexed": 4}
    world.embedder = Named("new")
    assert reindexed(world).counts == {"reindexed": 4}
    assert old_ones(world) == []


def test_the_model_is_the_banks(client):
    """The vectors are of the model that the bank's configuration names."""
    world = lived(client, bank=BANK)
    own = BankChange(document={"similaritySearchConfig": {"embeddingModel": "own"}})
    update_bank(BANK, own, banks=world.banks, retry_policy=world.retry_policy, now=world.clock())
    assert reindexed(world, BANK).counts == {"reindexed": 4}
    assert {one.vector for one in memories(world, BANK)} == {
        world.embedder.embed([one.fact], model="own")[0] for one in memories(world, BANK)
    }


def test_a_profile_has_no_vector(client):
    """A profile is not searched by meaning: it is kept as it is."""
    world = lived(client, count=1)
    [memory] = world.memories.of_scope("default", SCOPE, now=world.clock())
    profile = replace(memory, id="p", fact="{}", profile=Profile("s", {}), vector=b"")
    version = world.memories.version("default", SCOPE).version
    world.memories.commit_change("default", SCOPE, version, Change(None, profile, None), now=world.clock())
    assert reindexed(world).counts == {"reindexed": 2, "kept": 1}


def test_a_text_that_the_model_refuses_costs_that_text(client):
    """The others of its batch get their vectors; it is counted, and keeps the vector that it has."""
    world = lived(client)
    world.embedder.refuses = ("fact 1",)
    assert reindexed(world).counts == {"reindexed": 3, "failed": 1}
    world.embedder.refuses = ()
    assert old_ones(world) == ["fact 1"]


# ---- waiting, stopping, failing


def test_a_job_goes_on_where_it_stopped(client, monkeypatch):
    """Without time for more than a step the job comes to its end, one run after the other; a repeated call joins it."""
    monkeypatch.setattr(reindex, "BATCH_TEXTS", 1)
    world = lived(client)
    jobs = [reindexed(world, has_time=lambda: False) for _ in range(6)]
    assert {job.number for job in jobs[:5]} == {1}
    assert jobs[0].counts == {"reindexed": 1}
    ended = next(job for job in jobs if job.ended)
    assert ended.counts == {"reindexed": 4}
    assert old_ones(world) == []


def test_a_used_up_budget_pauses(client):
    """A reindex without tokens waits for the next day and then ends; it books what it embedded."""
    world = lived(client)
    world.embedder, world.daily_tokens = Named("new", is_local=False), 10_000
    UsageStore(world.table).add("default", world.clock().date(), Usage(input_tokens=10_000))
    assert reindexed(world).ended is None
    world.clock.move(minutes=2)
    assert world.sweep().faults == []
    assert world.embedder.calls == []
    world.clock.move(days=1)
    assert world.sweep().faults == []
    assert Reindexes(world.table).find("default").counts == {"reindexed": 4}
    assert UsageStore(world.table).day("default", world.clock().date()).embedding_tokens > 0


def test_a_model_that_is_away_is_tried_again(client):
    """The sweep goes on with a reindex once the model answers; until then nothing is lost."""
    world = lived(client)
    world.embedder.error = ModelUnavailable
    with pytest.raises(ModelUnavailable):
        reindexed(world)
    world.embedder.error = None
    world.clock.move(minutes=2)
    assert world.sweep().faults == []
    assert Reindexes(world.table).find("default").counts == {"reindexed": 4}


def test_a_model_that_cannot_be_used_ends_the_job(client):
    """The operation says why, and the sweep does not try it again."""
    world = lived(client)
    world.embedder.error = ModelNotConfigured
    failed = reindexed(world)
    assert (failed.failure, failed.counts) == ("scripted", {})
    world.clock.move(minutes=2)
    assert world.sweep().seen == 0


def test_a_model_without_vectors_ends_the_job(client):
    """Where local mode has no model of vectors, memories keep what they have, and the operation says why."""
    world = lived(client)
    before = memories(world)
    world.embedder.embed = lambda texts, **_: [b""] * len(texts)
    assert reindexed(world).failure == "the embedding model makes no vectors"
    assert memories(world) == before


# ---- others at the same time


def interrupted(world: World, one: Step, other: Step, at: int) -> int:
    """Do *one*, and *other* before its call *at*; return how many calls *one* made."""
    interruption = Interruption(world, other, at)
    world.client.meta.events.register("before-call.dynamodb", interruption)
    try:
        one(world)
    except Conflict:
        pass
    finally:
        world.client.meta.events.unregister("before-call.dynamodb", interruption)
    return interruption.calls


def interleaved(client: Any, one: Step, other: Step, most: int | None) -> Iterator[World]:
    """Yield a world at rest for each call of *one* before which *other* was done, or for *most* of these calls."""
    calls = interrupted(lived(client), one, other, 10_000)
    assert calls > 8
    for at in aws.spread(range(calls), most):
        world = lived(client)
        interrupted(world, one, other, at)
        world.finish()
        assert old_ones(world) == []
        yield world


def edit(world: World) -> None:
    """Change a memory's text, and the name alone of another one."""
    first, second, *_ = sorted(world.memories.of_scope("default", SCOPE, now=world.clock()), key=lambda one: one.fact)
    update_memory("default", first.id, None, Edit(frozenset({"fact"}), "edited"), context=world.editing())
    name = Edit(frozenset({"display_name"}), "", display_name="named")
    update_memory("default", second.id, None, name, context=world.editing())


def generate(world: World) -> None:
    """Let a window restate a memory and make a new one."""
    world.ingest(event("fact 1"), event("more"), forceFlush=True)
    world.settle()


def again(world: World) -> None:
    reindexed(world)


def erase_it(world: World) -> None:
    erase.erase_scope("default", SCOPE, erase.ErasureTarget(), context=world.erasing())


def test_a_change_and_a_reindex_meet(client):
    """Just before the reindex writes, texts and names are changed: the changes stay, and no old vector is left."""
    world = lived(client)
    world.embedder.meanwhile = lambda: edit(world)
    assert reindexed(world).counts == {"reindexed": 3, "kept": 1}
    assert world.facts() == ["edited", "fact 1", "fact 2"]
    assert old_ones(world) == []


@ALL_CALLS
@pytest.mark.parametrize(
    ("other", "facts"),
    [
        (edit, ["edited", "fact 1", "fact 2"]),
        (generate, ["fact 0", "fact 1", "fact 2", "more"]),
        (again, ["fact 0", "fact 1", "fact 2"]),
        (erase_it, []),
    ],
)
def test_whoever_writes_during_a_reindex_loses_nothing(client, most, other, facts):
    """Before calls of a reindex another writer comes by: what it did stays so, and no old vector is left."""
    for world in interleaved(client, again, other, most):
        assert world.facts() == facts
        assert facts or not scanner.places(client, "fact 1")


@ALL_CALLS
@pytest.mark.parametrize(
    ("one", "facts"), [(edit, ["edited", "fact 1", "fact 2"]), (generate, ["fact 0", "fact 1", "fact 2", "more"])]
)
def test_a_reindex_undoes_nothing(client, most, one, facts):
    """Before calls of another writer a reindex comes by: the change is made, and no old vector is left."""
    for world in interleaved(client, one, again, most):
        assert world.facts() == facts


def test_the_deletion_of_a_bank_wins(client):
    """A bank that is deleted while it is reindexed leaves nothing behind, and the job is not due for ever."""
    world = lived(client, bank=BANK)
    reindexed(world, BANK, has_time=lambda: False)
    delete_bank(BANK, force=True, banks=world.banks, now=world.clock())
    world.finish()
    assert [item["PK"]["S"] for item in aws.dump(client) if BANK in item["PK"]["S"].split("#")] == []


def test_a_job_of_a_bank_that_is_gone_ends(client):
    """A job that was left behind by its bank fails, and makes nothing."""
    world = lived(client, bank=BANK)
    begun = Reindexes(world.table).begin(BANK, now=world.clock())
    client.delete_item(TableName=aws.TABLE, Key={"PK": {"S": "BANKS"}, "SK": {"S": BANK}})
    assert reindex.proceed(begun, context=world.reindexing()).failure == "the bank is gone"


# ---- dying


def kill(client: Any, at: int, *, after: bool) -> bool:
    """Kill a reindex at one call and let the sweep alone go on; tell whether it was over before."""
    world = lived(client)
    killer = Killer(at, after)
    disarm = _armed(client, killer)
    try:
        reindexed(world)
    except Killed:
        pass
    finally:
        disarm()
    world.clock.move(seconds=90)
    world.finish()
    done = Reindexes(world.table).find("default") or reindexed(world)  # it died before it was entered
    assert (done.failure, sum(done.counts.values())) == (None, 4)
    assert done.ended
    assert old_ones(world) == []
    assert world.facts() == ["fact 0", "fact 1", "fact 2"]
    return killer.at is not None


@pytest.mark.parametrize("after", [False, True])
def test_a_kill_at_some_calls_leaves_no_old_vector(client, after):
    """Killed on the way, a reindex is finished by the sweep, and every memory is counted once."""
    assert kill(client, 10_000, after=after)
    for at in (2, 6, 11):
        kill(client, at, after=after)


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True])
def test_a_kill_at_any_call_leaves_no_old_vector(client, after):
    """The same at every call, with a batch for each memory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reindex, "BATCH_TEXTS", 1)
        for at in itertools.count():
            if kill(client, at, after=after):
                assert at > 15
                return
