"""Policies and consent inside the service: what they cost, and what is generated of events that came before them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from streambank.errors import InvalidArgument
from streambank.model.consent import Learning
from streambank.model.verdict import Verdict
from streambank.pipeline.banks import BankChange, create_bank, update_bank
from streambank.pipeline.consent import set_learning
from streambank.store.consents import Consents
from tests import aws, scanner
from tests.aws import Killed
from tests.pipeline.test_pipeline_faults import Killer, _armed
from tests.world import SCOPE, World, event

BANK = "other"
SECRET = "4111 1111 1111 1111"
MARKER = "[REDACTED:CARD_NUMBERS]"
REDACTING = [{"detector": "CARD_NUMBERS", "action": "REDACT"}]
REFUSING = [{"detector": "CARD_NUMBERS", "action": "REFUSE"}]


def world_with(client: Any, rules: Sequence[dict[str, str]] = ()) -> World:
    world = World(client)
    document = {"contentPolicy": {"rules": list(rules)}} if rules else {}
    create_bank(BANK, BankChange(document=document), banks=world.banks, now=world.clock())
    return world


def set_policy(world: World, rules: Sequence[dict[str, str]]) -> None:
    change = BankChange(document={"contentPolicy": {"rules": list(rules)}})
    update_bank(BANK, change, banks=world.banks, retry_policy=world.retry_policy, now=world.clock())


def refuse(world: World, learning: Learning = Learning.DISABLED, bank: str = BANK) -> None:
    consents = Consents(world.table)
    set_learning(
        bank,
        SCOPE,
        learning,
        consents=consents,
        banks=world.banks,
        retry_policy=world.retry_policy,
        now=world.clock(),
    )


def heard(client: Any, act: Callable[[], Any]) -> list[str]:
    """Return the names of the calls to the table that *act* makes."""
    killer = Killer()
    disarm = _armed(client, killer)
    try:
        act()
    finally:
        disarm()
    return killer.names


# ---- what it costs


@pytest.mark.parametrize("rules", [(), REDACTING])
def test_an_ingest_makes_the_calls_that_it_made(client, rules):
    """With a policy or without one an ingest reads once and writes once, and as many items of the same kinds."""
    world = world_with(client, rules)
    first = heard(client, lambda: world.ingest(event("tea", "a"), event("bees"), bank=BANK, rule={"eventCount": 9}))
    assert first == ["BatchGetItem", "TransactWriteItems"]
    written = [item for item in aws.dump(client) if item["PK"]["S"].startswith("S#")]
    assert [item["SK"]["S"][:2] for item in written] == ["B#", "D#", "HE"]
    assert all("pol" not in item for item in written), "an event in which nothing was found has no more than before"


def test_a_bank_where_nobody_said_no_reads_no_consent(client):
    """The consent of a scope costs one read, and only in a bank of which some scope was ever set."""
    world = world_with(client)
    refuse(world)
    names = heard(client, lambda: world.ingest(event("tea"), bank=BANK))
    assert names == ["BatchGetItem", "GetItem"], "nothing is written"
    elsewhere = heard(client, lambda: world.ingest(event("tea"), bank=BANK, scope={"user_id": "u2"}))
    assert elsewhere == ["BatchGetItem", "GetItem", "TransactWriteItems"]


def test_a_function_without_a_policy_loads_no_engine() -> None:
    """The function `Ingest` imports neither RE2 nor the detectors before the first bank with a policy."""
    code = "import sys, streambank.api.ingest; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "streambank.pipeline.events.ingest" in loaded
    assert not {"re2", "streambank.rules.content_policy.screen", "streambank.llm.personal_data.services"} & set(loaded)


# ---- a call


def test_a_large_call_is_refused_as_a_whole(client):
    """An event in the last part of a call refuses the parts before it too."""
    world = world_with(client, REFUSING)
    events = [event(f"tea {number}", f"e{number}") for number in range(250)]
    with pytest.raises(InvalidArgument, match=r"events\[250\]"):
        world.ingest(*events, event(f"pays {SECRET}", "last"), bank=BANK)
    assert [item for item in aws.dump(client) if item["PK"]["S"].startswith("S#")] == []


def test_a_repeated_event_is_the_same_before_and_after_a_policy(client):
    """An event that was accepted as it was sent is no conflict when it comes again and is redacted."""
    world = world_with(client)
    world.ingest(event(f"pays {SECRET}", "a"), bank=BANK, rule={"eventCount": 9})
    set_policy(world, REDACTING)
    receipt = world.ingest(event(f"pays {SECRET}", "a"), event(f"pays {SECRET}", "b"), bank=BANK)
    assert (receipt.duplicates, receipt.accepted, receipt.conflicts) == (1, 1, ())
    other = world.ingest(event("another", "a"), bank=BANK)
    assert other.conflicts == ("a",)


# ---- generations


def test_a_model_is_not_believed_to_keep_secrets(client):
    """Events that are older than the policy are read as they are; facts, verdicts and citations have markers."""
    world = world_with(client)
    world.ingest(event(f"pays {SECRET}", "a"), event("likes tea"), bank=BANK, forceFlush=True)
    set_policy(world, REDACTING)
    world.settle()
    assert world.facts(bank=BANK) == ["likes tea", f"pays {MARKER}"]
    kinds = {place.split()[1].partition("#")[0] for place in scanner.places(client, "4111")}
    assert kinds == {"B"}, "only the events themselves are left, until the policy is applied to them"


def test_a_fact_that_a_rule_refuses_is_rejected(client):
    """The verdict says why, without the text."""
    world = world_with(client)
    world.ingest(event(f"pays {SECRET}", "a"), event("likes tea"), bank=BANK, forceFlush=True)
    set_policy(world, REFUSING)
    world.settle()
    assert world.facts(bank=BANK) == ["likes tea"]
    [window] = world.windows.newest_first(BANK, next(world.streams.registered(BANK, None))[2])
    rejected = [one for one in world.plans.verdicts(window) if one.verdict is Verdict.REJECTED]
    assert [(one.fact, one.reason) for one in rejected] == [(f"pays {MARKER}", "REFUSED_BY_CONTENT_POLICY")]


def generated(world: World, stage: str, before: Callable[[], None]) -> None:
    """Generate what waits, with *before* done once before *stage*."""
    world.deliver()
    world.deliver()
    left = [before]
    run = world.tasks()[stage]

    def wrapped(payload: dict[str, Any]) -> dict[str, Any]:
        if left:
            left.pop()()
        result: dict[str, Any] = run(payload)
        return result

    assert world.executions.run({**world.tasks(), stage: wrapped}) == 1
    assert not left
    world.recover(10)
    world.settle()


@pytest.mark.parametrize("stage", ["Consolidate", "Commit"])
def test_a_policy_that_comes_between_the_stages_counts(client, stage):
    """What a stage stored under no policy is screened by the next one: candidates by the plan, a plan by its commit."""
    world = world_with(client)
    world.ingest(event(f"pays {SECRET}", "a"), bank=BANK, forceFlush=True)
    generated(world, stage, lambda: set_policy(world, REDACTING))
    assert world.facts(bank=BANK) == [f"pays {MARKER}"]


@pytest.mark.parametrize("stage", ["Extract", "Consolidate", "Commit"])
def test_a_no_between_the_stages_counts(client, stage):
    """Whatever a generation has done before the no, nothing of it becomes a memory, and the window ends."""
    world = world_with(client)
    receipt = world.ingest(event("likes tea", "a"), bank=BANK, forceFlush=True)
    generated(world, stage, lambda: refuse(world))
    assert world.facts(bank=BANK) == []
    assert world.operation(receipt.operation.id, BANK).state.is_final


def test_a_killed_setting_is_set_again(client):
    """Setting a scope to learn nothing may die at any call: repeated, it is set, and the bank is marked."""
    world = world_with(client)
    calls = len(heard(client, lambda: refuse(world)))
    for at in range(calls):
        for after in (False, True):
            aws.empty(client)
            world, killer = world_with(client), Killer(at, after)
            disarm = _armed(client, killer)
            try:
                refuse(world)
            except Killed:
                pass
            finally:
                disarm()
            refuse(world)
            receipt = world.ingest(event("tea"), bank=BANK)
            assert (receipt.accepted, receipt.not_learnt, receipt.is_learning_disabled) == (0, 1, True)


def test_the_default_bank_takes_a_no(client):
    """The default bank has no item until something of it is set."""
    world = World(client)
    refuse(world, bank="default")
    assert world.ingest(event("tea")).not_learnt == 1
    refuse(world, Learning.ENABLED, bank="default")
    assert world.ingest(event("tea")).accepted == 1
