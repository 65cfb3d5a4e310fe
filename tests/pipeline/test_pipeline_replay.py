"""Replays: a window judged again gives what was recorded, changes nothing, and comes to its end whoever dies."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from streambank.errors import FailedPrecondition, ModelUnavailable, NotFound, Unavailable
from streambank.model.ids import OperationId
from streambank.model.replay import Comparison, MemoriesFrom, Replay, ReplaySpec
from streambank.model.usage import Usage
from streambank.model.verdict import Verdict
from streambank.pipeline.banks import BankChange, create_bank, delete_bank, update_bank
from streambank.pipeline.jobs import erase, replay, start_replay
from streambank.pipeline.memories.deletion import delete_memory
from streambank.pipeline.memories.edit import update_memory
from streambank.rules.edits import Edit
from streambank.store.replays import Replays
from streambank.store.usage import UsageStore
from streambank_local.basic.models import BasicModels
from tests import aws, scanner
from tests.aws import Killed
from tests.pipeline.test_pipeline_faults import Killer, _armed
from tests.pipeline.test_pipeline_interleavings import Interruption
from tests.world import SCOPE, Unreliable, World, event

ELSEWHERE = {"user_id": "u2"}
WORD = "xylophone"
AS_IT_WAS = ReplaySpec()
NOTHING = ReplaySpec({"customization": {"disableNaturalLanguageMemories": True}})
EXAMPLES = 4 if settings.default.max_examples < 100 else 150
ALL_CALLS = pytest.mark.parametrize("most", [2, pytest.param(None, marks=pytest.mark.slow)])


def flushed(world: World, *texts: str, **more: Any) -> OperationId:
    """Generate a window of its own for *texts*, each under an id of its own, and return its operation."""
    number = sum(item["SK"]["S"].startswith("D#") for item in aws.dump(world.client))
    events = [event(text, f"e{number + index}") for index, text in enumerate(texts)]
    receipt = world.ingest(*events, forceFlush=True, **more)
    world.settle()
    world.clock.move(minutes=5)
    return receipt.operation.id


def replays(world: World) -> Replays:
    return Replays(world.table)


def newest(world: World, operation: OperationId | None, bank: str = "default") -> Replay | None:
    return replays(world).find(bank, operation, now=world.clock())


def started(world: World, operation: OperationId, spec: ReplaySpec = AS_IT_WAS, bank: str = "default") -> Replay:
    return start_replay.start_window_replay(bank, operation, spec, context=world.starting_replays())


def replayed(world: World, operation: OperationId, spec: ReplaySpec = AS_IT_WAS) -> Comparison:
    """Replay a window and return both sides."""
    started(world, operation, spec)
    world.run()
    done = newest(world, operation)
    assert done.failure is None
    assert done.comparison is not None
    return done.comparison


def bank_replayed(world: World, spec: ReplaySpec, bank: str = "default") -> Replay:
    start_replay.start_bank_replay(bank, spec, context=world.starting_replays())
    world.run()
    return newest(world, None, bank)


def sides(comparison: Comparison) -> list[list[tuple[Any, ...]]]:
    """Return both sides without the ids of new memories, which a replay has none of."""
    return [
        [
            (one.verdict, one.fact, one.reason, None if one.verdict is Verdict.CREATED else one.memory_id, one.text)
            for one in side.verdicts
        ]
        for side in (comparison.recorded, comparison.replayed)
    ]


def others(world: World) -> list[dict[str, Any]]:
    """Return all that is stored but replays and usage."""
    return [
        item
        for item in aws.dump(world.client)
        if item["PK"]["S"][:2] not in ("J#", "U#") and "#R0" not in item["SK"]["S"] and "#D0" not in item["SK"]["S"]
    ]


# ---- what is compared

SENTENCES = st.sampled_from(
    [
        "I like tea.",
        "I prefer tea over coffee.",
        "I live in Linz.",
        "I moved to Graz.",
        "My daughter Mia is four.",
        "Actually, my daughter Mia is five.",
        "I do not like tea anymore.",
        "I work as a nurse.",
        "Hello!",
    ]
)


def basic(client: Any) -> World:
    aws.empty(client)
    models = BasicModels()
    return World(client, extractor=models.extractor(), consolidator=models.consolidator(), embedder=models.embedder())


@settings(max_examples=EXAMPLES, deadline=None)
@given(windows=st.lists(st.lists(SENTENCES, min_size=1, max_size=3), min_size=1, max_size=4), data=st.data())
def test_a_replay_right_after_the_commit_gives_what_was_recorded(emulator, windows, data):
    """With the same model and configuration the verdicts are the same: fact, verdict, reason, memory and text."""
    world = basic(emulator)
    for texts in windows:
        operation = flushed(world, *texts, streamId=data.draw(st.sampled_from(["a", "b"])))
        compared = replayed(world, operation)
        assume(not compared.missing_memories)  # what the window itself deleted is not shown again
        assert compared.memories_from is MemoriesFrom.BEFORE_WINDOW
        recorded, again = sides(compared)
        assert again == recorded


def test_a_replay_sees_the_memories_as_they_were(client):
    """What later windows made, changed or restated is not there yet when an earlier window is judged again."""
    world = basic(client)
    operations = [
        flushed(world, "I live in Linz.", "I like tea."),
        flushed(world, "I moved to Graz.", "I like tea."),
        flushed(world, "I moved to Wels.", "I own a cat."),
    ]
    for operation in operations:
        compared = replayed(world, operation)
        assert compared.memories_from is MemoriesFrom.BEFORE_WINDOW
        recorded, again = sides(compared)
        assert again == recorded
        assert any(one.verdict is not Verdict.REJECTED for one in compared.replayed.verdicts)


def test_the_texts_of_a_memory_are_those_of_the_time(client):
    """A caller's later edit is not shown to the model; the recorded verdict still says what its window wrote."""
    world = World(client)
    flushed(world, "I keep bees")
    second = flushed(world, "I keep hens")
    [bees, _] = sorted(world.memories.of_scope("default", SCOPE, now=world.clock()), key=lambda one: one.fact)
    update_memory("default", bees.id, None, Edit(frozenset({"fact"}), "I keep wasps"), context=world.editing())
    world.extractor.requests.clear()
    compared = replayed(world, second)
    assert [one.fact for one in world.extractor.requests[0].memories] == ["I keep bees"]
    assert compared.recorded.verdicts[0].text == "I keep hens"


