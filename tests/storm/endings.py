"""Scopes that are erased and banks that are deleted, while calls and executions are under way."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from random import Random
from typing import Any

from streambank.errors import Conflict, NotFound, StreambankError
from streambank.model import ids
from streambank.model.erasure import ErasureTarget
from streambank.pipeline.banks import BankChange, create_bank, delete_bank
from streambank.pipeline.jobs import erase
from tests.storm.ledger import ErasureCall, Ledger
from tests.storm.streets import STREAMS_OF_SCOPE, Streets, scope_of
from tests.storm.weather import Weather
from tests.world import World


class Endings:
    """Callers that erase and delete; whoever is not answered tries again, at the latest in calm weather."""

    def __init__(
        self,
        world: World,
        weather: Weather,
        streets: Streets,
        ledger: Ledger,
        rng: Random,
        injected: Counter[str],
    ) -> None:
        self.world, self.weather, self.streets, self.ledger = world, weather, streets, ledger
        self.rng, self.injected = rng, injected
        self.is_erasing = False

    # ---- scopes

    def erase(self, number: int) -> None:
        """Erase the scope of stream *number*; often the call has not enough time for all of it."""
        bank, scope = self.streets.bank_of(number), scope_of(number)
        call = ErasureCall((bank, scope), self._under_way(bank, scope), self.ledger.now())
        self.ledger.erasures.append(call)
        steps = 1_000 if self.weather.is_calm else self.rng.choice((0, 1, 3, 1_000))
        context = self.world.erasing(time_for(steps))
        was_erasing, self.is_erasing = self.is_erasing, True
        try:
            call.number = erase.erase_scope(bank, {"user_id": scope}, ErasureTarget(), context=context).number
            call.answered = self.ledger.now()
        finally:
            self.is_erasing = was_erasing
            call.failed = None if call.answered else self.ledger.now()
        self.injected["scope erased"] += 1

    def _under_way(self, bank: str, scope: str) -> int | None:
        """Return the number of the erasure that is under way, as one who sees the table does: no fault meets this."""
        before, self.weather.is_calm = self.weather.is_calm, True
        try:
            erasure = self.world.erasures.find(bank, ids.scope_id({"user_id": scope}))
        finally:
            self.weather.is_calm = before
        return erasure.number if erasure and not erasure.ended else None

    # ---- banks

    def open_bank(self) -> None:
        """Create the bank that some of the scopes are in; an id that is taken is this one's, by a lost reply."""
        with suppress(Conflict):
            create_bank(self.streets.bank, BankChange(), banks=self.world.banks, now=self.world.clock())

    def delete(self) -> None:
        """Delete the bank with all that is in it, and go on in a new one."""
        if self.streets.bank not in self.ledger.deleted:
            self.ledger.deleted.append(self.streets.bank)  # nothing in it is promised from now on, answered or not
        self._delete(self.streets.bank)
        self.injected["bank deleted"] += 1
        self.streets.move()
        self.open_bank()

    def _delete(self, bank: str) -> None:
        with suppress(NotFound):  # it was deleted, and the reply was lost
            delete_bank(bank, force=True, banks=self.world.banks, now=self.world.clock())

    # ---- the calm

    def finish(self) -> None:
        """Repeat, in calm weather, what was not answered."""
        for bank in self.ledger.deleted:
            self._delete(bank)
        if self.streets.bank in self.ledger.deleted:
            self.streets.move()
        self.open_bank()
        for bank, scope in sorted(self.ledger.unanswered_erasures()):
            if bank not in self.ledger.deleted:
                self._erase_now(bank, scope)

    def _erase_now(self, bank: str, scope: str) -> None:
        try:
            self.erase(int(scope[1:]) * STREAMS_OF_SCOPE)
        except StreambankError as error:
            raise AssertionError(f"the erasure of {bank} {scope} is never answered: {error!r}") from error


def time_for(steps: int) -> Any:
    left = iter(range(steps))
    return lambda: next(left, None) is not None
