"""Applying a policy to what is stored: after it nothing that the rules match is left, whoever writes, runs or dies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from streambank.errors import Conflict, FailedPrecondition
from streambank.model import ids
from streambank.model.chat import ANYTHING, ChatAppend, ChatHistory
from streambank.model.erasure import ErasureTarget
from streambank.model.event import CallMarker
from streambank.model.plan import ForgetRequest
from streambank.model.policy_job import PolicyJob
from streambank.model.review import Review, ReviewAction, ReviewCause
from streambank.model.session import SessionEvent, SessionFields
from streambank.model.window import DirectMemory
from streambank.pipeline.banks import BankChange, create_bank, delete_bank, update_bank
from streambank.pipeline.generation.generate import GenerateCall, generate
from streambank.pipeline.jobs import erase, policy_job
from streambank.pipeline.memories.edit import create_memory, roll_back, update_memory
from streambank.pipeline.sessions import chat_history, sessions
from streambank.rules.edits import Edit
from streambank.store import keys
from streambank.store.actions import Update, present
from streambank.store.memory_items import requests_values
from streambank.store.policy_jobs import PolicyJobs
from streambank.store.review_items import review_put
from streambank.store.sessions import Sessions
from tests import aws, scanner
from tests.aws import Killed
from tests.pipeline.test_pipeline_faults import Killer, _armed
from tests.pipeline.test_pipeline_interleavings import Interruption
from tests.world import SCOPE, World, event

BANK = "other"
SECRET = "4111 1111 1111 1111"
MARKER = "[REDACTED:CARD_NUMBERS]"
RULES = [{"detector": "CARD_NUMBERS", "action": "REDACT"}, {"name": "TEA", "pattern": "tea", "action": "TAG"}]
POLICY = {"contentPolicy": {"rules": RULES}}
ALL_CALLS = pytest.mark.parametrize("most", [2, pytest.param(None, marks=pytest.mark.slow)])
Step = Callable[[World], Any]


def lived(client: Any) -> World:
    """A bank whose every kind of item holds a card number: it had no policy until now."""
    aws.empty(client)
    world = World(client)
    create_bank(BANK, BankChange(), banks=world.banks, now=world.clock())
    settings = {"metadata": {"note": {"stringValue": SECRET}}, "revisionLabels": {"from": SECRET}}
    world.ingest(event(f"pays {SECRET}", "a"), event("likes tea", "b"), bank=BANK, forceFlush=True, **settings)
    world.settle()
    world.ingest(
        event(f"again {SECRET}", "c"), event(f"and {SECRET}"), bank=BANK, key="k", rule={"eventCount": 9}, **settings
    )
    stated = (DirectMemory(f"states {SECRET}"),)
    generate(GenerateCall(BANK, SCOPE, "", memories=stated), context=world.generating)
    memory(world)
    conversation(world)
    review(world)
    policy(world)
    return world


def review(world: World) -> None:
    """Let a change wait for review."""
    now, texts = world.clock(), {"text": f"has {SECRET}", "fact": f"got {SECRET}", "reason": f"says {SECRET}"}
    name = f"{ids.scope_id(SCOPE)}-{'a' * 13}"
    waits = Review(name, SCOPE, ReviewAction.UPDATE, ReviewCause.PINNED, now, now + timedelta(days=9), now, **texts)
    world.table.write(review_put(BANK, waits))


def memory(world: World) -> None:
    """Make a memory, and change it, so that there is a revision of its own."""
    edit = Edit(frozenset({"fact"}), f"has {SECRET}", f"of {SECRET}", f"about {SECRET}", metadata={"n": SECRET})
    context = world.editing()
    create_memory(BANK, "m1", SCOPE, edit, repeats=lambda _: False, context=context)
    update_memory(BANK, "m1", None, Edit(frozenset({"fact"}), f"had {SECRET}"), context=context)


def conversation(world: World) -> None:
    """Make a session with an event, and a conversation of a whole and a block."""
    common = {"retry_policy": world.retry_policy, "now": world.clock()}
    table = Sessions(world.table)
    sessions.create(BANK, "s1", SessionFields("u", state={"card": SECRET}), sessions=table, **common)
    turn = SessionEvent("user", "1", world.clock(), content={"role": "user", "parts": [{"text": f"pays {SECRET}"}]})
    sessions.append(BANK, "s1", turn, sessions=table, **common)
    messages = ({"content": f"pays {SECRET}"},)
    history = ChatHistory("c1", messages, "", "v1", world.clock())
    chat_history.store(BANK, history, ANYTHING, histories=world.histories, **common)
    call = ChatAppend("c1", messages, "v2", call=CallMarker("k", b"f" * 12))
    chat_history.append(BANK, call, ANYTHING, histories=world.histories, keys_kept=timedelta(days=1), **common)


def policy(world: World) -> None:
    update_bank(
        BANK, BankChange(document=POLICY), banks=world.banks, retry_policy=world.retry_policy, now=world.clock()
    )


def applied(world: World, **more: Any) -> PolicyJob:
    return policy_job.apply_policy(BANK, context=world.applying_policy(**more))


def finish(world: World) -> PolicyJob:
    """Let the sweep alone bring the job to its end."""
    for _ in range(3):
        world.clock.move(minutes=8)
        assert world.sweep().faults == []
    world.settle()
    found = PolicyJobs(world.table).find(BANK)
    assert found
    return found


def check(world: World) -> None:
    """Nothing that the rules match is left anywhere, nor in what waits."""
    assert scanner.places(world.client, SECRET[:6]) == []


def test_everything_that_is_stored_is_rewritten(client):
    """Events, windows, results, memories, revisions, citations, reviews, sessions and chats have markers afterwards."""
    world = lived(client)
    kinds = {place.split()[1][:2] for place in scanner.places(client, "4111")}
    assert {"B#", "W#", "P#", "M#", "R#", "T#", "Q#", "S", "E#", "C#", "A#", "HE"} <= kinds, kinds
    done = applied(world)
    check(world)
    assert done.ended is None, "calls under the older policy may still run"
    ended = finish(world)
    assert (ended.failure, ended.ended is not None) == (None, True)
    check(world)
    facts = [f"had {MARKER}", f"pays {MARKER}", "likes tea", f"states {MARKER}"]
    assert world.facts(bank=BANK) == sorted(facts)


def test_a_memory_gets_the_vector_of_its_new_text(client):
    """What is searched is what is read: no vector of an old text is left."""
    world = lived(client)
    applied(world)
    finish(world)
    for one in world.memories.of_scope(BANK, SCOPE, now=world.clock()):
        assert one.vector == world.embedder.embed([one.fact])[0], one.fact


def test_an_event_says_what_was_found_in_it(client):
    """The markers of events have the findings and the new fingerprint: a repeated event is no conflict."""
    world = lived(client)
    applied(world)
    receipt = world.ingest(event(f"pays {SECRET}", "a"), event("likes tea", "b"), bank=BANK)
    assert (receipt.duplicates, receipt.conflicts) == (2, ())
    again = world.ingest(event(f"again {SECRET}", "c"), event(f"and {SECRET}"), bank=BANK, key="k")
    assert again.accepted == 0


def test_a_rollback_brings_nothing_back(client):
    """A revision of an older text is screened when it is restored, also before the job has come by."""
    world = lived(client)
    restored = roll_back(BANK, "m1", 1, context=world.editing())
    assert restored.fact == f"has {MARKER}"


def test_without_a_policy_there_is_nothing_to_apply(client):
    """A bank without rules is refused, and a job whose bank loses them ends with a reason."""
    world = lived(client)
    begun = PolicyJobs(world.table).begin(BANK, now=world.clock())
    none = BankChange(document={})
    update_bank(BANK, none, banks=world.banks, retry_policy=world.retry_policy, now=world.clock())
    with pytest.raises(FailedPrecondition):
        applied(world)
    failed = policy_job.proceed(begun, context=world.applying_policy())
    assert failed.failure == "the bank has no content policy any more"


def test_a_job_goes_on_where_it_stopped(client):
    """Without time for more than a step each run rewrites one item, and no item is left out."""
    world = lived(client)
    world.clock.move(hours=1)
    first = applied(world, has_time=lambda: False)
    for _ in range(200):
        if (found := applied(world, has_time=lambda: False)).ended or found.number > first.number:
            break
    assert PolicyJobs(world.table).find(BANK).failure is None
    check(world)


def test_the_deletion_of_a_bank_wins(client):
    """A bank that is deleted while its policy is applied leaves nothing behind."""
    world = lived(client)
    applied(world, has_time=lambda: False)
    delete_bank(BANK, force=True, banks=world.banks, now=world.clock())
    world.finish()
    assert [item["PK"]["S"] for item in aws.dump(client) if BANK in item["PK"]["S"].split("#")] == []


# ---- others at the same time


def interrupted(world: World, one: Step, other: Step, at: int) -> int:
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
    for at in aws.spread(range(calls), most):
        world = lived(client)
        interrupted(world, one, other, at)
        finish(world)
        check(world)
        yield world


def edit(world: World) -> None:
    """Change a memory, as a caller whose text the policy has screened already."""
    update_memory(BANK, "m1", None, Edit(frozenset({"fact"}), "edited"), context=world.editing())


def flush(world: World) -> None:
    """Let what waits be generated."""
    world.ingest(bank=BANK, forceFlush=True)
    world.settle()


def talk(world: World) -> None:
    common = {"retry_policy": world.retry_policy, "now": world.clock()}
    turn = SessionEvent("user", "2", world.clock(), content={"parts": [{"text": "more"}]})
    sessions.append(BANK, "s1", turn, sessions=Sessions(world.table), **common)
    call = ChatAppend("c1", ({"content": "more"},), "v3")
    chat_history.append(BANK, call, ANYTHING, histories=world.histories, keys_kept=timedelta(days=1), **common)


def erase_it(world: World) -> None:
    erase.erase_scope(BANK, SCOPE, ErasureTarget(), context=world.erasing())


def again(world: World) -> None:
    applied(world)


@ALL_CALLS
@pytest.mark.parametrize("other", [edit, flush, talk, again, erase_it])
def test_whoever_writes_meanwhile_loses_nothing(client, most, other):
    """Before calls of the job another writer comes by: what it did stays so, and nothing is left of the old text."""
    for world in interleaved(client, again, other, most):
        facts = world.facts(bank=BANK)
        assert ("edited" in facts) == (other is edit)
        assert (other is erase_it) == (facts == [])
        if other is talk:
            history = chat_history.load(
                BANK, "c1", histories=world.histories, retry_policy=world.retry_policy, now=world.clock()
            )
            assert [one["content"] for one in history.messages] == [f"pays {MARKER}", f"pays {MARKER}", "more"]


@ALL_CALLS
@pytest.mark.parametrize("one", [flush, edit])
def test_the_job_undoes_nothing(client, most, one):
    """Before calls of another writer the job comes by: the other's work is done, and no old text is left."""
    for world in interleaved(client, one, again, most):
        assert ("edited" in world.facts(bank=BANK)) == (one is edit)