def test_a_text_that_is_not_kept_is_that_of_now(client):
    """Where no revision says any more what a memory was, its text of now is shown, and the comparison says so."""
    world = World(client)
    config = BankChange(document={"disableMemoryRevisions": True})
    update_bank("default", config, banks=world.banks, retry_policy=world.retry_policy, now=world.clock())
    flushed(world, "I keep bees")
    second = flushed(world, "I keep hens")
    [bees, _] = sorted(world.memories.of_scope("default", SCOPE, now=world.clock()), key=lambda one: one.fact)
    update_memory("default", bees.id, None, Edit(frozenset({"fact"}), "I keep wasps"), context=world.editing())
    world.extractor.requests.clear()
    compared = replayed(world, second)
    assert [one.fact for one in world.extractor.requests[0].memories] == ["I keep wasps"]
    assert compared.memories_from is MemoriesFrom.NOW


def test_another_configuration_gives_other_verdicts(client):
    """The replay judges by the given configuration, over the bank's of now; the recorded side stays."""
    world = World(client)
    operation = flushed(world, "I keep bees")
    spec = ReplaySpec(
        {
            "generationConfig": {"model": "other"},
            "customization": {
                "memoryTopics": [{"customMemoryTopic": {"label": "hens", "description": "Hens."}}],
                "enableThirdPersonMemories": True,
            },
        }
    )
    world.extractor.requests.clear()
    compared = replayed(world, operation, spec)
    [request] = world.extractor.requests
    assert (request.model, request.topics, request.third_person) == ("other", ("hens",), True)
    assert compared.replayed.model == "other"
    none = replayed(world, operation, NOTHING)
    assert (len(none.recorded.verdicts), len(none.replayed.verdicts)) == (1, 0)


def test_nothing_else_is_written(client):
    """A replay of a window and of a bank leave every item but their own, and what they cost, as it was."""
    world = World(client)
    operation = flushed(world, "I keep bees")
    flushed(world, "I keep bees", "I keep hens")
    before = others(world)
    replayed(world, operation, NOTHING)
    bank_replayed(world, ReplaySpec(NOTHING.overrides, windows=5))
    assert others(world) == before


def test_the_cost_is_the_banks(client):
    """The calls of a replay are in the bank's usage of the day."""
    world = World(client)
    operation = flushed(world, "I keep bees")
    before = UsageStore(world.table).day("default", world.clock().date())
    compared = replayed(world, operation)
    after = UsageStore(world.table).day("default", world.clock().date())
    assert after.calls == before.calls + compared.replayed.usage.calls
    assert compared.recorded.usage.calls == compared.replayed.usage.calls == 1


