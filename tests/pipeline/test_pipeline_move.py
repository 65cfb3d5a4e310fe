"""Moving: all that one scope had is another one's, and nothing is lost or doubled, whoever runs or dies meanwhile."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from streambank.errors import NotFound, Unavailable
from streambank.model.consent import Learning
from streambank.model.erasure import ErasureTarget
from streambank.model.ids import OperationId, scope_id, stream_key
from streambank.model.move import Move, MoveId
from streambank.model.record import MemoryRecord
from streambank.model.rule import TriggerRule
from streambank.model.transfer import Direction, TransferSpec
from streambank.model.window import DirectMemory, Window, WindowState
from streambank.pipeline.banks import BankChange, create_bank, delete_bank
from streambank.pipeline.generation.generate import GenerateCall, generate
from streambank.pipeline.jobs import erase, move
from streambank.pipeline.memories import purge, reviews
from streambank.pipeline.memories.deletion import delete_memory
from streambank.pipeline.memories.edit import update_memory
from streambank.rules.edits import Edit
from streambank.store.consents import Consents
from streambank.store.exports import Exports
from streambank.store.policy_jobs import PolicyJobs
from streambank.store.rewrites import Rewrites
from streambank.store.transfers import Transfers
from tests import aws, scanner
from tests.aws import Killed
from tests.pipeline.test_pipeline_erase import park
from tests.pipeline.test_pipeline_faults import Killer, _armed, _clear
from tests.pipeline.test_pipeline_interleavings import Interruption
from tests.pipeline.test_pipeline_replay import newest, replayed, started
from tests.pipeline.test_pipeline_reviews import VERMILION, basic_world, decide, open_reviews, waiting
from tests.world import SCOPE, World, event

NEW = {"user_id": "new"}
NEVER = lambda: False
WORD = "xylophone"


def said(what: str, event_id: str | None, **more: Any) -> dict[str, Any]:
    return event(f"{what} {WORD}", event_id, **more)


def lived(client: Any) -> World:
    """A scope with all that can be in one: memories, a deletion, windows in every state, and a direct generation."""
    _clear(client)
    world = World(client)
    world.ingest(said("a", "1"), said("b", "2"), streamId="s")
    world.settle()
    forget(world, "b")
    receipt = world.ingest(said("c", "3"), streamId="parked", forceFlush=True)
    world.deliver()
    park(world, receipt.operation.id.sid)
    call = GenerateCall("default", SCOPE, token="t", memories=(DirectMemory(f"e {WORD}"),))
    generate(call, context=world.generating)
    world.settle()
    world.ingest(said("d", "4"), streamId="sealed", forceFlush=True)
    world.deliver()
    world.ingest(
        said("f", "6"), said("g", None), streamId="open", rule={"idleDuration": "600s"}, revisionLabels={"l": "m"}
    )
    return world


def forget(world: World, letter: str, scope: dict[str, str] = SCOPE) -> None:
    now = world.clock()
    memory = next(one for one in world.memories.of_scope("default", scope, now=now) if one.fact.startswith(letter))
    stores = {"memories": world.memories, "retry_policy": world.retry_policy, "id_secret": world.id_secret}
    delete_memory("default", memory.id, now=now, **stores)


def moved(world: World, source: dict[str, str] = SCOPE, target: dict[str, str] = NEW) -> Move:
    return move.move_scope("default", source, target, context=world.moving())


def letters(world: World, scope: dict[str, str]) -> str:
    return "".join(sorted(fact[0] for fact in world.facts(scope)))


def due_at_the_end(world: World) -> list[str]:
    return [item["SK"]["S"] for item in aws.dump(world.client) if "G1SK" in item]


def exported(world: World, scope: dict[str, str] = SCOPE) -> list[Any]:
    """Return what an export of a scope has, without what names streams by their keys."""
    records = Exports(world.table, lambda: world.id_secret).records(
        "default", TransferSpec(scope), None, now=world.clock()
    )
    return sorted(repr(_comparable(record)) for _, record in records if record)


def _comparable(record: Any) -> Any:
    """Return *record* without what only the service sees: attempts, and the scopes that hashes come from."""
    if isinstance(record, MemoryRecord):
        return replace(record, memory=replace(record.memory, origins=()))
    return replace(record, attempt=0, due=None, began=None) if isinstance(record, Window) else record


def left_in_source(world: World, scope: dict[str, str] = SCOPE) -> set[str]:
    """Return the kinds of items that a scope has."""
    sids = [stream_key(scope, name) for name in ("s", "parked", "sealed", "open")]
    partitions = {f"C#default#{scope_id(scope)}", *(f"S#default#{sid}" for sid in sids)}
    return {item["SK"]["S"].split("#")[0] for item in aws.dump(world.client) if item["PK"]["S"] in partitions}


def check(world: World, *, late: str = "") -> None:
    """Everything is in the target, once; nothing said is left in the source, and nothing hangs."""
    world.finish()
    assert letters(world, SCOPE) == late
    assert letters(world, NEW) == "adefg"
    assert not world.memories.version("default", SCOPE).erasing
    assert not world.memories.version("default", NEW).erasing
    if not late:
        assert left_in_source(world) == {"V", "HEAD", "D", "F", "I", "L", "MOVE", "MOVED"}
    assert due_at_the_end(world) == []
    assert not [item for item in aws.dump(world.client) if "mov" in item and item["SK"]["S"] == "HEAD"]


def test_all_that_a_scope_has_becomes_the_targets(client):
    """Memories with their ids and revisions, windows in every state, pending events and what was deleted are moved."""
    world = lived(client)
    ids_before = {one.id: one.created for one in world.memories.of_scope("default", SCOPE, now=world.clock())}
    would = move.count_scope("default", SCOPE, context=world.moving())
    done = moved(world)
    assert done.ended
    assert {kind: done.counts.get(kind) for kind in would} == would
    assert done.counts["events"] == 6
    assert {one.id: one.created for one in world.memories.of_scope("default", NEW, now=world.clock())} == ids_before
    assert world.facts() == []
    parked = world.windows.get("default", stream_key(NEW, "parked"), 1)
    assert (parked.state, parked.stream.scope, parked.stream.name) == (WindowState.PARKED, NEW, "parked")
    head = world.streams.head("default", stream_key(NEW, "open"))
    assert (head.count, head.window, head.settings.revision_labels) == (2, 1, {"l": "m"})
    check(world)


def test_sources_and_history_stay(client):
    """A memory cites the windows of its stream in the target, and every revision is there."""
    world = lived(client)
    [memory] = [one for one in world.memories.of_scope("default", SCOPE, now=world.clock()) if one.fact[0] == "a"]
    world.clock.move(seconds=1)
    update_memory("default", memory.id, None, Edit(frozenset({"fact"}), "a new text"), context=world.editing())
    before = world.memories.find("default", memory.id, now=world.clock())
    texts = [one.fact for one in world.memories.revisions("default", before, now=world.clock())]
    moved(world)
    after = world.memories.find("default", memory.id, now=world.clock())
    assert after.scope == NEW
    assert [one.sid for one in after.evidence] == [stream_key(NEW, "s")]
    assert [one.fact for one in world.memories.revisions("default", after, now=world.clock())] == texts
    cited = world.memories.citations("default", NEW, [after], now=world.clock())
    assert WORD in cited[memory.id][0].text


def test_ids_of_events_stay_known(client):
    """An event of a moved stream is a duplicate in the target, and in the source too: nothing is learnt twice."""
    world = lived(client)
    moved(world)
    for scope in (NEW, SCOPE):
        receipt = world.ingest(said("a", "1"), said("b", "2"), scope=scope, streamId="s")
        assert (receipt.accepted, receipt.duplicates, receipt.conflicts) == (0, 2, ())
    assert world.ingest(said("f", "6"), scope=NEW, streamId="open").operation.id.window == 1
    check(world)


def test_what_was_forgotten_stays_forgotten(client):
    """An event that a deleted memory cited brings nothing back in either scope, also once its id is forgotten."""
    world = lived(client)
    moved(world)
    world.finish()
    world.clock.move(days=100)
    for scope in (NEW, SCOPE):
        receipt = world.ingest(said("b", "2"), scope=scope, streamId="s", forceFlush=True)
        assert receipt.accepted == 1
        world.finish()
    assert letters(world, NEW) == "adefg"
    assert letters(world, SCOPE) == ""


def test_what_is_forgotten_after_a_move_stays_forgotten(client):
    """A memory that was moved and is deleted then has hashes of the scope in which it was learnt: they still count."""
    world = lived(client)
    moved(world)
    world.finish()
    forget(world, "a", NEW)
    world.clock.move(days=100)
    world.ingest(said("a", "1"), scope=NEW, streamId="s", forceFlush=True)
    world.finish()
    assert letters(world, NEW) == "defg"


def test_a_move_there_and_back_changes_nothing(client):
    """What an export has is the same after a move to a new scope and back, once and twice."""
    world = lived(client)
    before = exported(world)
    for _ in range(2):
        moved(world)
        assert {line.partition("(")[0] for line in exported(world)} == {"StreamRecord", "MarkerRecord"}
        moved(world, NEW, SCOPE)
        assert exported(world) == before
    world.finish()
    assert letters(world, SCOPE) == "adefg"


def test_the_memories_of_both_are_the_targets(client):
    """A visitor who signs in: streams of the same name stay apart, and no event of either is accepted again."""
    world = lived(client)
    world.ingest(event("x was there", "1"), scope=NEW, streamId="s")
    world.settle()
    world.ingest(event("y is pending", "9"), scope=NEW, streamId="open", rule={"eventCount": 9})
    done = moved(world)
    assert done.ended
    receipt = world.ingest(event("x was there", "1"), said("b", "2"), scope=NEW, streamId="s")
    assert (receipt.accepted, receipt.duplicates) == (0, 2)
    names = {head.stream.name for head in heads_of(world, NEW)}
    assert names == {"s", f"s~{scope_id(SCOPE)[:8]}", "open", f"open~{scope_id(SCOPE)[:8]}", "sealed", "parked"}
    world.ingest(scope=NEW, streamId="open", forceFlush=True)
    world.finish()
    assert letters(world, NEW) == "adefgxy"
    world.clock.move(days=100)
    world.ingest(said("b", "2"), scope=NEW, streamId="s", forceFlush=True)
    world.finish()
    assert letters(world, NEW) == "adefgxy"


def heads_of(world: World, scope: dict[str, str]) -> list[Any]:
    sids = world.erasures.streams("default", scope_id(scope))
    return [head for sid in sids if (head := world.streams.head("default", sid))]


def test_what_is_said_in_the_source_afterwards_is_its_own(client):
    """The source's streams go on behind what was moved; a second move takes that too, under a name of its own."""
    world = lived(client)
    moved(world)
    receipt = world.ingest(event("z later", "20"), streamId="s")
    assert (receipt.accepted, receipt.operation.id.window) == (1, 2)
    world.finish()
    assert (letters(world, SCOPE), letters(world, NEW)) == ("z", "adefg")
    assert moved(world).counts["streams"] == 1
    world.finish()
    assert (letters(world, SCOPE), letters(world, NEW)) == ("", "adefgz")
    assert moved(world).counts == {}


