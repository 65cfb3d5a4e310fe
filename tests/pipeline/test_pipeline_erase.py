"""Erasing: a word that was said is nowhere afterwards, whoever runs or dies meanwhile, and nothing else is touched."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from streambank.errors import Unavailable
from streambank.model.change_record import ChangeKind
from streambank.model.chat import ANYTHING, ChatDraft
from streambank.model.erasure import Erasure, ErasureId, ErasureTarget
from streambank.model.ids import scope_id
from streambank.model.session import Session
from streambank.model.window import DirectMemory, WindowState
from streambank.pipeline.generation.generate import GenerateCall, generate
from streambank.pipeline.jobs import erase
from streambank.pipeline.memories.deletion import delete_memory
from streambank.pipeline.sessions import chat_history
from streambank.pipeline.sweep import sweep
from tests import aws, scanner
from tests.aws import Killed
from tests.pipeline.test_pipeline_faults import Killer, _armed, _clear
from tests.pipeline.test_pipeline_interleavings import Interruption
from tests.world import SCOPE, World, event

WORD = "xylophone"
ELSEWHERE = {"user_id": "u2"}
ASKED = ErasureTarget("u1", ("chat 1",))


def said(what: str, event_id: str, **more: Any) -> dict[str, Any]:
    return event(f"{what} {WORD}", event_id, **more)


def lived(client: Any) -> World:
    """A scope with all that can be in one, and another one beside it."""
    _clear(client)
    world = World(client)
    world.ingest(event("beside", "1"), scope=ELSEWHERE)
    world.ingest(said("a", "1"), said("b", "2"), streamId="s", metadata={WORD: {"stringValue": WORD}})
    world.settle()
    memory = next(one for one in world.memories.of_scope("default", SCOPE, now=world.clock()) if "b" in one.fact)
    delete_memory(
        "default",
        memory.id,
        memories=world.memories,
        retry_policy=world.retry_policy,
        id_secret=world.id_secret,
        now=world.clock(),
    )
    receipt = world.ingest(said("c", "3"), streamId="parked", revisionLabels={"l": WORD})
    world.deliver()
    park(world, receipt.operation.id.sid)
    world.ingest(said("d", "4"), streamId="sealed", forceFlush=True)
    world.deliver()
    call = GenerateCall("default", SCOPE, token="t", memories=(DirectMemory(f"e {WORD}"),))
    generate(call, context=world.generating)
    world.ingest(said("f", "6"), streamId="open", rule={"eventCount": 9}, revisionLabels={"l": WORD})
    talked(world)
    return world


def park(world: World, sid: str, bank: str = "default") -> None:
    """Let the first window of a stream have failed too often."""
    window = world.windows.get(bank, sid, 1)
    assert world.windows.suspend_expiry(window)
    assert world.windows.record_failure(window, failure="MODEL_REFUSED", failures=5, due=None, now=world.clock())


def talked(world: World) -> None:
    """A session and a conversation of the user, and ones of somebody else."""
    now = world.clock()
    for user, word in (("u1", WORD), ("u2", "nothing")):
        session = Session(
            f"of-{user}", user, created=world.clock(), updated=world.clock(), first=0, last=0, state={"k": word}
        )
        world.erasing().sessions.create("default", session)
        history = ChatDraft(({"text": word},)).at(now, conversation_id=f"chat {user[1]}", version="v1")
        chat_history.store(
            "default", history, ANYTHING, histories=world.histories, retry_policy=world.retry_policy, now=now
        )


def erased(world: World, asked: ErasureTarget = ASKED, scope: dict[str, str] = SCOPE) -> Erasure:
    return erase.erase_scope("default", scope, asked, context=world.erasing())


def check(world: World) -> None:
    """The word is gone for good, the scope lives on, and its neighbour never noticed."""
    assert scanner.places(world.client, WORD) == []
    world.finish()
    assert scanner.places(world.client, WORD) == []
    assert world.facts(ELSEWHERE) == ["beside"]
    found = chat_history.load(
        "default", "chat 2", histories=world.histories, retry_policy=world.retry_policy, now=world.clock()
    )
    assert found is not None
    view = world.memories.version("default", SCOPE)
    assert not view.erasing
    live = {memory.id for memory in world.memories.of_scope("default", SCOPE, now=world.clock())}
    assert world.live_by_feed() == live, "who reads the change feed alone knows what there is"
    assert [one.kind for one in world.told()][:1] == [ChangeKind.ERASED], "of what was before nothing is told"
    assert not [item for item in aws.dump(world.client) if "G1SK" in item], "nothing stays due"


def test_nothing_of_an_erased_scope_is_left(client):
    """Events, windows, plans, memories, revisions, citations, deleted ones and chats are gone, and counted."""
    world = lived(client)
    assert len(scanner.places(client, WORD)) > 12
    done = erased(world)
    assert done.ended
    assert done.counts["events"] == 5
    assert done.counts["streams"] == 5
    assert done.counts["memories"] == 2
    assert done.counts["conversations"] == 1
    assert done.counts["eventFingerprints"] == 5
    check(world)
    assert world.facts() == []


def test_a_dry_run_counts_and_takes_nothing(client):
    """What would go is told, kind by kind, as it is then erased; nothing is written."""
    world = lived(client)
    before = aws.dump(client)
    would = erase.count_scope("default", SCOPE, ASKED, context=world.erasing())
    assert aws.dump(client) == before
    done = erased(world).counts
    assert {kind: done.get(kind) for kind in would} == would


def test_what_was_erased_does_not_come_back(client):
    """A client that sends its history again brings nothing back: the ids are known; what is new is remembered."""
    world = lived(client)
    erased(world)
    receipt = world.ingest(said("a", "1"), said("b", "2"), event("new", "7"), streamId="s")
    assert (receipt.accepted, receipt.duplicates, receipt.conflicts) == (1, 2, ())
    world.settle()
    assert world.facts() == ["new"]
    assert scanner.places(client, WORD) == []


def test_operations_tell_of_the_erasure(client):
    """A window that was not generated is ERASED, one that was stays done and shows nothing of what it made."""
    world = lived(client)
    windows = {sid: world.windows.get("default", sid, 1) for sid in world.erasures.streams("default", scope_id(SCOPE))}
    erased(world)
    for sid, before in windows.items():
        after = world.windows.get("default", sid, 1)
        is_done = before is not None and before.state is WindowState.DONE
        assert after.state is (WindowState.DONE if is_done else WindowState.ERASED)
        assert (after.direct, after.settings.is_empty, after.is_expiry_suspended) == ((), True, False)


def test_an_erasure_goes_on_where_it_stopped(client):
    """Without time for more than a step the caller is told that it is not done, and the sweep finishes it."""
    world = lived(client)
    first = erase.erase_scope("default", SCOPE, ASKED, context=world.erasing(lambda: False))
    assert first.ended is None
    assert scanner.places(client, WORD)
    again = erase.erase_scope("default", SCOPE, ASKED, context=world.erasing(lambda: False))
    assert again.number == first.number
    with pytest.raises(Unavailable):
        erase.erase_scope("default", SCOPE, ErasureTarget(), context=world.erasing())
    world.ingest(event("later", "9"), streamId="open", forceFlush=True)
    world.finish()
    check(world)
    assert world.facts() == ["later"]
    assert world.erasures.find("default", scope_id(SCOPE)).ended


def test_a_bank_is_erased_and_lives_on(client):
    """All scopes, sessions and conversations of a bank go; another bank, and what is said afterwards, stay."""
    world = lived(client)
    world.ingest(said("other", "1"), bank="default", scope={"user_id": "u3"}, streamId="x", rule={"eventCount": 5})
    would = erase.count_bank("default", context=world.erasing())
    assert would["scopes"] == 3
    done = erase.erase_bank("default", context=world.erasing())
    assert done.ended
    assert (done.counts["scopes"], done.counts["conversations"]) == (3, 2)
    assert scanner.places(client, WORD) + scanner.places(client, "beside") == []
    world.ingest(event("new", "7"), streamId="s")
    world.finish()
    assert world.facts() == ["new"]


def test_a_bank_that_is_erased_bit_by_bit(client):
    """Every run may end after one step: each scope is erased once, and the job comes to its end."""
    world = lived(client)
    begun = erase.erase_bank("default", context=world.erasing(lambda: False))
    assert begun.ended is None
    world.ingest(event("later", "9"), scope={"user_id": "u9"})
    for _ in range(200):
        found = world.erasures.find("default", "")
        if found.ended:
            break
        erase.proceed(found, context=world.erasing(lambda: False))
    assert world.erasures.find("default", "").ended
    world.finish()
    assert scanner.places(client, WORD) + scanner.places(client, "beside") == []


def test_ids_of_erasures():
    """An erasure's operation is named so that it is found again, and told from any other."""
    erasure = Erasure("b", scope_id(SCOPE), 3, aws_time())
    assert ErasureId.parse(erasure.id) == ErasureId(scope_id(SCOPE), 3)
    assert ErasureId.parse(replace(erasure, cid="").id) == ErasureId("", 3)
    for text in ("erase", "erase-0", f"{scope_id(SCOPE)}-1", "erase-x-1"):
        assert ErasureId.parse(text) is None


