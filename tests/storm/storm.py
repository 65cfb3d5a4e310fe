"""Callers, streams, ticks and executions, each at any time, in weather that kills, throttles, loses and repeats."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from streambank import errors
from streambank.errors import NotFound
from streambank.model.memory import Memory
from streambank.model.scope_index import INDEX_LAG, LARGE_SCOPE
from streambank.model.window import WindowState
from streambank.pipeline.jobs.index_scope import CHECKED_EVERY
from streambank.pipeline.memories.search import SearchQuery, search
from tests import aws
from tests.aws import Killed
from tests.lagging_index import LaggingIndex
from tests.storm import breaks
from tests.storm.endings import Endings
from tests.storm.fickle import LIE, Fickle, Skew
from tests.storm.ledger import EventKey, Ledger, Told
from tests.storm.owners import Owners
from tests.storm.streets import STREAMS_OF_SCOPE, Streets, scope_of
from tests.storm.verdict import check
from tests.storm.weather import Weather
from tests.world import World, event

RULES = (None, {}, {"eventCount": 2}, {"eventCount": 5, "overlapEventCount": 2}, {"idleDuration": "60s"},
         {"fixedInterval": "120s"})  # fmt: skip
SKEWS = [timedelta(seconds=s) for s in (-3, -1, 1, 3)]
# AWS Lambda ends every function after 15 minutes; a deletion relies on that.
LONGEST_FUNCTION = timedelta(minutes=14)


@dataclass
class Call:
    """A call that is sent until it is answered, and then perhaps again."""

    bank: str
    stream: str
    scope: dict[str, str]
    events: list[dict[str, Any]]
    rule: dict[str, Any] | None
    force: bool


@dataclass
class Storm:
    """One table's worth of a storm: some scopes with some streams, until *events* were sent."""

    client: Any
    seed: int
    events: int
    streams: int = 60
    erasures: float = 1.0  # how often scopes are erased, beside the weights of other deeds
    visitors_erase: bool = False  # whoever comes between others often erases a scope
    moves: float = 0.0  # how often scopes are moved, likewise
    pins: float = 0.0  # how often memories are pinned or unpinned, likewise
    broken: str | None = None
    large: int = LARGE_SCOPE  # scopes with more memories have an index, which lags
    injected: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.world = World(self.client, large_scope=self.large)
        self.weather = Weather(self.rng, self.injected, self._somebody)
        self.world.extractor = Fickle(self.weather)
        self.records: list[tuple[str, str]] = []
        self.kinds = ("HEAD", "W#", "V") if self.large < LARGE_SCOPE else ("HEAD", "W#")
        self.open: list[Call] = []
        self.answered: list[Call] = []
        self.ledger = Ledger()
        self.sent = 0
        self.twins: list[dict[str, Any]] = []
        self.at_work: str | None = None
        self.gone: list[str] = []
        self.deeds = {
            self._say: 4,
            self._say_together: 3,
            self._say_again: 8,
            self._repeat: 3,
            self._deliver: 25,
            self._run: 16,
            self._tick: 4,
            self._wait: 5,
            self._die: 0.1,
            self._erase: self.erasures,
            self._delete_bank: 0.1,
            self._move: self.moves,
            self._pin: self.pins,
        }
        if self.large < LARGE_SCOPE:
            self.deeds |= {self._search: 6, self._lag: 0.6}
        self.streets = Streets(self.streams, self.rng)
        self.endings = Endings(self.world, self.weather, self.streets, self.ledger, self.rng, self.injected)
        self.owners = Owners(self.world, self.weather, self.streets, self.ledger, self.rng, self.injected)
        self.function_began = self.world.clock()

    # ---- the whole of it

    def rage(self) -> int:
        """Let the storm rage, then pass; check what must hold and return how many events were accepted."""
        for listener in (self.streets.listen, self._listen):
            self.client.meta.events.register("before-parameter-build.dynamodb", listener)
        if self.broken:
            breaks.overlook(self.client, self.broken)
        self.endings.open_bank()
        self.weather.attach(self.client)
        self.index = LaggingIndex(self.client, self.world.clock)  # faults come before it
        while self.sent < self.events:
            self._somebody()
        for _ in range(self.events):
            self._somebody()  # what was said last meets the storm too
        self.weather.is_calm = True
        self.endings.finish()
        self.owners.finish()
        for call in self.open[:]:
            self._answered(call)
        self._come_to_rest()
        assert not self.gone, f"I9: {self.gone[0]}, which was gone before the search"
        return check(self.world, self.ledger, LIE)

    def _answered(self, call: Call) -> None:
        """Send a call in calm weather: now it must be answered."""
        try:
            self._send(call)
        except errors.StreambankError as error:
            if call not in self.open:
                return  # its bank was deleted
            raise AssertionError(f"I10: a call to {call.stream} is never answered: {error!r}") from error

    def _somebody(self) -> None:
        """Let somebody do something; whoever dies or is refused comes again another time."""
        who = self.rng.choices(list(self.deeds), list(self.deeds.values()))[0]
        if self.weather.depth and self.rng.random() < 0.7:
            who = self._visitor()
        if not self.weather.depth:
            self.function_began = self.world.clock()
        try:
            who()
        except (Killed, errors.StreambankError, ClientError, BotoCoreError):
            return

    def _visitor(self) -> Callable[[], None]:
        """Return who mostly comes between."""
        if self.visitors_erase and (self.endings.is_erasing or self.rng.random() < 0.3):
            return self.rng.choice((self._erase, self._say, self._say))
        return self._run if self.at_work else self.rng.choice((self._deliver, self._say, self._say, self._say_again))

    def _where(self) -> int:
        """Return a stream; whoever comes between goes where the other is."""
        return self.streets.near() if self.weather.depth else self.streets.anywhere()

    # ---- callers

    def _say(self) -> None:
        if self.sent >= self.events:
            return
        number = self._where()
        bank, scope, name = self.streets.bank_of(number), scope_of(number), f"s{number}"
        if self.rng.random() < 0.4:
            self.sent += 1
            self._say_once(bank, name, scope, self.sent - 1)
            return
        some = range(self.sent, self.sent + self.rng.choice((1, 1, 2, 3, 8)))
        self.sent = some.stop
        said = [event(self._text(scope, n), f"e{n}", self.rng.choice(("user", "user", "model"))) for n in some]
        call = Call(bank, name, {"user_id": scope}, said, self.rng.choice(RULES), self.rng.random() < 0.1)
        self.open.append(call)
        self._send(call)

    def _say_together(self) -> None:
        """Let two streams of a scope say the same at the same time, so that their generations meet."""
        first = self.rng.randrange(0, self.streams, STREAMS_OF_SCOPE)
        bank, scope, number = self.streets.bank_of(first), scope_of(first), self.sent
        self.sent += 2
        for offset in range(2):
            said = [event(f"{scope}|together {number}", f"e{number + offset}")]
            call = Call(bank, f"s{first + offset}", {"user_id": scope}, said, None, force=True)
            self.open.append(call)
        for call in self.open[-2:]:
            self._send(call)
        for _ in range(4):
            self._deliver_of(first), self._deliver_of(first + 1)

    def _text(self, scope: str, number: int) -> str:
        """Return something new, or what others of the scope say too."""
        return f"{scope}|{number}" if self.rng.random() < 0.7 else f"{scope}|all say {number // 25}"

    def _say_once(self, bank: str, name: str, scope: str, number: int) -> None:
        """Send an event without an id, which nobody may send again; whether it came through is not known."""
        self.world.ingest(event(f"{scope}|once {number}"), bank=bank, scope={"user_id": scope}, streamId=name)

    def _say_again(self) -> None:
        """Send a call again that was not answered."""
        if self.open:
            where = f"s{self._where()}"
            near = [call for call in self.open if call.stream == where]
            self._send(self.rng.choice(near or self.open))

    def _repeat(self) -> None:
        """Send a call again that was answered long ago."""
        if self.answered:
            self.injected["call repeated"] += 1
            self._send(self.rng.choice(self.answered))

    def _send(self, call: Call) -> None:
        fields: dict[str, Any] = {"scope": call.scope, "streamId": call.stream, "forceFlush": call.force}
        if call.rule is not None:
            fields["rule"] = call.rule
        ids = tuple(one["eventId"] for one in call.events)
        self.ledger.send(EventKey(call.bank, call.stream, one) for one in ids)
        try:
            with self._skewed():
                receipt = self.world.ingest(*call.events, bank=call.bank, **fields)
        except NotFound:
            self._without_bank(call)
            raise
        self.ledger.answer(Told(call.bank, call.stream, ids, receipt.operation.id, call.force))
        if call in self.open:
            self.open.remove(call)
            self.answered.append(call)

    def _without_bank(self, call: Call) -> None:
        """Give up a call to a bank that was deleted; one that is only to be created is created."""
        if call.bank not in self.ledger.deleted:
            self.endings.open_bank()
            return
        for calls in (self.open, self.answered):
            if call in calls:
                calls.remove(call)

    def _erase(self) -> None:
        number = self._where()
        self.endings.erase(number if self.streets.may_be_erased(number) else self.streets.neighbour(number))

    def _move(self) -> None:
        self._own(self.owners.move)

    def _pin(self) -> None:
        self._own(self.owners.pin)

    def _own(self, act: Callable[[int], None]) -> None:
        number = self._where()
        if self.owners.may_own(number):
            act(number)

    def _delete_bank(self) -> None:
        self.endings.delete()

    def _skewed(self) -> Skew:
        """Let one function's clock be wrong by a few seconds."""
        is_wrong = not self.weather.is_calm and self.rng.random() < 0.1
        self.injected["clock skewed"] += is_wrong
        return Skew(self.world, self.rng.choice(SKEWS) if is_wrong else timedelta(0))

    def _search(self) -> None:
        """Search a scope: what was gone before, and is gone after, is in no result, however old the index is."""
        number = self._where()
        bank, scope = self.streets.bank_of(number), {"user_id": scope_of(number)}
        before = self._live(bank, scope)
        query = SearchQuery(f"{scope_of(number)}|{self.sent}", 100)
        result = search(bank, scope, query, context=self.world.searching())
        shown = {item.id for _, item in result.hits if isinstance(item, Memory)}
        gone = shown - before - self._live(bank, scope)
        if gone:
            self.gone.append(f"{bank} {scope} shows {gone}")
        self.injected["scope searched"] += 1

    def _live(self, bank: str, scope: dict[str, str]) -> set[str]:
        """Return the memories of a scope, as one who sees the table does: no fault meets this."""
        was_calm, self.weather.is_calm = self.weather.is_calm, True
        try:
            return {one.id for one in self.world.memories.of_scope(bank, scope, now=self.world.clock())}
        finally:
            self.weather.is_calm = was_calm

    def _lag(self) -> None:
        """Let the index be behind for minutes, with old, missing and double entries."""
        span = timedelta(seconds=self.rng.randrange(10, int(INDEX_LAG.total_seconds())))
        self.index.fall_behind(span, doubled=self.rng.random() < 0.5)
        self.injected["index fell behind"] += 1

    # ---- AWS

    def _listen(self, params: dict[str, Any], **_: Any) -> None:
        """Take down what the table's stream would tell of: some records get lost, some come twice."""
        if self.weather.is_calm:
            return  # then the sweep alone works
        writes = [next(iter(one.values())) for one in params.get("TransactItems", [])] or [params]
        for write in writes:
            key = write.get("Item") or write.get("Key")
            if key and "ConditionExpression" in write and key["SK"]["S"].startswith(self.kinds):
                copies = self.rng.choices([1, 0, 2], [80, 12, 8])[0]
                self.injected["record lost"] += copies == 0
                self.injected["record repeated"] += copies == 2
                self.records += [(key["PK"]["S"], key["SK"]["S"])] * copies

    def _deliver(self) -> None:
        """Deliver one record, by no means always the oldest; who dies leaves it to be delivered again, or not."""
        if not self.records:
            return
        where = self._where()
        if self.weather.depth and self._deliver_of(where):
            return
        place = self.rng.randrange(min(len(self.records), 6))
        self.injected["record reordered"] += place > 0
        pk, sk = self.records.pop(place)
        with self._skewed():
            self.world.react(pk, sk)

    def _deliver_of(self, number: int) -> bool:
        """Deliver the oldest record of a stream; False if there is none."""
        mine = (place for place, (pk, _) in enumerate(self.records) if self.streets.number(pk.split("#")[2]) == number)
        place = next(mine, None)
        if place is None:
            return False
        self.world.react(*self.records.pop(place))
        return True

    def _run(self) -> None:
        """Run one execution, perhaps one that has run already."""
        executions = self.world.executions
        if self.twins and self.rng.random() < 0.1:
            self.injected["execution ran twice"] += 1
            aws.walk(self.twins.pop(), self.world.tasks())
            return
        if executions.running:
            name = self._chosen(list(executions.running))
            payload = executions.running[name]
            before, self.at_work = self.at_work, name
            if self.rng.random() < 0.15:
                self.twins.append(dict(payload))
            try:
                aws.walk(payload, self.world.tasks())
            finally:
                self.at_work = before
                executions.running.pop(name, None)
                executions.closed.add(name)

    def _chosen(self, names: list[str]) -> str:
        """Return an execution; whoever comes between another often is its twin, or works in its scope."""
        dice = self.rng.random() if self.at_work else 1.0
        if dice < 0.4 and self.at_work in names:
            return self.at_work
        near = [name for name in names if name != self.at_work and self._scope(name) == self._scope(self.at_work)]
        return self.rng.choice(near if near and dice < 0.9 else names)

    def _scope(self, name: str | None) -> str | None:
        """Return the scope that an execution works in."""
        payload = self.world.executions.running.get(name or "")
        return scope_of(self.streets.number(payload["sid"]) or 0) if payload else None

    def _tick(self) -> None:
        for _ in range(self.rng.choice((1, 1, 2))):
            with self._skewed():
                self.world.sweep()

    def _wait(self) -> None:
        """Let time pass, at times so much that ticks were missed."""
        span = self.rng.choice((1, 5, 30, 61, 300))
        end = self.world.clock() + timedelta(seconds=span)
        if self.weather.depth and end - self.function_began > LONGEST_FUNCTION:
            return
        self.injected["ticks missed"] += span > 60
        self.world.clock.move(seconds=span)

    def _die(self) -> None:
        self.injected["executions died"] += len(self.world.executions.running)
        self.world.executions.die()

    def _come_to_rest(self) -> None:
        """Let the sweep alone bring everything home; what is parked is tried again, as an operator would."""
        for _ in range(6):
            self.world.finish(4_000)
            parked = self._parked()
            if not parked:
                self._look_after_indexes()
                return
            for window in parked:
                self.injected["window parked and redriven"] += 1
                self.world.windows.redrive(window, due=self.world.clock())
        raise AssertionError("I6: windows are parked again and again")

    def _look_after_indexes(self) -> None:
        """Let the sweep find what no record of the table's stream told."""
        for _ in range(2):
            self.world.clock.instant += CHECKED_EVERY
            report = self.world.sweep()
            assert not report.faults, report.faults

    def _parked(self) -> list[Any]:
        keys = [(item["PK"]["S"], item["SK"]["S"]) for item in aws.dump(self.client) if item["SK"]["S"][:2] == "W#"]
        windows = [self.world.windows.get(*pk.split("#")[1:], int(sk[2:])) for pk, sk in keys]
        return [window for window in windows if window and window.state is WindowState.PARKED]