def test_an_operation_is_found_where_its_window_is(client):
    """The stream of the source names the one in the target, for sealed windows and for the one that was open."""
    world = lived(client)
    moved(world)
    for name in ("s", "open"):
        assert world.streams.moved_to("default", stream_key(SCOPE, name), 1) == stream_key(NEW, name)
    assert world.streams.moved_to("default", stream_key(SCOPE, "s"), 2) is None
    with pytest.raises(NotFound):
        world.operation(OperationId(stream_key(SCOPE, "s"), 1))


def test_nobody_else_writes_memories_meanwhile(client):
    """Edits, deletions, erasures and other moves wait until a move has ended, in both scopes."""
    world = lived(client)
    memory = world.memories.of_scope("default", SCOPE, now=world.clock())[0]
    assert move.move_scope("default", SCOPE, NEW, context=world.moving(NEVER)).ended is None
    assert move.move_scope("default", SCOPE, NEW, context=world.moving(NEVER)).number == 1
    stores: dict[str, Any] = {
        "memories": world.memories,
        "retry_policy": world.retry_policy,
        "id_secret": world.id_secret,
    }
    attempts: list[Callable[[], object]] = [
        lambda: update_memory("default", memory.id, None, Edit(frozenset({"fact"}), "no"), context=world.editing()),
        lambda: forget(world, "a"),
        lambda: purge.delete(purge.Purge("default", lambda _: True, lambda _: True), now=world.clock(), **stores),
        lambda: erase.erase_scope("default", SCOPE, ErasureTarget(), context=world.erasing()),
        lambda: erase.erase_scope("default", NEW, ErasureTarget(), context=world.erasing()),
        lambda: move.move_scope("default", NEW, SCOPE, context=world.moving()),
        lambda: move.move_scope("default", SCOPE, {"user_id": "x"}, context=world.moving()),
    ]
    for attempt in attempts:
        with pytest.raises(Unavailable):
            attempt()
    check(world)


