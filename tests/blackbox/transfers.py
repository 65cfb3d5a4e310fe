"""Exports, imports, erasures, and the end of a bank."""

from __future__ import annotations

import copy
from datetime import timedelta
from typing import Any

from tests.blackbox.books import Bank, Event, Export, Memory, Scope, Stream, scope_of
from tests.blackbox.calls import ROOT
from tests.blackbox.chats import put_chat_of
from tests.blackbox.checks import settle
from tests.blackbox.ingesting import ingest_into
from tests.blackbox.memories import create_in, delete_one_of, update_one_of
from tests.blackbox.tenants import World, event_body, scope_body


def export(world: World) -> None:
    """Write the bank, or one scope, into the bucket; the books keep what must be in it."""
    tenant = world.tenant()
    scope = scope_of(world.rng.choice(tenant.scopes)) if world.rng.random() < 0.4 else None
    _export(world, tenant.bank, scope)


def _export(world: World, bank: Bank, scope: Scope | None) -> Export:
    settle(world)
    body = {} if scope is None else {"scope": scope_body(scope)}
    reply = finish(world, bank, world.calls.ok(bank.operator, "POST", f"{bank.path}:export", body))
    streams = {name: stream for name, stream in bank.streams.items() if scope in (None, stream.scope)}
    live = [memory for memory in bank.live() if scope in (None, memory.scope)]
    bank.export = Export(
        reply["response"]["source"],
        {name: copy.deepcopy(stream.events) for name, stream in streams.items() if stream.events},
        {name: copy.deepcopy(stream.rule) for name, stream in streams.items()},
        copy.deepcopy(live),
        copy.deepcopy(bank.chats) if scope is None else {},
    )
    _same_counts(reply["response"]["exported"], bank.export)
    return bank.export


def import_export(world: World) -> None:
    """Read an export into the archive, or into the bank that it is of; what was changed since then stays so."""
    tenant = world.tenant()
    made = tenant.bank.export
    if made is None or not made.memories:
        create_in(world, tenant.bank, scope_of(tenant.scopes[0]))
        made = _export(world, tenant.bank, None)
    target = world.rng.choice((tenant.archive, tenant.archive, tenant.bank))
    settle(world)
    _import(world, target, made)
    settle(world)
    origins = {memory.origin for memory in made.memories}
    for change in world.rng.sample((update_one_of, delete_one_of), world.rng.choice((1, 1, 2))):
        change(world, target, origins)
        _import(world, target, made)
        settle(world)


def erase_scope(world: World) -> None:
    """Nothing of a scope is left, and its old calls bring nothing back."""
    tenant, bank = world.bank()
    if world.rng.random() < 0.5:
        settle(world)  # else generations may be under way
    scope = scope_of(world.rng.choice(tenant.scopes))
    create_in(world, bank, scope)
    ingest_into(world, tenant, bank, scope)
    erase_scope_of(world, bank, scope)


def erase_scope_of(world: World, bank: Bank, scope: Scope) -> None:
    path, body = f"{bank.path}:eraseScope", {"scope": scope_body(scope)}
    world.calls.ok(bank.operator, "POST", path, {**body, "dryRun": True})
    _erase(world, bank, scope, world.calls.ok(bank.operator, "POST", path, body))


def erase_bank(world: World) -> None:
    """Nothing of a bank is left, and the bank goes on."""
    _, bank = world.bank()
    status, _ = world.calls.send(bank.operator, "POST", f"{bank.path}:erase", {})
    assert status == 400, "a bank was erased without force"
    _erase(world, bank, None, world.calls.ok(bank.operator, "POST", f"{bank.path}:erase", {"force": True}))


def close_bank(world: World) -> None:
    """A deleted bank is not found by anybody; its tenant goes on in a new one."""
    tenant = world.tenant()
    bank = tenant.bank
    create_in(world, bank, scope_of(world.rng.choice(tenant.scopes)))
    ingest_into(world, tenant, bank)
    put_chat_of(world, bank)
    if world.rng.random() < 0.5:
        settle(world)  # else generations may be under way
    status, reply = world.calls.send(bank.operator, "DELETE", bank.path)
    assert status == 400, f"a bank that is not empty was deleted without force: {reply}"
    world.calls.ok(bank.operator, "DELETE", f"{bank.path}?force=true")
    tenant.bank = world.open_bank(tenant.scopes[0])
    world.sent = [call for call in world.sent if call.bank is not bank]
    for key in (bank.operator, bank.reader, ROOT):
        for path in ("", "/memories", "/streams", "/operations"):
            assert world.calls.send(key, "GET", bank.path + path)[0] == 404
    ingest = {"scope": tenant.scopes[0], "directContentsSource": {"events": [event_body(world.words.sentence(), None)]}}
    assert world.calls.send(bank.operator, "POST", f"{bank.path}/memories:ingestEvents", ingest)[0] == 404


def _erase(world: World, bank: Bank, scope: Scope | None, reply: dict[str, Any]) -> None:
    finish(world, bank, reply)
    bank.erase(scope)
    settle(world)


def finish(world: World, bank: Bank, reply: dict[str, Any]) -> dict[str, Any]:
    for _ in range(30):
        if reply["done"]:
            break
        world.calls.advance(60)
        reply = world.calls.ok(bank.reader, "GET", reply["name"])
    assert reply["done"], f"a job does not end: {reply}"
    assert "error" not in reply, f"a job failed: {reply}"
    return reply


def _same_counts(counts: dict[str, int], made: Export) -> None:
    assert counts.get("memories", 0) == len(made.memories), f"{counts}, must be {len(made.memories)} memories"
    raw = sum(not event.is_erased for events in made.streams.values() for event in events)
    assert counts.get("events", 0) == raw, f"{counts}, must be {raw} events"


def _import(world: World, target: Bank, made: Export) -> None:
    for memory in made.memories:
        _import_memory(world, target, memory)
    for name, events in made.streams.items():
        if name not in target.streams or not target.streams[name].events:
            _import_stream(target, name, events, made)
    for name, chat in made.chats.items():
        if name not in target.chats or target.chats[name].changed < chat.changed:
            target.put_chat(name, chat.text)
            target.chats[name].changed = chat.changed
    path = f"{target.path}:import"
    finish(world, target, world.calls.ok(ROOT, "POST", path, {"source": made.source}))


def _import_memory(world: World, target: Bank, memory: Memory) -> None:
    here = target.memories.get(memory.origin)
    is_forgotten = here and here.deleted and world.calls.now - here.deleted >= timedelta(hours=48)
    if here and not is_forgotten and here.changed >= memory.changed:
        return
    copied = copy.deepcopy(memory)
    name = f"{target.path}/memories/{str(memory.name).rsplit('/', 1)[1]}"
    is_taken = any(other.name == name for other in target.memories.values() if other.origin != memory.origin)
    copied.name = here.name if here else None if is_taken else name
    copied.operation = None
    target.memories[memory.origin] = copied
    for fact in copied.facts:
        target.show(fact, copied.scope)


def _import_stream(target: Bank, name: tuple[Scope, str], events: list[Event], made: Export) -> None:
    stream = Stream(*name, rule=copy.deepcopy(made.rules[name]), is_imported=True)
    for event in copy.deepcopy(events):
        event.operation = f"{target.path}/operations/{event.operation.rsplit('/', 1)[1]}"
        stream.events.append(event)
        target.show(event.text or "", stream.scope)
    target.streams[name] = stream
