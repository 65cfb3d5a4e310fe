"""The cases whose growth is counted: each prepares n of something, then does one piece of work."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from benchmarks import prose
from streambank.model.bank import Bank
from streambank.model.erasure import ErasureTarget
from streambank.pipeline.banks import BankChange, update_bank
from streambank.pipeline.jobs import erase, policy_job
from streambank.pipeline.memories import listing, purge
from streambank.rules import vectors
from streambank.rules.selection import parse_memory_order, parse_selection
from tests import aws
from tests.world import SCOPE, START, World, event

BANK = "bank"
DIMENSIONS = 256
TURN_CHARACTERS, EVENTS = 150, 10
_RULE_NEVER_DUE = {"eventCount": 10_000, "idleDuration": "2592000s"}
_RULE_60_SECONDS = {"idleDuration": "60s"}
_RULE_EACH_EVENT = {"eventCount": 1}
_TEXTS = prose.pieces(TURN_CHARACTERS)
_SERIAL = itertools.count()


@dataclass(frozen=True, slots=True)
class Case:
    """A piece of work, and what its cost may grow with."""

    name: str
    grows_with: str
    prepare: Callable[[World, int], object]
    work: Callable[[World], object]


class Executions(aws.Executions):
    """Counts the calls of Step Functions, repeated starts included."""

    calls = 0

    def start_execution(self, **request: Any) -> dict[str, Any]:
        self.calls += 1
        return super().start_execution(**request)

    def describe_execution(self, **request: Any) -> dict[str, Any]:
        self.calls += 1
        return super().describe_execution(**request)


class _Embedder:
    """Random vectors as long as the service's."""

    is_local = True

    def embed(self, texts: list[str], **_: Any) -> list[bytes]:
        return [vectors.pack(Random(text).gauss() for _ in range(DIMENSIONS)) for text in texts]


# ---- preparation


def _scope(number: int) -> dict[str, str]:
    return {"user_id": f"u{number}"}


def _ingest_events(world: World, count: int = 1, **fields: Any) -> None:
    events = [event(next(_TEXTS), f"e{next(_SERIAL)}") for _ in range(count)]
    world.ingest(*events, **fields)


def _bank(world: World, name: str = BANK) -> None:
    world.banks.create(Bank(name, created=START, updated=START), {})


def _streams(world: World, count: int, rule: dict[str, Any] = _RULE_NEVER_DUE) -> None:
    """Create *count* streams, each in its own scope."""
    _bank(world)
    for number in range(count):
        _ingest_events(world, EVENTS, bank=BANK, scope=_scope(number), rule=rule)


def _due(world: World, count: int) -> None:
    _streams(world, count, _RULE_60_SECONDS)
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
    """Create *count* windows of one stream that wait for an earlier one, whose generation runs."""
    _bank(world)
    for _ in range(count + 1):
        _ingest_events(world, bank=BANK, forceFlush=True)
        world.ingest(bank=BANK, forceFlush=True)
    world.sweep()
    world.clock.move(minutes=3)


def _closed(world: World, count: int) -> None:
    _streams(world, count)
    world.banks.close(BANK, now=world.clock())
    world.clock.move(seconds=61)


def _memories(world: World, count: int) -> None:
    """Generate *count* memories from as many events of one scope."""
    _bank(world)
    _ingest_events(world, count, bank=BANK, rule=_RULE_EACH_EVENT)
    _generate_memories(world)
    assert len(world.facts(bank=BANK)) == count


def _generate_memories(world: World) -> None:
    """Seal the due windows, start their generations and run them."""
    world.embedder = _Embedder()
    world.deliver()
    world.deliver()
    world.run()


def _scopes(world: World, count: int) -> None:
    _bank(world)
    for number in range(count):
        _ingest_events(world, bank=BANK, scope=_scope(number), rule=_RULE_EACH_EVENT)
    _generate_memories(world)
    assert all(world.facts(_scope(number), BANK) for number in range(count))


def _banks(world: World, count: int) -> None:
    names = [f"{BANK}{number or ''}" for number in range(count)]
    for name in names:
        _bank(world, name)
        _ingest_events(world, bank=name, rule=_RULE_EACH_EVENT)
    _generate_memories(world)
    assert all(world.facts(bank=name) for name in names)
    _ingest_events(world, bank=BANK, rule=_RULE_NEVER_DUE)