# ---- dying


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("most", [2, pytest.param(None, marks=pytest.mark.slow)])
def test_a_killed_job_is_finished_by_the_sweep(client, most, after):
    """The job may die before or after any call to the table: the sweep brings it to its end."""
    world, killer = lived(client), Killer()
    disarm = _armed(client, killer)
    applied(world)
    disarm()
    for at in aws.spread(range(killer.calls), most):
        world, killer = lived(client), Killer(at, after)
        disarm = _armed(client, killer)
        try:
            applied(world)
        except Killed:
            pass
        finally:
            disarm()
        if PolicyJobs(world.table).find(BANK) is None:
            applied(world)  # it died before it was entered
        ended = finish(world)
        assert (ended.failure, ended.ended is not None) == (None, True)
        check(world)


# ---- what waits


def test_what_a_generation_has_stored_is_rewritten(client):
    """Candidates and a plan that wait for their commit, and requests to forget, have markers; the commit goes on."""
    world = lived(client)
    set_document(world, {})
    world.ingest(bank=BANK, forceFlush=True)
    world.deliver()
    world.deliver()
    for payload in world.executions.running.values():
        world.tasks()["Extract"](payload)
        world.tasks()["Consolidate"](payload)
    request = ForgetRequest("s", 1, 1, f"forget {SECRET}", world.clock(), world.clock() + timedelta(days=9))
    version = keys.version(BANK, ids.scope_id(SCOPE))
    world.table.write(Update(version, requests_values([request]), present()))
    policy(world)
    assert {place.split("#")[4][:1] for place in scanner.places(client, SECRET) if " P#" in place} >= {"C", "L"}
    applied(world)
    check(world)
    finish(world)
    check(world)
    assert f"again {MARKER}" in world.facts(bank=BANK)


def set_document(world: World, document: dict[str, Any]) -> None:
    change = BankChange(document=document)
    update_bank(BANK, change, banks=world.banks, retry_policy=world.retry_policy, now=world.clock())