def test_a_forgotten_event_is_shown_to_no_replay(client):
    """What a deleted memory cited is not prompted, and the recorded verdicts on it are not told."""
    world = World(client)
    operation = flushed(world, f"I play the {WORD}", "I keep hens")
    memory = next(one for one in world.memories.of_scope("default", SCOPE, now=world.clock()) if WORD in one.fact)
    stores = {"memories": world.memories, "retry_policy": world.retry_policy, "id_secret": world.id_secret}
    delete_memory("default", memory.id, now=world.clock(), **stores)
    world.extractor.requests.clear()
    compared = replayed(world, operation)
    assert WORD not in str(world.extractor.requests)
    assert WORD not in str(compared)
    assert [one.fact for one in compared.recorded.verdicts] == ["I keep hens"]


# ---- what cannot be replayed


def test_only_a_window_that_was_generated_is_replayed(client):
    """One that is open, and one that is sealed, are refused; a window that never was is not there."""
    world = World(client)
    pending = world.ingest(event("I keep bees"), forceFlush=True).operation.id
    with pytest.raises(NotFound):
        started(world, OperationId(pending.sid, 7))
    for state in ("BUFFERING", "SEALED"):
        with pytest.raises(FailedPrecondition, match=f"is {state}; only a window that was generated"):
            started(world, pending)
        world.deliver()


def test_a_window_whose_events_have_expired_is_refused(client):
    """As soon as an event has expired, whether or not DynamoDB has deleted it."""
    world = World(client)
    operation = flushed(world, "I keep bees")
    world.clock.move(days=89)
    assert started(world, operation)
    world.clock.move(days=2)
    with pytest.raises(FailedPrecondition, match="have expired"):
        started(world, operation)
    world.run()
    assert newest(world, operation).failure == "EVENTS_MISSING"


def test_a_window_without_its_verdicts_is_not_compared(client):
    """Verdicts that have expired, or that an import left behind, are no empty answer: the window is passed over."""
    world = World(client)
    operation, other = flushed(world, "I keep bees"), flushed(world, "I keep hens", streamId="s")
    for item in aws.dump(client):
        key = {"PK": item["PK"], "SK": item["SK"]}
        if operation.sid in item["PK"]["S"] and "#V0" in item["SK"]["S"]:
            client.delete_item(TableName=aws.TABLE, Key=key)
        if other.sid in item["PK"]["S"] and item["SK"]["S"].startswith("W#"):
            client.update_item(
                TableName=aws.TABLE, Key=key, UpdateExpression="REMOVE #out", ExpressionAttributeNames={"#out": "out"}
            )
    started(world, operation)
    world.run()
    assert newest(world, operation).failure == "EVENTS_MISSING"
    with pytest.raises(FailedPrecondition, match="imported"):
        started(world, other)
    assert bank_replayed(world, ReplaySpec(windows=5)).counts == {"skipped": 2}


def test_another_request_waits_for_the_one_under_way(client):
    """The same call again joins the replay; one with another configuration is told to try again."""
    world = World(client)
    operation = flushed(world, "I keep bees")
    first = started(world, operation)
    assert started(world, operation).id == first.id
    with pytest.raises(Unavailable):
        started(world, operation, NOTHING)
    world.run()
    assert started(world, operation, NOTHING).number > first.number


def test_a_used_up_budget_stops_a_replay(client):
    """It ends with its own outcome, what a bank's replay has found until then is kept, and no model is asked."""
    world = World(client)
    operation = flushed(world, "I keep bees")
    world.daily_tokens = 1_000_000
    UsageStore(world.table).add("default", world.clock().date(), Usage(input_tokens=1_000_000))
    started(world, operation)
    world.run()
    assert newest(world, operation).failure == "BUDGET_PAUSED"
    assert bank_replayed(world, ReplaySpec(windows=3)).failure == "BUDGET_PAUSED"
    world.finish()
    assert newest(world, None).counts == {}


def test_a_model_that_is_away_ends_a_replay(client):
    """A window's replay says so; a bank's goes over single failures, and ends after three in a row."""
    world = World(client, extractor=Unreliable())
    operations = [flushed(world, f"I keep bee {number}") for number in range(4)]
    world.extractor.is_away = True
    started(world, operations[0])
    world.run()
    assert newest(world, operations[0]).failure == ModelUnavailable.outcome
    done = bank_replayed(world, ReplaySpec(windows=10))
    assert (done.failure, done.counts) == (ModelUnavailable.outcome, {"failed": 3})


def test_a_replay_that_never_comes_to_anything_ends(client):
    """Runs that die without any progress are started again three times; then the replay says so."""
    world = World(client)
    operation = flushed(world, "I keep bees")
    started(world, operation)
    for _ in range(40):
        world.executions.die()
        world.clock.move(minutes=2)
        assert world.sweep().faults == []
    assert newest(world, operation).failure == start_replay.INTERRUPTED
    assert aws.earliest_due(client) is None


