"""What must not be stored: what a bank's policy refuses, and what is said while a scope learns nothing."""

from __future__ import annotations

from typing import Any

from tests.blackbox.checks import settle
from tests.blackbox.tenants import World, event_body


def refuse(world: World) -> None:
    """A word that the bank's policy names is in no call that is accepted, whatever the call is; others are stored."""
    tenant, bank = world.bank()
    settle(world)
    word, scope = world.words.word(), world.rng.choice(tenant.scopes)
    _set_rules(world, bank, [{"pattern": word, "action": "REFUSE"}])
    event = event_body(f"I own a {word}.", f"event-{world.number()}")
    ingest: dict[str, Any] = {"scope": scope, "streamId": "refused", "directContentsSource": {"events": [event]}}
    fact = {"scope": scope, "fact": f"I own a {word}"}
    direct = {"scope": scope, "directMemoriesSource": {"directMemories": [{"fact": fact["fact"]}]}}
    for path, body in (("memories:ingestEvents", ingest), ("memories", fact), ("memories:generate", direct)):
        status, reply = world.calls.send(bank.operator, "POST", f"{bank.path}/{path}", body)
        assert status == 400, f"{path} took what the policy refuses: {reply}"
        assert word not in str(reply), f"the refusal quotes the text: {reply}"
    _set_rules(world, bank, [])
    settle(world)


def learn_nothing(world: World) -> None:
    """While a scope learns nothing its events are dropped, and facts are refused; afterwards it learns again."""
    tenant, bank = world.bank()
    settle(world)
    scope = world.rng.choice(tenant.scopes)
    _set_learning(world, bank, scope, "DISABLED")
    events = [event_body(world.words.sentence(), f"event-{world.number()}") for _ in range(world.rng.choice((1, 2, 5)))]
    ingest = {"scope": scope, "streamId": "quiet", "directContentsSource": {"events": events}, "forceFlush": True}
    reply = world.calls.ok(bank.operator, "POST", f"{bank.path}/memories:ingestEvents", ingest)["metadata"]
    told = reply.get("learning"), reply.get("droppedEvents"), reply["acceptedEvents"]
    assert told == ("DISABLED", len(events), 0), f"a scope that learns nothing took events: {told}"
    direct = {"scope": scope, "directMemoriesSource": {"directMemories": [{"fact": world.words.sentence()}]}}
    for path, body in (("memories:generate", direct), ("memories", {"scope": scope, "fact": world.words.sentence()})):
        status, refused = world.calls.send(bank.operator, "POST", f"{bank.path}/{path}", body)
        assert status == 400, f"{path} taught a scope that learns nothing: {refused}"
    _set_learning(world, bank, scope, "ENABLED")
    settle(world)


def _set_rules(world: World, bank: Any, rules: list[dict[str, str]]) -> None:
    body = {"contextSpec": {"memoryBankConfig": {"contentPolicy": {"rules": rules}}}}
    world.calls.ok(bank.operator, "PATCH", f"{bank.path}?updateMask=contextSpec.memoryBankConfig.contentPolicy", body)


def _set_learning(world: World, bank: Any, scope: dict[str, str], learning: str) -> None:
    reply = world.calls.ok(bank.operator, "PATCH", f"{bank.path}/consent", {"scope": scope, "learning": learning})
    assert reply["learning"] == learning
