"""What must hold whenever the service has come to rest."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from tests.blackbox.books import Bank, Memory, Stream, scope_of
from tests.blackbox.tenants import World, scope_body
from tests.blackbox.words import words_in

PENDING = {"BUFFERING", "PENDING"}


def settle(world: World, seconds: int = 0) -> None:
    """Move the clock, let the service finish, and compare every bank that anybody has written to."""
    now = world.calls.advance(seconds)
    for bank in world.banks():
        if bank.streams or bank.memories:
            compare(world, bank, now)


def compare(world: World, bank: Bank, now: datetime) -> None:
    """Compare the streams and memories of *bank* with the books."""
    _streams(world, bank, now)
    if not bank.is_paused:
        _memories(world, bank)


def _streams(world: World, bank: Bank, now: datetime) -> None:
    rows = {
        (scope_of(row["scope"]), row["streamId"]): row
        for row in world.calls.pages(bank.reader, f"{bank.path}/streams", "streams")
    }
    strange = set(rows) - set(bank.streams)
    assert not strange, f"{bank.id} lists streams that nobody wrote to: {strange}"
    for name, stream in bank.streams.items():
        assert name in rows or not stream.events, f"{bank.id} does not list {name}"
        pending = rows.get(name, {}).get("pendingEvents", 0)
        is_due = stream.due(now)
        if is_due or (is_due is None and not pending):
            bank.flush(stream)
        assert pending == len(stream.pending), f"{name} has {pending} pending events, must have {len(stream.pending)}"


def _memories(world: World, bank: Bank) -> None:
    named = {memory.name: memory for memory in bank.memories.values() if memory.name}
    seen: set[int] = set()
    for row in world.calls.pages(bank.reader, f"{bank.path}/memories", "memories"):
        memory = named.get(row["name"]) or _adopt(bank, row)
        assert memory, f"{bank.id} has a memory that nobody made: {row}"
        assert memory.deleted is None, f"a deleted memory is listed: {row}"
        assert memory.origin not in seen, f"a memory is listed twice: {row}"
        assert (row["fact"], scope_of(row["scope"])) == (memory.fact, memory.scope), f"{row} must be {memory}"
        assert row.get("pinned", False) is memory.is_pinned, f"{row} must be {memory}"
        seen.add(memory.origin)
    missing = [memory for memory in bank.live() if memory.origin not in seen]
    assert not missing, f"{bank.id} lacks memories: {missing}"


def _adopt(bank: Bank, row: dict[str, Any]) -> Memory | None:
    """Give the memory that was expected with this fact the name of *row*."""
    for memory in bank.live():
        if memory.name is None and (memory.fact, memory.scope) == (row["fact"], scope_of(row["scope"])):
            memory.name = row["name"]
            sources = [source["operation"] for source in row.get("sources", [])]
            assert memory.operation is None or sources == [memory.operation], f"{row} must be of {memory.operation}"
            return memory
    return None


def retrieve(world: World) -> None:
    """A scope's memories are exactly those that it must have, and a word leads to its own memory first."""
    tenant, bank = world.bank()
    settle(world)
    scope = scope_of(world.rng.choice(tenant.scopes))
    key = bank.bound_reader if scope == bank.bound_scope else bank.reader
    live = [memory for memory in bank.live() if memory.scope == scope]
    path = f"{bank.path}/memories:retrieve"
    rows = world.calls.ok(key, "POST", path, {"scope": scope_body(scope)}).get("retrievedMemories", [])
    assert sorted(row["memory"]["name"] for row in rows) == sorted(str(memory.name) for memory in live)
    listed = world.calls.pages(key, f"{bank.path}/memories?filter={_scope_filter(scope)}", "memories")
    assert sorted(row["name"] for row in listed) == sorted(str(memory.name) for memory in live)
    if not live:
        return
    memory = world.rng.choice(live)
    word = next(iter(words_in(memory.fact)))
    flags = {name: True for name in ("includeEvents", "includePending") if world.rng.random() < 0.3}
    search = {"scope": scope_body(scope), "similaritySearchParams": {"searchQuery": word, "topK": 3, **flags}}
    nearest = world.calls.ok(key, "POST", path, search)["retrievedMemories"]
    assert nearest, f"{word} leads to no memory"
    assert nearest[0]["memory"]["name"] == memory.name, f"{word} leads to {nearest[0]}"


def _scope_filter(scope: tuple[tuple[str, str], ...]) -> str:
    quoted = json.dumps(json.dumps(dict(scope), separators=(",", ":")))
    return f"scope={quoted}"


def find_events(world: World) -> None:
    """Each accepted id has the operation that its call returned, and an id that never came is unknown."""
    tenant, bank = world.bank()
    settle(world)
    stream = world.stream(tenant, bank)
    ids = [event.id for event in stream.events if event.id and " " not in event.id][-90:]
    body = {"scope": scope_body(stream.scope), "streamId": stream.id, "eventIds": [*ids, "event-never"]}
    rows = world.calls.ok(bank.reader, "POST", f"{bank.path}/streams:findEvents", body)["events"]
    assert rows.pop()["state"] == "UNKNOWN"
    for row in rows:
        _same_event(stream, row)


def _same_event(stream: Stream, row: dict[str, Any]) -> None:
    event = stream.event(row["eventId"])
    assert event, f"an event that nobody sent: {row}"
    assert row["operation"] == event.operation, f"{event} is in another window: {row}"
    assert row["sequence"] == event.number, f"{event} has another number: {row}"
    if not event.is_erased:
        assert (row["state"] in PENDING) == (event in stream.pending), f"{event} is in the wrong state: {row}"