def test_a_move_waits_for_exports(client):
    """While the lines of a bank are read or written nothing changes its scope."""
    world = lived(client)
    jobs = Transfers(world.table)
    begun = jobs.begin("default", Direction.EXPORT, TransferSpec(), now=world.clock())
    with pytest.raises(Unavailable, match="export"):
        moved(world)
    jobs.finish(jobs.claim(begun, now=world.clock()), now=world.clock())
    move.move_scope("default", SCOPE, NEW, context=world.moving(NEVER))
    for scope in (SCOPE, NEW):
        with pytest.raises(Unavailable, match="moved"):
            exported(world, scope)
    check(world)
    assert exported(world, NEW)


def test_the_change_feed_tells_of_a_move(client):
    """Each live memory is told once in each scope, and later changes have numbers of their own."""
    world = lived(client)
    names = {one.id for one in of(world, SCOPE)}
    moved(world)
    told = {scope["user_id"]: changes_of(world, scope) for scope in (SCOPE, NEW)}
    assert {name for kind, name in told["u1"] if kind == "MOVED_AWAY"} == names
    assert told["new"] == [("MOVED", name) for name in sorted(names)]
    world.finish()
    assert changes_of(world, NEW)[: len(names)] == told["new"]
    assert len(changes_of(world, NEW)) == 5