def test_a_run_that_was_replaced_records_nothing(client):
    """Once the sweep has started another run, the one before it neither asks the model nor ends the replay."""
    world = World(client)
    operation = flushed(world, "I keep bees")
    begun = started(world, operation)
    world.executions.die()
    world.clock.move(minutes=2)
    assert world.sweep().faults == []
    world.extractor.requests.clear()
    assert replay.run("default", begun.id, 0, context=world.replaying()) == "late"
    assert (world.extractor.requests, newest(world, operation).ended) == ([], None)
    world.run()
    assert newest(world, operation).comparison


def test_a_replay_is_kept_for_a_week(client):
    """After seven days it is not found any more; a later one has another name."""
    world = World(client)
    operation = flushed(world, "I keep bees")
    replayed(world, operation)
    first = newest(world, operation)
    world.clock.move(days=7)
    assert newest(world, operation) is None
    assert started(world, operation).number > first.number


# ---- a bank


def lived(client: Any) -> World:
    """Three windows in one scope, and one in another."""
    aws.empty(client)
    world = World(client)
    for number in range(3):
        flushed(world, f"I play {WORD} {number}", streamId=f"s{number}")
    flushed(world, "beside", scope=ELSEWHERE)
    return world


def test_a_bank_is_replayed_with_its_newest_windows(client):
    """The newest windows are taken, over all streams; with the same configuration nothing differs."""
    world = lived(client)
    world.extractor.requests.clear()
    done = bank_replayed(world, ReplaySpec(windows=2))
    assert [one.turns[0].text for one in world.extractor.requests] == ["beside", f"I play {WORD} 2"]
    assert (done.failure, done.counts["replayed"], done.counts.get("different", 0)) == (None, 2, 0)
    assert done.counts["recorded.CREATED"] == done.counts["replayed.CREATED"] == 2
    assert replays(world).differences(done, now=world.clock()) == []


def test_a_banks_replay_tells_what_differs(client):
    """Each window whose verdicts differ is named, with the facts that only one of both answers has."""
    world = lived(client)
    done = bank_replayed(world, ReplaySpec(NOTHING.overrides, windows=10))
    assert (done.counts["replayed"], done.counts["different"], done.counts["onlyRecorded"]) == (4, 4, 4)
    found = replays(world).differences(done, now=world.clock())
    assert {one.only_recorded for one in found} == {
        ("beside",),
        *((f"I play {WORD} {number}",) for number in range(3)),
    }


def test_a_scope_is_replayed_alone(client, monkeypatch):
    """With a scope its windows alone are taken, also where its streams are read one by one."""
    monkeypatch.setattr(replay, "BATCH_STREAMS", 1)
    world = lived(client)
    done = bank_replayed(world, ReplaySpec(windows=10, scope=SCOPE))
    assert done.counts["replayed"] == 3


def test_windows_without_events_are_passed_over(client):
    """Windows whose events have expired are counted as skipped."""
    world = lived(client)
    world.clock.move(days=91)
    done = bank_replayed(world, ReplaySpec(windows=10))
    assert (done.failure, done.counts) == (None, {"skipped": 4})


def test_a_banks_replay_goes_on_where_it_stopped(client, monkeypatch):
    """With time for one step a run, each window is judged once, however many runs it takes."""
    monkeypatch.setattr(replay, "BATCH_STREAMS", 2)
    world = lived(client)
    begun = start_replay.start_bank_replay("default", ReplaySpec(windows=10), context=world.starting_replays())
    world.extractor.requests.clear()
    outcomes = []
    while not outcomes or outcomes[-1] == "more":
        context = world.replaying(has_time=lambda: False)
        outcomes.append(replay.run("default", begun.id, 0, context=context))
    assert outcomes[-1] == "replayed"
    assert len(world.extractor.requests) == newest(world, None).counts["replayed"] == 4


# ---- erasing


def test_nothing_of_an_erased_scope_is_left_in_its_replays(client):
    """Both sides of a window's replay, and what a bank's replay says of it, go with the scope."""
    world = lived(client)
    operation = flushed(world, f"My {WORD} is red")
    replayed(world, operation)
    done = bank_replayed(world, ReplaySpec(NOTHING.overrides, windows=10))
    places = scanner.places(client, WORD)
    assert any("#R0" in one for one in places)
    assert any("#D0" in one for one in places)
    erase.erase_scope("default", SCOPE, erase.ErasureTarget(), context=world.erasing())
    assert scanner.places(client, WORD) == []
    assert [one.only_recorded for one in replays(world).differences(done, now=world.clock())] == [("beside",)]
    assert newest(world, operation) is None


