"""Memories that callers make, change, delete and bring back."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from tests.blackbox.books import Bank, Memory, Scope, scope_of
from tests.blackbox.tenants import World, scope_body, short
from tests.blackbox.words import fact_of


def create(world: World) -> None:
    """A new memory, half of them with an id of the caller's choice."""
    tenant, bank = world.bank()
    create_in(world, bank, scope_of(world.rng.choice(tenant.scopes)))


def create_in(world: World, bank: Bank, scope: Scope) -> None:
    fact = fact_of(world.words.sentence())
    # Both banks of a tenant, and all tenants, may choose the same id.
    chosen = f"chosen-{world.rng.randrange(12)}" if world.rng.random() < 0.5 else ""
    path = f"{bank.path}/memories" + (f"?memoryId={chosen}" if chosen else "")
    status, reply = world.calls.send(bank.operator, "POST", path, {"scope": scope_body(scope), "fact": fact})
    holder = _holder(bank, chosen)
    if holder and (holder.deleted is None or _is_restorable(world, holder)):
        assert status == 409, f"{chosen} is taken: {reply}"
        return
    assert status == 200, f"{path}: {reply}"
    if holder:
        del bank.memories[holder.origin]
    bank.remember(scope, fact, name=reply["response"]["name"])


def update(world: World) -> None:
    _, bank = world.bank()
    update_one_of(world, bank)


def update_one_of(world: World, bank: Bank, origins: Collection[int] = ()) -> None:
    """Change a memory, one of *origins* if there is one."""
    if memory := _pick(world, _named(bank, origins)):
        fact = fact_of(world.words.sentence())
        bank.show(fact, memory.scope)
        path = f"{memory.name}?updateMask=fact"
        reply = world.calls.ok(bank.operator, "PATCH", path, {"fact": fact, "scope": scope_body(memory.scope)})
        assert reply["response"]["fact"] == fact
        bank.change(memory, fact)


def delete(world: World) -> None:
    """A deleted memory is gone, whoever asks for it."""
    tenant, bank = world.bank()
    if not _named(bank, ()):
        create_in(world, bank, scope_of(tenant.scopes[0]))
    delete_one_of(world, bank)


def delete_one_of(world: World, bank: Bank, origins: Collection[int] = ()) -> None:
    """Delete a memory, one of *origins* if there is one."""
    if memory := _pick(world, _named(bank, origins)):
        assert memory.name
        world.calls.ok(bank.operator, "DELETE", memory.name)
        bank.delete(memory, world.calls.now)
        for key in (bank.operator, bank.reader):
            assert world.calls.send(key, "GET", memory.name)[0] == 404


def roll_back(world: World) -> None:
    """An older revision becomes the newest, also that of a memory deleted less than 48 hours ago."""
    _, bank = world.bank()
    known = [memory for memory in bank.memories.values() if memory.name]
    if memory := _pick(world, [m for m in known if m.deleted is None or _is_restorable(world, m)]):
        number = world.rng.choice([n for n, fact in enumerate(memory.facts, 1) if fact])
        fact = memory.facts[number - 1]
        body = {"targetRevisionId": str(number)}
        reply = world.calls.ok(bank.operator, "POST", f"{memory.name}:rollback", body)
        assert reply["response"]["fact"] == fact
        bank.restore(memory, fact)


def read(world: World) -> None:
    """A memory and its revisions are what the changes have made of it."""
    _, bank = world.bank()
    if memory := _pick(world, [memory for memory in bank.live() if memory.name]):
        assert memory.name
        row = world.calls.ok(bank.reader, "GET", memory.name)
        assert (row["fact"], scope_of(row["scope"])) == (memory.fact, memory.scope)
        rows = world.calls.pages(bank.reader, f"{memory.name}/revisions", "memoryRevisions")
        assert [row["fact"] for row in reversed(rows)] == memory.facts
        status, _ = world.calls.send(bank.bound_reader, "GET", memory.name)
        assert status == (200 if set(bank.bound_scope) <= set(memory.scope) else 404)


def pin(world: World) -> None:
    """A memory is pinned, and stays so through whatever else is done with it."""
    _set_pin(world, is_pinned=True)


def unpin(world: World) -> None:
    """A memory is pinned no more."""
    _set_pin(world, is_pinned=False)


def _set_pin(world: World, *, is_pinned: bool) -> None:
    _, bank = world.bank()
    others = [memory for memory in _named(bank, ()) if memory.is_pinned is not is_pinned]
    if memory := _pick(world, others):
        path = f"{memory.name}?updateMask=pinned"
        reply = world.calls.ok(bank.operator, "PATCH", path, {"pinned": is_pinned, "scope": scope_body(memory.scope)})
        told = reply["response"].get("pinned", False)
        assert told is is_pinned, f"{memory.name} must have the pin {is_pinned}, has {told}"
        bank.pin(memory, pinned=is_pinned)


def _holder(bank: Bank, chosen: str) -> Memory | None:
    return next((memory for memory in bank.memories.values() if chosen and short(memory) == chosen), None)


def _is_restorable(world: World, memory: Memory) -> bool:
    return memory.deleted is not None and world.calls.now - memory.deleted < timedelta(hours=48)


def _named(bank: Bank, origins: Collection[int]) -> list[Memory]:
    """Return the live memories of *bank* whose names are known: those of *origins* if there are any."""
    named = [memory for memory in bank.live() if memory.name]
    return [memory for memory in named if memory.origin in origins] or named


def _pick(world: World, memories: list[Memory]) -> Memory | None:
    return world.rng.choice(memories) if memories else None