def aws_time():
    return World.__dataclass_fields__["clock"].default_factory().instant


# ---- kills and races


def kill(client: Any, at: int, *, after: bool) -> bool:
    """Kill an erasure at one call, say something, let the sweep alone go on; tell whether it was over before."""
    world = lived(client)
    killer = Killer(at, after)
    disarm = _armed(client, killer)
    try:
        erased(world)
    except Killed:
        pass
    finally:
        disarm()
    is_over, killer.at = killer.at is not None, None
    if is_over:
        return True
    world.ingest(event("later", "9"), streamId="open", forceFlush=True)
    world.clock.move(seconds=90)
    world.finish()
    if world.erasures.find("default", scope_id(SCOPE)) is None:
        erased(world)  # it died before it was entered: nobody was told that anything would go
    world.finish()
    check(world)
    assert world.facts() in (["later"], [])
    return False


@pytest.mark.parametrize("after", [True])
def test_a_kill_at_some_calls_leaves_nothing(client, after):
    """Killed on the way, an erasure is finished by the sweep, and takes nothing that was said after it was cut."""
    for at in itertools.count(0, 29):
        if kill(client, at, after=after):
            assert at > 29
            return


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True])
def test_a_kill_at_any_call_leaves_nothing(client, after):
    """The same at every call."""
    for at in itertools.count():
        if kill(client, at, after=after):
            assert at > 60
            return


