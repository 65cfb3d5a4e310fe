"""Calls that must be refused: ids of others, ids that nobody made, and keys without the right."""

from __future__ import annotations

from typing import Any

from tests.blackbox.books import Bank, Scope, scope_of
from tests.blackbox.calls import ROOT
from tests.blackbox.tenants import World, scope_body, short

_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
Attempt = tuple[str, str, Any]


def forged_memory(world: World) -> None:
    """A memory of another tenant is as unknown as one that nobody made, whatever is asked of it."""
    tenant, bank = world.bank()
    other = world.other(tenant).bank
    ids = [short(memory) for memory in other.memories.values() if memory.name]
    mine = {short(memory) for memory in bank.memories.values()}
    foreign = [one for one in ids if one not in mine]
    if foreign:
        chosen = world.rng.choice(foreign)
        _same_refusal(world, bank, "memories", chosen, _changed(world, chosen), _memory_attempts(world))


def forged_operation(world: World) -> None:
    """An operation of another tenant's, or one that was never handed out, is unknown."""
    tenant, bank = world.bank()
    other = world.other(tenant).bank
    mine = {event.operation.rsplit("/", 1)[1] for stream in bank.streams.values() for event in stream.events}
    theirs = [event.operation.rsplit("/", 1)[1] for stream in other.streams.values() for event in stream.events]
    foreign = sorted({one for one in theirs if one.rsplit("-", 1)[0] not in {name.rsplit("-", 1)[0] for name in mine}})
    if foreign:
        stream, window = world.rng.choice(foreign).rsplit("-", 1)
        chosen = f"{stream}-{window}" + world.rng.choice(("", "-g"))
        unknown = f"{_changed(world, stream)}-{window}{chosen.removeprefix(f'{stream}-{window}')}"
        _same_refusal(world, bank, "operations", chosen, unknown, _operation_attempts())
    if mine:
        stream, window = world.rng.choice(sorted(mine)).rsplit("-", 1)
        for forged in (
            f"{stream}-{window}0000",
            f"{stream}-0{window}",
            f"{stream}--{window}",
            f"{stream}-{window}-g-g",
        ):
            for method, action, body in _operation_attempts():
                status, _ = world.calls.send(bank.operator, method, f"{bank.path}/operations/{forged}{action}", body)
                assert status == 404, f"{method} {forged}{action}: {status}"


def forged_event(world: World) -> None:
    """Nobody learns of another tenant's event ids."""
    tenant, bank = world.bank()
    other = world.other(tenant).bank
    stream = world.stream(tenant, bank)
    known = {event.id for event in stream.events}
    foreign = [e.id for one in other.streams.values() for e in one.events if e.id and e.id not in known]
    if foreign:
        body = {"scope": scope_body(stream.scope), "streamId": stream.id, "eventIds": [world.rng.choice(foreign)]}
        rows = world.calls.ok(bank.operator, "POST", f"{bank.path}/streams:findEvents", body)["events"]
        assert [row["state"] for row in rows] == ["UNKNOWN"]
        assert "operation" not in rows[0]


def derived_id(world: World) -> None:
    """No caller makes a memory whose id looks like one of the service's."""
    tenant, bank = world.bank()
    other = world.other(tenant).bank
    ids = [short(memory) for memory in other.memories.values() if short(memory).startswith("0")]
    for forged in (*ids[-1:], "0" + "a" * 26, "-a", "a-", "A", "a" * 64):
        body = {"scope": tenant.scopes[0], "fact": world.words.sentence()}
        status, reply = world.calls.send(bank.operator, "POST", f"{bank.path}/memories?memoryId={forged}", body)
        assert status == 400, f"{forged}: {reply}"


def foreign_export(world: World) -> None:
    """The export of another tenant is as unknown as that of a bank which nobody made."""
    tenant, bank = world.bank()
    other = world.other(tenant).bank
    if other.export:
        source = other.export.source
        unknown = source.replace(other.id, other.id[::-1])
        path = f"{bank.path}:import"
        real = world.calls.send(bank.operator, "POST", path, {"source": source})
        made_up = world.calls.send(bank.operator, "POST", path, {"source": unknown})
        assert real[0] in {400, 404}, f"the export of another tenant was read: {real}"
        assert _without(real, other.id) == _without(made_up, other.id[::-1])


def redrive_nothing(world: World) -> None:
    """No window is parked, so nothing is tried again, and the operations stay what they are."""
    _, bank = world.bank()
    reply = world.calls.ok(bank.operator, "POST", f"{bank.path}/operations:redrive", {})
    assert reply["operations"] == []
    events = [event for stream in bank.streams.values() for event in stream.events]
    if events:
        path = f"{world.rng.choice(events).operation}:redrive"
        status, reply = world.calls.send(bank.operator, "POST", path, {})
        assert (status, reply["error"]["status"]) == (400, "FAILED_PRECONDITION")