def changes_of(world: World, scope: dict[str, str]) -> list[tuple[str, str]]:
    return [(one.kind.value, one.memory_id) for one in world.told(scope)]


def test_a_content_policy_and_a_move_wait_for_each_other(client):
    """No text is copied while texts are rewritten, so none is left as it was."""
    world = lived(client)
    jobs = PolicyJobs(world.table)
    jobs.begin("default", now=world.clock())
    with pytest.raises(Unavailable, match="policy"):
        moved(world)
    jobs.finish(jobs.claim(jobs.find("default"), now=world.clock()), now=world.clock())
    move.move_scope("default", SCOPE, NEW, context=world.moving(NEVER))
    with pytest.raises(Unavailable, match="moved"):
        list(Rewrites(world.table).items("default", range(8), None))
    check(world)


def test_a_window_that_was_moved_is_replayed_without_what_was_forgotten(client):
    """The replay of a window in the source goes with its old name, and a new one shows no event that is forgotten."""
    world = lived(client)
    old = OperationId(stream_key(SCOPE, "s"), 1)
    started(world, old)
    moved(world)
    assert newest(world, old) is None
    new = OperationId(stream_key(NEW, "s"), 1)
    world.extractor.requests.clear()
    replayed(world, new)
    assert {turn.text[0] for request in world.extractor.requests for turn in request.turns} == {"a"}


def test_a_no_goes_along(client):
    """A user who was set to learn nothing is so under the new id, and what waits is not learnt."""
    world = lived(client)
    consents = Consents(world.table)
    stored = consents.find("default", SCOPE)
    no = stored.consent.changed_to(Learning.DISABLED, now=world.clock())
    consents.write("default", SCOPE, stored.version, no)
    moved(world)
    assert consents.find("default", NEW).consent.learning is Learning.DISABLED
    assert consents.find("default", SCOPE).consent == no
    world.finish()
    assert letters(world, NEW) == "ae"


def test_a_bank_can_be_deleted_in_the_middle_of_a_move(client):
    """Nothing of the bank is left, and nothing comes back."""
    _clear(client)
    world = World(client)
    bank = create_bank("short-lived", BankChange("x"), banks=world.banks, now=world.clock()).id
    for number in range(6):
        world.ingest(said("a", str(number)), bank=bank, streamId=f"s{number}", forceFlush=True)
    world.settle()
    begun = move.move_scope(bank, SCOPE, NEW, context=world.moving(NEVER))
    for _ in range(5):
        move.proceed(begun, context=world.moving(NEVER))
    delete_bank(bank, force=True, banks=world.banks, now=world.clock())
    assert move.proceed(begun, context=world.moving()).ended is None
    world.finish()
    assert scanner.places(client, WORD) == []
    assert [item["PK"]["S"] for item in aws.dump(client) if bank in item["PK"]["S"]] == []


