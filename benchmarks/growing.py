"""What the growth of costs is counted on: each case is made ready with n of something, then does one thing."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from benchmarks import prose
from streambank.model.bank import Bank
from streambank.model.erasure import ErasureTarget
from streambank.pipeline.jobs import erase
from streambank.pipeline.memories import listing, purge
from streambank.rules import vectors
from streambank.rules.selection import order, selection
from tests import aws
from tests.world import SCOPE, START, World, event

BANK = "bank"
DIMENSIONS = 256
TURN_CHARACTERS, EVENTS = 150, 10
_QUIET = {"eventCount": 10_000, "idleDuration": "2592000s"}
_SHORT = {"idleDuration": "60s"}
_AT_ONCE = {"eventCount": 1}
_TEXTS = prose.pieces(TURN_CHARACTERS)
_SERIAL = itertools.count()


@dataclass(frozen=True, slots=True)
class Case:
    """One thing that the service does, and what it may grow with."""

    name: str
    grows_with: str
    prepare: Callable[[World, int], object]
    work: Callable[[World], object]


class Executions(aws.Executions):
    """Counts what Step Functions is asked, a repeated start included."""

    calls = 0

    def start_execution(self, **asked: Any) -> dict[str, Any]:
        self.calls += 1
        return super().start_execution(**asked)

    def describe_execution(self, **asked: Any) -> dict[str, Any]:
        self.calls += 1
        return super().describe_execution(**asked)


class _Embedder:
    """Vectors as long as the service's, that mean nothing."""

    is_local = True

    def embed(self, texts: list[str], **_: Any) -> list[bytes]:
        return [vectors.packed(Random(text).gauss() for _ in range(DIMENSIONS)) for text in texts]


# ---- what is made ready


def _scope(number: int) -> dict[str, str]:
    return {"user_id": f"u{number}"}


def _say(world: World, count: int = 1, **fields: Any) -> None:
    events = [event(next(_TEXTS), f"e{next(_SERIAL)}") for _ in range(count)]
    world.ingest(*events, **fields)


def _bank(world: World, name: str = BANK) -> None:
    world.banks.create(Bank(name, created=START, updated=START), {})


def _streams(world: World, count: int, rule: dict[str, Any] = _QUIET, said: int = EVENTS) -> None:
    """Make so many streams, each of a scope of its own."""
    _bank(world)
    for number in range(count):
        _say(world, said, bank=BANK, scope=_scope(number), rule=rule)


def _due(world: World, count: int) -> None:
    _streams(world, count, _SHORT)
    world.clock.move(seconds=61)


def _sealed(world: World, count: int) -> None:
    _due(world, count)
    world.sweep()
    world.clock.move(minutes=3)


def _running(world: World, count: int) -> None:
    _sealed(world, count)
    world.sweep()
    world.clock.move(minutes=3)


def _queued(world: World, count: int) -> None:
    """Leave so many windows of one stream waiting for the one before them, which is under way."""
    _bank(world)
    for _ in range(count + 1):
        _say(world, bank=BANK, forceFlush=True)
        world.ingest(bank=BANK, forceFlush=True)
    world.sweep()
    world.clock.move(minutes=3)


def _closed(world: World, count: int) -> None:
    _streams(world, count)
    world.banks.close(BANK, now=world.clock())
    world.clock.move(seconds=61)


def _memories(world: World, count: int) -> None:
    """Let a generation make so many memories of as many events of one scope."""
    _bank(world)
    _say(world, count, bank=BANK, rule=_AT_ONCE)
    _remember(world)
    assert len(world.facts(bank=BANK)) == count


def _remember(world: World) -> None:
    """Make memories of what was said: seal what is ripe, start what was sealed, run it."""
    world.embedder = _Embedder()
    world.deliver()
    world.deliver()
    world.run()


def _scopes(world: World, count: int) -> None:
    _bank(world)
    for number in range(count):
        _say(world, bank=BANK, scope=_scope(number), rule=_AT_ONCE)
    _remember(world)
    assert all(world.facts(_scope(number), BANK) for number in range(count))