def wrong_key(world: World) -> None:
    """A key without the role, the scope or the bank changes nothing and reads nothing."""
    tenant, bank = world.bank()
    stranger = world.other(tenant).bank
    outside = next(scope_of(scope) for scope in tenant.scopes if not set(bank.bound_scope) <= set(scope_of(scope)))
    edits, reads = _edits(world, bank, outside), _reads(bank, outside)
    refused = [
        (bank.reader, 403, edits),
        (bank.writer, 403, [*edits, *reads]),
        (bank.bound_reader, 403, [*edits, *reads]),
        (stranger.operator, 404, [*edits, *reads]),
        (stranger.bound_reader, 404, reads[:1]),
        ("", 401, [*edits, *reads]),
        (bank.operator[:-1] + ("a" if bank.operator[-1] != "a" else "b"), 401, [*edits, *reads]),
    ]
    for key, expected, attempts in refused:
        for method, path, body in world.rng.sample(attempts, min(4, len(attempts))):
            status, reply = world.calls.send(key, method, bank.path + path, body)
            assert status == expected, f"{method} {path} must be {expected}: {reply}"


def _edits(world: World, bank: Bank, outside: Scope) -> list[Attempt]:
    """Calls that change a bank, each of them outside of the scope to which keys are bound."""
    text, scope = world.words.sentence(), scope_body(outside)
    names = [memory.name for memory in bank.live() if memory.name and memory.scope == outside]
    event = {"content": {"role": "user", "parts": [{"text": text}]}}
    ingest = {"scope": scope, "directContentsSource": {"events": [event]}}
    direct = {"scope": scope, "directMemoriesSource": {"directMemories": [{"fact": text}]}}
    everything = 'fact=~".*"'
    attempts: list[Attempt] = [
        ("POST", "/memories:ingestEvents", ingest),
        ("POST", "/memories:generate", direct),
        ("POST", "/memories", {"scope": scope, "fact": text}),
        ("POST", "/memories:purge", {"filter": everything, "force": True}),
        ("POST", ":eraseScope", {"scope": scope}),
        ("POST", ":erase", {"force": True}),
        ("POST", ":export", {}),
        ("POST", "/operations:redrive", {}),
        ("PATCH", "", {"displayName": text}),
        ("DELETE", "?force=true", None),
    ]
    for name in names[:2]:
        memory = name.removeprefix(bank.path)
        # A bound key without the role is told of the role.
        attempts += [("PATCH", f"{memory}?updateMask=fact", {"fact": text}), ("DELETE", memory, None)]
    return attempts


def _reads(bank: Bank, outside: Scope) -> list[Attempt]:
    return [
        ("POST", "/memories:retrieve", {"scope": scope_body(outside)}),
        ("GET", "/memories", None),
        ("GET", "/operations", None),
        ("GET", "/streams", None),
    ]


def _memory_attempts(world: World) -> list[Attempt]:
    text = world.words.sentence()
    return [
        ("GET", "", None),
        ("GET", "/revisions", None),
        ("GET", "/revisions/1", None),
        ("PATCH", "?updateMask=fact", {"fact": text}),
        ("POST", ":rollback", {"targetRevisionId": "1"}),
        ("DELETE", "", None),
    ]


def _operation_attempts() -> list[Attempt]:
    return [
        ("GET", "", None),
        ("POST", ":redrive", {}),
        ("POST", ":wait?timeout=1s", {}),
    ]


def _same_refusal(world: World, bank: Bank, kind: str, foreign: str, unknown: str, attempts: list[Attempt]) -> None:
    for key in (bank.operator, ROOT):
        for method, action, body in attempts:
            real = world.calls.send(key, method, f"{bank.path}/{kind}/{foreign}{action}", body)
            made_up = world.calls.send(key, method, f"{bank.path}/{kind}/{unknown}{action}", body)
            assert real[0] == 404, f"{method} {kind}/{foreign}{action} of another tenant: {real}"
            assert _without(real, foreign) == _without(made_up, unknown)


def _changed(world: World, name: str) -> str:
    """Return *name* with another letter in its middle, so that it is still well formed."""
    place = len(name) // 2
    letter = world.rng.choice([one for one in _ALPHABET if one != name[place]])
    return name[:place] + letter + name[place + 1 :]


def _without(reply: tuple[int, Any], name: str) -> str:
    return str(reply).replace(name, "ID")
