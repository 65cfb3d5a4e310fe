"""Owners who pin memories and move scopes, while generations are under way; they keep to scopes that nobody erases."""

from __future__ import annotations

from collections import Counter
from random import Random

from streambank.errors import StreambankError
from streambank.model.ids import DEFAULT_BANK
from streambank.pipeline.jobs import move
from streambank.pipeline.memories.edit import update_memory
from streambank.rules.edits import Edit
from tests.storm.endings import time_for
from tests.storm.ledger import Ledger
from tests.storm.streets import Streets, scope_of
from tests.storm.weather import Weather
from tests.world import World


class Owners:
    """Whoever is not answered tries again, at the latest in calm weather."""

    def __init__(
        self, world: World, weather: Weather, streets: Streets, ledger: Ledger, rng: Random, injected: Counter[str]
    ) -> None:
        self.world, self.weather, self.streets, self.ledger = world, weather, streets, ledger
        self.rng, self.injected = rng, injected

    def may_own(self, number: int) -> bool:
        """Tell whether the scope of stream *number* is neither erased nor deleted at times."""
        return not self.streets.may_be_erased(number) and self.streets.bank_of(number) == DEFAULT_BANK

    # ---- pins

    def pin(self, number: int) -> None:
        """Pin a memory of the scope of stream *number*, or end that."""
        scopes = [{"user_id": scope_of(number)}, moved_to(scope_of(number))]
        memories = [
            one for scope in scopes for one in self.world.memories.of_scope(DEFAULT_BANK, scope, now=self.world.clock())
        ]
        if not memories:
            return
        memory, pinned = self.rng.choice(memories), self.rng.random() < 0.6
        begun = self.ledger.begin_pin(memory.id, is_pinned=pinned)
        edit = Edit(frozenset({"pinned"}), pinned=pinned)
        update_memory(DEFAULT_BANK, memory.id, None, edit, context=self.world.editing())
        self.ledger.end_pin(memory.id, begun, is_pinned=pinned)
        self.injected["memory pinned or unpinned"] += 1

    # ---- moves

    def move(self, number: int) -> None:
        """Move the scope of stream *number*; often the call has not enough time for all of it."""
        steps = 10_000 if self.weather.is_calm else self.rng.choice((0, 1, 5, 20, 10_000))
        scope = scope_of(number)
        self.ledger.moved.setdefault(scope, False)
        self.ledger.moved[scope] = False
        context = self.world.moving(time_for(steps))
        made = move.move_scope(DEFAULT_BANK, {"user_id": scope}, moved_to(scope), context=context)
        self.ledger.moved[scope] = made.ended is not None
        self.injected["scope moved"] += 1

    def finish(self) -> None:
        """Move again, in calm weather, what was not answered as moved."""
        for scope, is_moved in sorted(self.ledger.moved.items()):
            if not is_moved:
                try:
                    self.move(self.streets.first_of(scope))
                except StreambankError as error:
                    raise AssertionError(f"the move of {scope} is never answered: {error!r}") from error


def moved_to(scope: str) -> dict[str, str]:
    """Return the scope that the scope of a user is moved to."""
    return {"user_id": f"{scope}-signed-in"}
