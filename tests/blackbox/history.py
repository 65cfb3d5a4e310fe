"""One random history: actions, and the totals at its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

from tests.blackbox import attacks, chats, checks, generating, ingesting, memories, moves, policies, transfers
from tests.blackbox.calls import Calls
from tests.blackbox.checks import compare, settle
from tests.blackbox.table import check_table
from tests.blackbox.tenants import World
from tests.blackbox.totals import check_totals

Action = Callable[[World], None]

# Raw events, operations and exports live longer than this, so nothing expires but deleted memories.
LONGEST_SECONDS = 20 * 86_400
_MOVES = (1, 31, 70, 130, 400, 1_900, 4_000, 90_000)


def advance(world: World) -> None:
    """The clock moves, and every bank is as it must be."""
    seconds = world.rng.choice(_MOVES)
    if world.moved + seconds < LONGEST_SECONDS:
        world.moved += seconds
        settle(world, seconds)


ACTIONS: dict[Action, int] = {
    ingesting.ingest: 30,
    ingesting.replay: 8,
    ingesting.replay_elsewhere: 4,
    ingesting.contradict: 2,
    ingesting.force_flush: 3,
    ingesting.fill_window: 2,
    advance: 12,
    memories.create: 6,
    memories.update: 5,
    memories.delete: 5,
    memories.roll_back: 4,
    memories.read: 4,
    memories.pin: 4,
    memories.unpin: 2,
    checks.retrieve: 4,
    checks.find_events: 3,
    generating.generate: 2,
    generating.purge: 1,
    generating.pause: 1,
    chats.put_chat: 3,
    chats.append_chat: 3,
    chats.delete_chat: 1,
    policies.refuse: 1,
    policies.learn_nothing: 1,
    moves.move_scope: 2,
    transfers.export: 3,
    transfers.import_export: 4,
    transfers.erase_scope: 2,
    transfers.erase_bank: 1,
    transfers.close_bank: 1,
    attacks.forged_memory: 2,
    attacks.forged_operation: 2,
    attacks.forged_event: 2,
    attacks.derived_id: 1,
    attacks.foreign_export: 2,
    attacks.redrive_nothing: 2,
    attacks.wrong_key: 4,
}


def choose(rng: Random, number: int) -> list[Action]:
    """Return *number* actions by their weights; where half of them suffice for that, every action is among them."""
    each = list(ACTIONS) if number >= 2 * len(ACTIONS) else []
    chosen = each + rng.choices(list(ACTIONS), list(ACTIONS.values()), k=number - len(each))
    rng.shuffle(chosen)
    return chosen


class HistoryFailure(AssertionError):
    """Something that was promised does not hold."""


def play(base_url: str, seed: int, actions: int, tenants: int = 2) -> Counter[str]:
    """Play a history against the service and return how often each action was taken.

    Raises HistoryFailure with the seed and the last calls.
    """
    calls = Calls(base_url)
    taken: Counter[str] = Counter()
    try:
        _play(World(calls, seed, tenants), actions, taken)
    except Exception as fault:
        repeat = f"python -m tests.blackbox --seed {seed} --actions {actions} --tenants {tenants}"
        last = "\n".join(calls.trace[-15:])
        done = f"after {taken.total()} actions"
        raise HistoryFailure(f"{type(fault).__name__}: {fault}\n{done}; repeat it: {repeat}\n{last}") from fault
    finally:
        calls.close()
    return taken


def _play(world: World, actions: int, taken: Counter[str]) -> None:
    for action in choose(world.rng, actions):
        world.calls.trace.append(f"-- {taken.total()} {action.__name__}")
        action(world)
        taken[action.__name__] += 1
    settle(world, 90_000)  # longer than the 24 hours after which every window is sealed
    settle(world, 2_400)  # a deleted bank is gone
    for bank in world.banks():
        compare(world, bank, world.calls.now)
        check_totals(world, bank)
    check_table(world.banks(), world.words.made)