def test_nothing_of_a_deleted_bank_is_left_in_its_replays(client):
    """Replays that have ended and one that is under way go with their bank."""
    aws.empty(client)
    world = World(client)
    create_bank("other", BankChange(), banks=world.banks, now=world.clock())
    operation = flushed(world, f"My {WORD} is red", bank="other")
    started(world, operation, bank="other")
    world.run()
    bank_replayed(world, ReplaySpec(NOTHING.overrides, windows=10), "other")
    start_replay.start_bank_replay("other", ReplaySpec(windows=1), context=world.starting_replays())
    delete_bank("other", force=True, banks=world.banks, now=world.clock())
    world.run()
    world.finish()
    assert scanner.places(client, WORD) == []
    assert [item["PK"]["S"] for item in aws.dump(client) if "other" in item["PK"]["S"].split("#")] == []


def interrupted(world: World, spec: ReplaySpec, operation: OperationId | None, at: int) -> int:
    """Erase the scope before call *at* of a run of a replay; return how many calls the run made."""
    if operation:
        started(world, operation, spec)
    else:
        start_replay.start_bank_replay("default", spec, context=world.starting_replays())

    def other(world: World) -> None:
        erase.erase_scope("default", SCOPE, erase.ErasureTarget(), context=world.erasing())

    interruption = Interruption(world, other, at)
    world.client.meta.events.register("before-call.dynamodb", interruption)
    try:
        world.run()
    finally:
        world.client.meta.events.unregister("before-call.dynamodb", interruption)
    return interruption.calls


@ALL_CALLS
@pytest.mark.parametrize("is_bank", [False, True])
def test_an_erasure_beats_a_running_replay(client, most, is_bank):
    """Before calls of a run the scope is erased: nothing of what the run has read is stored afterwards."""
    spec = ReplaySpec(NOTHING.overrides, windows=10 if is_bank else 0)

    def begun() -> tuple[World, OperationId | None]:
        world = lived(client)
        return world, None if is_bank else flushed(world, f"My {WORD} is red")

    calls = interrupted(*(begun()[0], spec, None), at=10_000) if is_bank else 0
    if not is_bank:
        world, operation = begun()
        calls = interrupted(world, spec, operation, 10_000)
    assert calls > 5
    for at in aws.spread(range(calls), most):
        world, operation = begun()
        interrupted(world, spec, operation, at)
        world.finish()
        assert scanner.places(client, WORD) == []


# ---- dying


def kill(client: Any, at: int, *, after: bool, is_bank: bool) -> bool:
    """Kill a replay at one call and let the sweep alone go on; tell whether it was over before."""
    world = lived(client)
    operation = None if is_bank else flushed(world, "I keep hens")
    before = others(world)
    killer = Killer(at, after)
    spec = ReplaySpec(NOTHING.overrides, windows=10 if is_bank else 0)

    def begin() -> None:
        if operation:
            started(world, operation, spec)
        else:
            start_replay.start_bank_replay("default", spec, context=world.starting_replays())

    disarm = _armed(client, killer)
    try:
        begin()
        world.run()
    except Killed:
        pass
    finally:
        disarm()
    is_over = killer.at is not None
    if newest(world, operation) is None:
        begin()  # it died before it was entered
    world.finish()
    done = newest(world, operation)
    assert done.ended
    assert done.failure is None
    if is_bank:
        assert (done.counts["replayed"], done.counts["different"]) == (4, 4)
        assert len(replays(world).differences(done, now=world.clock())) == 4
    else:
        assert [one.fact for one in done.comparison.recorded.verdicts] == ["I keep hens"]
    assert others(world) == before
    return is_over


@pytest.mark.parametrize("is_bank", [False, True])
@pytest.mark.parametrize("after", [False, True])
def test_a_kill_at_some_calls_loses_no_replay(client, after, is_bank):
    """Killed on the way, a replay is finished by a run that the sweep starts, and each window is counted once."""
    for at in (3, 9, 17):
        kill(client, at, after=after, is_bank=is_bank)


@pytest.mark.slow
@pytest.mark.parametrize("is_bank", [False, True])
@pytest.mark.parametrize("after", [False, True])
def test_a_kill_at_any_call_loses_no_replay(client, after, is_bank):
    """The same at every call."""
    for at in itertools.count():
        if kill(client, at, after=after, is_bank=is_bank):
            assert at > 10
            return
