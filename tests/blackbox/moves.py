"""Scopes that get another name, as a visitor who signs in."""

from __future__ import annotations

from tests.blackbox.books import Bank, Scope, Stream, scope_of
from tests.blackbox.checks import settle
from tests.blackbox.ingesting import ingest_into
from tests.blackbox.memories import create_in
from tests.blackbox.tenants import World, scope_body
from tests.blackbox.transfers import finish


def move_scope(world: World) -> None:
    """All that a scope has is another one's: names, events and pending windows; its old names lead there."""
    tenant = world.tenant()
    bank, body = tenant.bank, world.rng.choice(tenant.scopes)
    create_in(world, bank, scope_of(body))
    ingest_into(world, tenant, bank, scope_of(body))
    settle(world)
    target = {"user_id": f"moved-{world.number()}"}
    request = {"scope": body, "targetScope": target}
    would = world.calls.ok(bank.operator, "POST", f"{bank.path}:moveScope", {**request, "dryRun": True})
    moved = finish(world, bank, world.calls.ok(bank.operator, "POST", f"{bank.path}:moveScope", request))["response"]
    counts = would["response"]["wouldMove"].get("memories"), moved["moved"].get("memories")
    assert counts[0] == counts[1], f"{counts[0]} memories were to be moved, and {counts[1]} were"
    tenant.scopes.append(target)
    bank.export = None  # it has these memories in their old scope
    _rename(world, bank, scope_of(body), scope_of(target))
    settle(world)
    again = world.calls.ok(bank.operator, "POST", f"{bank.path}:moveScope", request)
    assert not finish(world, bank, again)["response"]["moved"].get("memories"), "nothing was left to move"


def _rename(world: World, bank: Bank, scope: Scope, target: Scope) -> None:
    """Write down that *scope* has the ids of its events alone."""
    names: dict[str, str] = {}
    for stream in [one for one in bank.streams.values() if one.scope == scope and one.events]:
        names |= _new_names(world, bank, stream)
    bank.move(scope, target, names)
    listed = world.calls.pages(bank.reader, f"{bank.path}/streams", "streams")
    assert {row["streamId"] for row in listed if scope_of(row["scope"]) == target} == {
        one.id for one in bank.streams.values() if one.scope == target
    }
    left = {"scope": scope_body(scope)}
    rows = world.calls.ok(bank.reader, "POST", f"{bank.path}/memories:retrieve", left)
    assert not rows.get("retrievedMemories"), f"the old scope has memories: {rows}"


def _new_names(world: World, bank: Bank, stream: Stream) -> dict[str, str]:
    """Return the name that each operation of a stream has now; the old one leads to it, and the number is the same."""
    names = {}
    for old in dict.fromkeys(event.operation for event in stream.events):
        names[old] = world.calls.ok(bank.reader, "GET", old)["name"]
        assert names[old].rsplit("-", 1)[1] == old.rsplit("-", 1)[1], f"{old} is another window now: {names[old]}"
        is_left = all(event.is_erased for event in stream.events if event.operation == old)
        assert is_left or names[old] != old, f"{old} is still the name of a window that was moved"
    return names