def test_ids_of_moves():
    """A move's operation is named so that it is found again, and told from any other."""
    world_clock = World.__dataclass_fields__["clock"].default_factory()
    one = Move("b", scope_id(SCOPE), 3, world_clock.instant, SCOPE, NEW)
    assert MoveId.parse(one.id) == MoveId(scope_id(SCOPE), 3)
    for text in ("move", "move-1", f"{scope_id(SCOPE)}-1", f"move-{scope_id(SCOPE)}-0"):
        assert MoveId.parse(text) is None


def test_an_open_review_can_be_accepted_after_a_move(client):
    """A change that waits is one of the target's memory, under an id of the target, with its evidence."""
    world = waiting(basic_world(client))
    [before] = open_reviews(world)
    assert moved(world).counts["reviews"] == 1
    assert open_reviews(world) == []
    [review] = world.reviews.of_scope("default", NEW, now=world.clock())
    assert (review.text, review.created, review.scope) == (before.text, before.created, NEW)
    assert review.id.startswith(scope_id(NEW))
    with pytest.raises(NotFound):
        decide(world, reviews.accept, before.id)
    decide(world, reviews.accept, review.id)
    assert world.facts(NEW) == [VERMILION.removesuffix(".")]
    [memory] = world.memories.of_scope("default", NEW, now=world.clock())
    assert {one.sid for one in memory.evidence} == {stream_key(NEW, "default")}


# ---- steps, kills and races


def test_a_move_of_one_step_at_a_time(client):
    """Every run may end after one step, and after each every memory is in exactly one of the scopes."""
    world = lived(client)
    begun = move.move_scope("default", SCOPE, NEW, context=world.moving(NEVER))
    for _ in range(400):
        if move.proceed(begun, context=world.moving(NEVER)).ended:
            break
        assert "".join(sorted(letters(world, SCOPE) + letters(world, NEW))) == "ae"
    check(world)


def kill(client: Any, at: int, *, after: bool) -> bool:
    """Kill a move at one call, say something in both scopes, let the sweep alone go on; tell whether it was over."""
    world = lived(client)
    killer = Killer(at, after)
    disarm = _armed(client, killer)
    try:
        moved(world)
    except Killed:
        pass
    finally:
        disarm()
    is_over, killer.at = killer.at is not None, None
    if is_over:
        return True
    world.clock.move(seconds=90)
    world.finish()
    if world.moving().moves.find("default", scope_id(SCOPE), 1) is None:
        moved(world)  # it died before it was entered
    check(world)
    return False


@pytest.mark.parametrize("after", [True])
def test_a_kill_at_some_calls_loses_nothing(client, after):
    """Killed on the way, a move is finished by the sweep, and everything is in the target once."""
    for at in itertools.count(0, 29):
        if kill(client, at, after=after):
            assert at > 29
            return


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True])
def test_a_kill_at_any_call_loses_nothing(client, after):
    """The same at every call."""
    for at in itertools.count():
        if kill(client, at, after=after):
            assert at > 60
            return


def meddle(client: Any, other: Any, at: int) -> int:
    """Let *other* happen before call *at* of a move; return how many calls the move made."""
    world = lived(client)
    interruption = Interruption(world, other, at)
    client.meta.events.register("before-call.dynamodb", interruption)
    try:
        moved(world)
    finally:
        client.meta.events.unregister("before-call.dynamodb", interruption)
    if at >= 0:
        world.finish()
        everything = letters(world, SCOPE) + letters(world, NEW)
        assert sorted(set(everything)) == sorted(everything), "nothing is doubled"
        assert set("aefg") <= set(everything) <= set("adefgl"), "nothing is lost"
        assert set(letters(world, SCOPE)) <= {"l"}
        assert due_at_the_end(world) == []
        assert all(item["cnt"]["N"] == "0" for item in aws.dump(client) if item["SK"]["S"] == "HEAD")
    return interruption.calls