def race(client: Any, at: int) -> int:
    """Erase a scope before call *at* of a generation in it; return how many calls the generation made."""
    world = lived(client)
    world.deliver()
    interruption = Interruption(world, lambda world: erased(world), at)
    client.meta.events.register("before-call.dynamodb", interruption)
    try:
        world.run()
        world.sweep()
    finally:
        client.meta.events.unregister("before-call.dynamodb", interruption)
    if at >= 0:
        world.finish()
        check(world)
        assert world.facts() == []
    return interruption.calls


def test_an_erasure_beats_a_running_generation(client):
    """Before some of the calls of running generations: none of them stores a word of what was erased."""
    for at in aws.spread(range(race(client, -1)), 3):
        race(client, at)


@pytest.mark.slow
def test_an_erasure_beats_a_running_generation_at_any_call(client):
    """The same before every call, a hundred times at least."""
    calls = race(client, -1)
    for at in [*range(calls), *range(max(0, 100 - calls))]:
        race(client, at)


def meddle(client: Any, other: Any, at: int) -> int:
    """Let *other* happen before call *at* of an erasure."""
    world = lived(client)
    interruption = Interruption(world, other, at)
    client.meta.events.register("before-call.dynamodb", interruption)
    try:
        erased(world)
    finally:
        client.meta.events.unregister("before-call.dynamodb", interruption)
    if at >= 0:
        world.finish()
        check(world)
        assert world.facts() in (["later"], [])
        # What was accepted while the erasure ran is in a window, whatever that came to.
        assert all(item["cnt"]["N"] == "0" for item in aws.dump(client) if item["SK"]["S"] == "HEAD")
    return interruption.calls


