"""Generations on demand, purges, and windows that wait for their bank's budget."""

from __future__ import annotations

from tests.blackbox import ingesting
from tests.blackbox.attacks import redrive_nothing
from tests.blackbox.books import Bank, scope_of
from tests.blackbox.checks import settle
from tests.blackbox.tenants import World, event_body, short
from tests.blackbox.transfers import erase_scope_of
from tests.blackbox.words import fact_of, words_in


def generate(world: World) -> None:
    """Facts and contents become memories without a stream."""
    tenant, bank = world.bank()
    scope = world.rng.choice(tenant.scopes)
    texts = [world.words.sentence() for _ in range(world.rng.choice((1, 2)))]
    facts = [fact_of(text) for text in texts]
    if world.rng.random() < 0.5:
        source = {"directMemoriesSource": {"directMemories": [{"fact": fact} for fact in facts]}}
    else:
        source = {"directContentsSource": {"events": [event_body(text, None) for text in texts]}}
    for fact in facts:
        bank.remember(scope_of(scope), fact)
    world.calls.ok(
        bank.writer_of(scope_of(scope)), "POST", f"{bank.path}/memories:generate", {"scope": scope, **source}
    )
    settle(world)


def purge(world: World) -> None:
    """A purge deletes what its filter matches, and without force it only counts."""
    _, bank = world.bank()
    memories = [memory for memory in bank.live() if memory.name]
    if not memories:
        return
    memory = world.rng.choice(memories)
    word = next(iter(words_in(memory.fact)))
    body = {"filter": f'fact=~"{word}"'}
    for has_force in (False, True):
        reply = world.calls.ok(bank.operator, "POST", f"{bank.path}/memories:purge", {**body, "force": has_force})
        assert reply["response"]["purgeCount"] == 1, f"{short(memory)} is one memory: {reply}"
    bank.delete(memory, world.calls.now)


def pause(world: World) -> None:
    """Windows of a bank without budget wait, and are generated once it has a budget again; what is erased is not."""
    tenant, bank = world.bank()
    settle(world)
    _set_budget(world, bank, 0)
    bank.is_paused = True
    for _ in range(3):
        ingesting.ingest_into(world, tenant, bank)
    world.calls.advance(200)
    redrive_nothing(world)
    if world.rng.random() < 0.3:
        erase_scope_of(world, bank, scope_of(world.rng.choice(tenant.scopes)))
    _set_budget(world, bank, 1_000_000)
    bank.is_paused = False
    # Windows in this state are checked every quarter of an hour.
    settle(world, 1_000)


def _set_budget(world: World, bank: Bank, tokens: int) -> None:
    body = {"contextSpec": {"memoryBankConfig": {"generationConfig": {"dailyTokenBudget": tokens}}}}
    world.calls.ok(bank.operator, "PATCH", bank.path, body)