# ---- work


def _ingest(world: World) -> None:
    _ingest_events(world, EVENTS, bank=BANK, scope=_scope(0), rule=_RULE_NEVER_DUE)


def _ingest_one_bank(world: World) -> None:
    _ingest_events(world, EVENTS, bank=BANK, rule=_RULE_NEVER_DUE)


def _generate_one(world: World) -> None:
    """Run the generation of a window with one event."""
    [(pk, sk)] = [one for one in world.stirring() if one[1].startswith("W#")]
    world.react(pk, sk)
    world.run()


def _memories_and_a_window(world: World, count: int) -> None:
    _memories(world, count)
    _ingest_events(world, bank=BANK, rule=_RULE_EACH_EVENT)
    for key in world.stirring():
        world.react(*key)


def _retrieve(world: World) -> None:
    list(listing.each_in_scope(BANK, SCOPE, parse_selection(""), memories=world.memories, now=world.clock()))


def _page(world: World) -> None:
    request = listing.Listing(parse_selection(""), parse_memory_order(None), 100)
    listing.list_memories(BANK, request, memories=world.memories, now=world.clock())


def _page_of_banks(world: World) -> None:
    list(itertools.islice(world.banks.list(page=101), 100))


def _purge(world: World) -> None:
    everything = purge.Purge(BANK, lambda _: True, lambda _: True)
    purge.delete(
        everything,
        memories=world.memories,
        retry_policy=world.retry_policy,
        id_secret=world.id_secret,
        now=world.clock(),
    )


def _purge_nothing(world: World) -> None:
    nothing = purge.Purge(BANK, lambda _: True, lambda _: False)
    purge.delete(
        nothing, memories=world.memories, retry_policy=world.retry_policy, id_secret=world.id_secret, now=world.clock()
    )


def _erase(scope: dict[str, str]) -> Callable[[World], object]:
    def work(world: World) -> None:
        outcome = erase.erase_scope(BANK, scope, ErasureTarget(), context=world.erasing())
        assert outcome.ended

    return work


def _erase_bank(world: World) -> None:
    outcome = erase.erase_bank(BANK, context=world.erasing())
    assert outcome.ended


def _policed(prepare: Callable[[World, int], object], pattern: str) -> Callable[[World, int], None]:
    """Return what prepares a bank that has had a policy for so long that one walk applies it."""

    def prepared(world: World, count: int) -> None:
        prepare(world, count)
        document = {"contentPolicy": {"rules": [{"pattern": pattern, "action": "REDACT"}]}}
        change = BankChange(document=document)
        update_bank(BANK, change, banks=world.banks, retry_policy=world.retry_policy, now=world.clock())
        world.clock.move(minutes=16)

    return prepared


def _apply_policy(world: World) -> None:
    assert policy_job.apply_policy(BANK, context=world.applying_policy()).ended


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
    Case("applying a policy, no text matches", _IN_BANK, _policed(_streams, "[0-9]{99}"), _apply_policy),
    Case("retrieve", _IN_SCOPE, _memories, _retrieve),
    Case("page of 100 of the bank", _IN_SCOPE, _memories, _page),
    Case("generation of one fact", _IN_SCOPE, _memories_and_a_window, _generate_one),
    Case("purge of all", _IN_SCOPE, _memories, _purge),
    Case("erasing the scope", _IN_SCOPE, _memories, _erase(SCOPE)),
    Case("page of 100 of the bank", _SCOPES, _scopes, _page),
    Case("purge that matches nothing", _SCOPES, _scopes, _purge_nothing),
    Case("applying a policy, all texts match", _SCOPES, _policed(_scopes, "[aeo]"), _apply_policy),
    Case("ingest of 10 events", _ALL, _banks, _ingest_one_bank),
    Case("retrieve", _ALL, _banks, _retrieve),
    Case("page of 100 of one bank", _ALL, _banks, _page),
    Case("sweep, nothing due", _ALL, _banks, World.sweep),
    Case("page of 100 of the banks", _ALL, _banks, _page_of_banks),
)