OTHERS = {
    "a call": lambda world: world.ingest(event("later", "9"), streamId="open", forceFlush=True),
    "generations": lambda world: (world.deliver(), world.run()),
    "a sweep": lambda world: (world.clock.move(minutes=3), world.sweep(), world.run()),
    "another erasure": lambda world: erase.erase_scope("default", SCOPE, ASKED, context=world.erasing()),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_whoever_comes_between_stores_nothing_that_was_erased(client, name):
    """Calls, generations, sweeps and other erasures in the middle: the word is gone, and nothing hangs."""
    for at in aws.spread(range(meddle(client, OTHERS[name], -1)), 3):
        meddle(client, OTHERS[name], at)


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_whoever_comes_between_any_two_calls_stores_nothing(client, name):
    """The same before every call."""
    for at in range(meddle(client, OTHERS[name], -1)):
        meddle(client, OTHERS[name], at)


def test_an_erased_scope_takes_edits_again(client):
    """Nobody may edit while a scope is erased; afterwards its version has only gone up."""
    world = lived(client)
    before = world.memories.version("default", SCOPE).version
    erase.erase_scope("default", SCOPE, ErasureTarget(), context=world.erasing(lambda: False))
    assert world.memories.version("default", SCOPE).erasing
    world.clock.move(minutes=2)
    world.sweep()
    assert world.memories.version("default", SCOPE).version > before + 1
    assert timedelta(0) < world.clock() - world.erasures.find("default", scope_id(SCOPE)).started


def test_no_window_waits_for_a_long_job(client):
    """However early a sweep comes upon an erasure that takes all of its time, windows that are due are sealed."""
    world = lived(client)
    erase.erase_scope("default", SCOPE, ASKED, context=world.erasing(lambda: False))
    for number in range(8):
        world.ingest(event(f"hi {number}", "1"), scope={"user_id": f"w{number}"}, rule={"idleDuration": "60s"})
    world.clock.move(minutes=2)
    has_time = lambda: world.erasures.find("default", scope_id(SCOPE)).ended is None
    report = sweep(context=world.sweeper(), has_time=has_time)
    assert not has_time()
    assert report.sealed == 8


def test_a_bank_that_is_taken_up_again_begins_where_it_stopped(client):
    """The scopes that were done before are not asked again, however many they are."""
    _clear(client)
    world = World(client)
    for number in range(12):
        world.ingest(event("hi", "1"), scope={"user_id": f"w{number}"}, rule={"eventCount": 9})
    time_for = iter([True] * 6)
    erase.erase_bank("default", context=world.erasing(lambda: next(time_for, False)))
    stopped = world.erasures.find("default", "")
    left = [place for place, _ in world.erasures.scopes("default", stopped.cursor)]
    assert stopped.ended is None
    assert 0 < len(left) < 12
    assert all(place > stopped.cursor for place in left)
    done = erase.proceed(stopped, context=world.erasing())
    assert (done.counts["scopes"], done.counts["events"]) == (12, 12)


def test_ids_of_erased_memories_are_free_again(client):
    """Nothing of a memory's name is left: its id may be another's at once."""
    world = lived(client)
    names = [item["PK"]["S"] for item in aws.dump(client) if item["PK"]["S"].startswith("N#")]
    assert len(names) == 3
    erased(world)
    left = [item["sco"]["S"] for item in aws.dump(client) if item["PK"]["S"].startswith("N#")]
    assert left == ['{"user_id":"u2"}']


def test_a_fact_that_is_stated_meanwhile_stays(client):
    """A direct generation that is newer than the erasure is none of its business: it waits, and takes effect."""
    world = lived(client)
    erase.erase_scope("default", SCOPE, ASKED, context=world.erasing(lambda: False))
    world.clock.move(seconds=1)
    call = GenerateCall("default", SCOPE, token="later", memories=(DirectMemory("I ski"),))
    generate(call, context=world.generating)
    world.finish()
    check(world)
    assert world.facts() == ["I ski"]


def test_a_stream_that_begins_after_the_reply_is_not_erased(client):
    """An erasure that is resumed takes no stream that was new after its first reply."""
    world = lived(client)
    assert erase.erase_scope("default", SCOPE, ASKED, context=world.erasing(lambda: False)).ended is None
    world.ingest(event("later", "9"), streamId="begun later", forceFlush=True)
    world.finish()
    check(world)
    assert world.facts() == ["later"]


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.slow), 37])
def test_a_run_that_comes_late_takes_nothing_newer(client, step):
    """A run of an erasure that another run has ended meanwhile cuts no stream and deletes no memory."""
    at = 0
    while meddle_with_end(client, at):
        at += step
    assert at > 36


def meddle_with_end(client: Any, at: int) -> bool:
    """End an erasure before call *at* of a run of it, and state a fact; tell whether the run was long enough."""
    world = lived(client)
    begun = erase.erase_scope("default", SCOPE, ASKED, context=world.erasing(lambda: False))

    def end(world: World) -> None:
        assert erase.proceed(begun, context=world.erasing()).ended
        world.ingest(event("later", "9"), streamId="s", forceFlush=True)
        world.ingest(event("newest", "9"), streamId="begun later", forceFlush=True)
        world.settle()
        assert world.facts() == ["later", "newest"]

    interruption = Interruption(world, end, at)
    client.meta.events.register("before-call.dynamodb", interruption)
    try:
        assert erase.proceed(begun, context=world.erasing()).ended
    finally:
        client.meta.events.unregister("before-call.dynamodb", interruption)
    check(world)
    assert world.facts() == (["later", "newest"] if at < interruption.calls else [])
    return at < interruption.calls


def test_a_call_that_read_before_a_cut_reads_again(client):
    """Whoever read a stream's head before its cut writes nothing from it: a new event is in the window of its reply."""
    world = World(client)
    _clear(client)
    world.ingest(said("a", "1"), streamId="s", rule={"eventCount": 9})
    interruption = Interruption(world, erased, 1)
    client.meta.events.register("before-call.dynamodb", interruption)
    told = world.ingest(event("b", "2"), streamId="s").operation.id
    client.meta.events.unregister("before-call.dynamodb", interruption)
    world.ingest(streamId="s", forceFlush=True)
    world.settle()
    window = world.windows.get("default", told.sid, told.window)
    assert [one.event.event_id for one in world.windows.events(window)] == ["2"]
    assert scanner.places(client, WORD) == []