def try_to(act: Callable[[World], object]) -> Callable[[World], None]:
    def attempt(world: World) -> None:
        try:
            act(world)
        except (Unavailable, NotFound):
            return

    return attempt


OTHERS = {
    "a call to the source": lambda world: world.ingest(event("later", "9"), streamId="open", forceFlush=True),
    "a call to the target": try_to(
        lambda world: world.ingest(event("later", "9"), said("f", "6"), scope=NEW, streamId="open", forceFlush=True)
    ),
    "generations": lambda world: (world.deliver(), world.run(), world.deliver()),
    "a sweep": lambda world: (world.clock.move(minutes=3), world.sweep(), world.run()),
    "the same move": try_to(moved),
    "an edit": try_to(
        lambda world: update_memory(
            "default",
            next(one.id for one in [*of(world, SCOPE), *of(world, NEW)] if one.fact[0] == "a"),
            None,
            Edit(frozenset({"fact"}), "a changed"),
            context=world.editing(),
        )
    ),
}


def of(world: World, scope: dict[str, str]) -> list[Any]:
    return world.memories.of_scope("default", scope, now=world.clock())


@pytest.mark.parametrize("name", OTHERS)
def test_whoever_comes_between_loses_and_doubles_nothing(client, name):
    """Calls, generations, sweeps, edits and the same move in the middle: everything is there once."""
    assert meddle(client, OTHERS[name], 30) > 30


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_whoever_comes_between_any_two_calls_loses_nothing(client, name):
    """The same before every call."""
    for at in range(meddle(client, OTHERS[name], -1)):
        meddle(client, OTHERS[name], at)


def test_a_memory_is_always_in_one_scope(client):
    """Before every call of a move each memory can be read by its id, and is listed in exactly one of the scopes."""
    world = lived(client)
    memories = {one.id for one in of(world, SCOPE)}
    seen: list[int] = []

    def look(world: World) -> None:
        assert sorted(one.id for one in [*of(world, SCOPE), *of(world, NEW)]) == sorted(memories)
        assert all(world.memories.find("default", one, now=world.clock()) for one in memories)
        seen.append(1)

    class Watch(Interruption):
        def __call__(self, model: Any, **more: Any) -> None:
            self.at = self.calls
            super().__call__(model, **more)

    watch = Watch(world, look, 0)
    client.meta.events.register("before-call.dynamodb", watch)
    try:
        moved(world)
    finally:
        client.meta.events.unregister("before-call.dynamodb", watch)
    assert len(seen) > 40
    check(world)


@pytest.mark.parametrize("at", range(4))
def test_a_memory_is_found_while_it_moves(client, at):
    """A move that comes between the look-up of an id and the read of its memory makes nobody miss it."""
    world = lived(client)
    [name] = [one.id for one in of(world, SCOPE) if one.fact[0] == "a"]
    interruption = Interruption(world, moved, at)
    client.meta.events.register("before-call.dynamodb", interruption)
    try:
        assert world.memories.find("default", name, now=world.clock()).id == name
    finally:
        client.meta.events.unregister("before-call.dynamodb", interruption)


@pytest.mark.parametrize("at", range(6))
def test_an_edit_takes_effect_once_wherever_a_move_comes_between(client, at):
    """Whichever scope its memory is in when an edit is committed, the edit is that scope's."""
    world = lived(client)
    [name] = [one.id for one in of(world, SCOPE) if one.fact[0] == "a"]
    interruption = Interruption(world, moved, at)
    client.meta.events.register("before-call.dynamodb", interruption)
    try:
        update_memory("default", name, None, Edit(frozenset({"fact"}), "a changed"), context=world.editing())
    finally:
        client.meta.events.unregister("before-call.dynamodb", interruption)
    after = world.memories.find("default", name, now=world.clock())
    assert (after.fact, after.revision) == ("a changed", 2)
    assert [one.fact for one in [*of(world, SCOPE), *of(world, NEW)] if one.id == name] == ["a changed"]


def test_a_rule_moves_with_its_stream(client):
    """A stream that has only a rule keeps it in the target."""
    world = World(client)
    world.ingest(streamId="r", rule={"eventCount": 7})
    moved(world)
    assert world.streams.head("default", stream_key(NEW, "r")).rule == TriggerRule(7)