def _banks(world: World, count: int) -> None:
    names = [f"{BANK}{number or ''}" for number in range(count)]
    for name in names:
        _bank(world, name)
        _say(world, bank=name, rule=_AT_ONCE)
    _remember(world)
    assert all(world.facts(bank=name) for name in names)
    _say(world, bank=BANK, rule=_QUIET)


# ---- what is done


def _ingest(world: World) -> None:
    _say(world, EVENTS, bank=BANK, scope=_scope(0), rule=_QUIET)


def _ingest_one_bank(world: World) -> None:
    _say(world, EVENTS, bank=BANK, rule=_QUIET)


def _generate(world: World) -> None:
    """A window of one event, from its start to its memory."""
    [(pk, sk)] = [one for one in world.stirring() if one[1].startswith("W#")]
    world.react(pk, sk)
    world.run()


def _with_a_window(world: World, count: int) -> None:
    _memories(world, count)
    _say(world, bank=BANK, rule=_AT_ONCE)
    for key in world.stirring():
        world.react(*key)


def _retrieve(world: World) -> None:
    listing.in_scope(BANK, SCOPE, selection(""), memories=world.memories, now=world.clock())


def _page(world: World) -> None:
    request = listing.Listing(selection(""), order(None), 100)
    listing.list_memories(BANK, request, memories=world.memories, now=world.clock())


def _purge(world: World) -> None:
    everything = purge.Purge(BANK, lambda _: True, lambda _: True)
    purge.delete(everything, memories=world.memories, retry_policy=world.retry_policy, now=world.clock())


def _forget_nothing(world: World) -> None:
    nothing = purge.Purge(BANK, lambda _: True, lambda _: False)
    purge.delete(nothing, memories=world.memories, retry_policy=world.retry_policy, now=world.clock())


def _erase(scope: dict[str, str]) -> Callable[[World], object]:
    def work(world: World) -> None:
        done = erase.erase_scope(BANK, scope, ErasureTarget(), context=world.erasing())
        assert done.ended

    return work


def _erase_bank(world: World) -> None:
    done = erase.erase_bank(BANK, context=world.erasing())
    assert done.ended


_IN_BANK = "streams of a bank, each a scope's own, 10 events in each"
_IN_SCOPE = "memories of a scope, each of an event of 150 characters"
_SCOPES = "scopes of a bank, with a memory each"
_ALL = "banks, with a memory each"

CASES = (
    Case("ingest of 10 events", _IN_BANK, _streams, _ingest),
    Case("sweep, nothing due", _IN_BANK, _streams, World.sweep),
    Case("sweep, n windows to seal", _IN_BANK, _due, World.sweep),
    Case("sweep, n windows to start", _IN_BANK, _sealed, World.sweep),
    Case("sweep, n generations to look at", _IN_BANK, _running, World.sweep),
    Case("sweep, n windows of one stream wait", _IN_BANK, _queued, World.sweep),
    Case("erasing one of the scopes", _IN_BANK, _streams, _erase(_scope(0))),
    Case("erasing the bank", _IN_BANK, _streams, _erase_bank),
    Case("deleting the bank", _IN_BANK, _closed, World.sweep),
    Case("retrieve", _IN_SCOPE, _memories, _retrieve),
    Case("page of 100 of the bank", _IN_SCOPE, _memories, _page),
    Case("generation of one fact", _IN_SCOPE, _with_a_window, _generate),
    Case("purge of all", _IN_SCOPE, _memories, _purge),
    Case("erasing the scope", _IN_SCOPE, _memories, _erase(SCOPE)),
    Case("page of 100 of the bank", _SCOPES, _scopes, _page),
    Case("purge that matches nothing", _SCOPES, _scopes, _forget_nothing),
    Case("ingest of 10 events", _ALL, _banks, _ingest_one_bank),
    Case("retrieve", _ALL, _banks, _retrieve),
    Case("page of 100 of one bank", _ALL, _banks, _page),
    Case("sweep, nothing due", _ALL, _banks, World.sweep),
    Case("list of banks", _ALL, _banks, lambda world: world.banks.list()),
)
