"""A model that hangs, fails and lies, and a clock that is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from streambank import errors
from streambank.model.extraction import ExtractedFact, Extraction
from tests.storm.weather import Weather
from tests.world import OneFactPerEvent, World

LIE = "made up"
FAILURES = (errors.ModelTimedOut, errors.ModelThrottled, errors.ModelUnavailable, errors.ModelOutputInvalid, ValueError)


class Fickle:
    """A model that hangs, fails and lies."""

    def __init__(self, weather: Weather) -> None:
        self.weather, self.honest = weather, OneFactPerEvent()

    def extract(self, request: Any) -> Extraction:
        answer, rng = self.honest.extract(request), self.weather.rng
        self.honest.requests.clear()
        if self.weather.is_calm:
            return answer
        if rng.random() < 0.1:
            self.weather.injected["model failed"] += 1
            raise rng.choice(FAILURES)("injected")
        if rng.random() < 0.1:
            self.weather.injected["model lied"] += 1
            made_up = [ExtractedFact(f"{LIE} {n}", cited) for n, cited in enumerate([(), (999,), (0,)])]
            facts = rng.choice(((*made_up, *answer.facts), (*answer.facts, *made_up)))
            return Extraction(facts, answer.usage)
        return answer


@dataclass
class Skew:
    """The clock, wrong for a while."""

    world: World
    by: timedelta
    before: datetime | None = None

    def __enter__(self) -> None:
        self.before = self.world.clock.instant
        self.world.clock.instant += self.by

    def __exit__(self, *_: object) -> None:
        self.world.clock.instant -= self.by
