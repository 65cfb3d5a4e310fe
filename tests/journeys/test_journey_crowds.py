"""Eight threads at one scope: streams that are flushed at once, and all kinds of calls together."""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta

import httpx
import pytest

from streambank_local.service import LocalService
from tests import scanner
from tests.blackbox.words import Words, words_in
from tests.journeys.caller import VERSION, Caller, Document, said
from tests.journeys.crowding import pages, scoped

pytestmark = [pytest.mark.usefixtures("rested"), pytest.mark.slow]

THREADS = 8
SECONDS = 60
# Nothing is erased in the last of them: what is accepted then has to stay.
SECONDS_WITHOUT_ERASURES = 8
LEAST_DEEDS = 20
# Generations of one scope that meet wait a second and try again, on a machine that may be busy otherwise.
REST_SECONDS = 600
# A caller that meets one of these comes again, or gives up: it is no fault of the service.
REFUSALS = {400, 404, 409, 429, 503}


def operations(caller: Caller, bank: str) -> list[Document]:
    """Return the operations of all windows of a bank."""
    rows: list[Document] = []
    token = ""
    while True:
        page = caller.get(f"{bank}/operations?pageSize=100&pageToken={token}")
        rows += page.get("operations", [])
        token = page.get("nextPageToken", "")
        if not token:
            return [row for row in rows if "window" in row["metadata"]]


def come_to_rest(caller: Caller) -> None:
    """Wait for what is under way, and then for what a sweep restarts: a generation that met too many others."""
    assert caller.service.wait_until_idle(REST_SECONDS)
    caller.service.advance(timedelta(minutes=30))
    assert caller.service.wait_until_idle(REST_SECONDS)


def test_twenty_streams_that_are_flushed_at_once_are_all_remembered(caller: Caller) -> None:
    """Their generations meet in one scope: none is parked, nothing is doubled, nothing is lost."""
    bank, scope, words = caller.bank(), caller.scope(), Words(random.Random(20))
    texts = {f"s{number}": f"I own a {words.word()}." for number in range(20)}
    streams = [caller.stream(scope, name, bank) for name in texts]

    def flush(place: int) -> int:
        stream = streams[place]
        body = stream.body(said(texts[stream.name], "e1"), said("I keep bees.", "e2"), force_flush=True)
        for _ in range(20):
            status = caller.client.post(f"{VERSION}/{bank}/memories:ingestEvents", json=body).status_code
            if status != 503:
                return status
        return 503

    with ThreadPoolExecutor(THREADS) as pool:
        assert set(pool.map(flush, range(20))) == {200}
    come_to_rest(caller)
    rows = operations(caller, bank)
    print(Counter(row["metadata"]["attempts"] for row in rows), "attempts")
    ended = [(row["done"], row.get("error"), row["metadata"]["coverage"]["covered"]) for row in rows]
    assert ended == [(True, None, 2)] * 20
    facts = sorted(row["memory"]["fact"] for row in caller.retrieve(scope, bank))
    assert facts == sorted([*(text.removesuffix(".") for text in texts.values()), "I keep bees"])


@dataclass
class Said:
    """A word that a call carried; moments only grow."""

    sent: int
    answered: int | None = None


@dataclass
class Crowd:
    """What eight threads did to one scope, and were answered."""

    service: LocalService
    bank: str
    scope: dict[str, str]
    words: dict[str, Said] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    erased: list[tuple[int, int]] = field(default_factory=list)
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._moments, self._source = itertools.count(1), Words(random.Random(8))
        self._naming = threading.Lock()

    def moment(self) -> int:
        return next(self._moments)

    def play(self, thread: int) -> None:
        """Do something at random until the time is over, and not too little of it on a slow machine."""
        rng, end = random.Random(thread), time.monotonic() + SECONDS
        deeds: list[Callable[[httpx.Client, random.Random], None]] = [
            *[self.ingest] * 5, *[self.retrieve] * 2, self.delete, self.export,
        ]  # fmt: skip
        # One thread erases, so that erasures have an order, and so rarely that memories are there to be deleted.
        with_erasures = [*deeds, self.erase] if thread == 0 else deeds
        headers = {"authorization": "Bearer local"}
        with httpx.Client(base_url=self.service.base_url, headers=headers, timeout=60) as client:
            for number in itertools.count():
                if number >= LEAST_DEEDS and time.monotonic() > end:
                    return
                may_erase = time.monotonic() < end - SECONDS_WITHOUT_ERASURES
                rng.choice(with_erasures if may_erase else deeds)(client, rng)

    def call(self, client: httpx.Client, name: str, method: str, path: str, body: Document | None = None) -> Document:
        """Return the reply, or an empty document for a refusal."""
        reply = client.request(method, f"{VERSION}/{path}", json=body)
        self.statuses[name, reply.status_code] += 1
        assert reply.status_code == 200 or reply.status_code in REFUSALS, f"{name}: {reply.status_code} {reply.text}"
        document: Document = reply.json()
        return document if reply.status_code == 200 else {}

    def ingest(self, client: httpx.Client, rng: random.Random) -> None:
        with self._naming:
            words = [self._source.word() for _ in range(rng.choice((1, 2, 3)))]
        stream, moment = f"s{rng.randrange(4)}", self.moment()
        self.words |= {word: Said(moment) for word in words}
        body: Document = {"scope": self.scope, "streamId": stream, "forceFlush": rng.random() < 0.4}
        body["directContentsSource"] = {"events": [said(f"I own a {word}.", word) for word in words]}
        body["generationTriggerConfig"] = {"generation_rule": {"event_count": 4}}
        reply = self.call(client, "ingest", "POST", f"{self.bank}/memories:ingestEvents", body)
        if reply:
            assert reply["metadata"]["acceptedEvents"] == len(words)
            for word in words:
                self.words[word].answered = self.moment()

    def retrieve(self, client: httpx.Client, rng: random.Random) -> list[Document]:
        reply = self.call(client, "retrieve", "POST", f"{self.bank}/memories:retrieve", {"scope": self.scope})
        rows = [row["memory"] for row in reply.get("retrievedMemories", [])]
        facts = Counter(row["fact"] for row in rows)
        assert max(facts.values(), default=1) == 1, f"a memory is there twice: {facts.most_common(1)}"
        return rows

    def delete(self, client: httpx.Client, rng: random.Random) -> None:
        rows = self.retrieve(client, rng)
        if rows:
            memory = rng.choice(rows)
            if self.call(client, "delete", "DELETE", memory["name"]):
                self.deleted.update(words_in(memory["fact"]))

    def erase(self, client: httpx.Client, rng: random.Random) -> None:
        began = self.moment()
        if self.call(client, "erase", "POST", f"{self.bank}:eraseScope", {"scope": self.scope}):
            self.erased.append((began, self.moment()))

    def export(self, client: httpx.Client, rng: random.Random) -> None:
        self.call(client, "export", "POST", f"{self.bank}:export", {"scope": self.scope})


def test_all_kinds_of_calls_to_one_scope_at_once_keep_its_totals(caller: Caller) -> None:
    """Ingest, retrieve, delete, erase and export for a minute: no fault, nothing lost, doubled or left."""
    crowd = Crowd(caller.service, caller.bank(), caller.scope())
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(crowd.play, range(THREADS)))
    print(dict(crowd.statuses))
    for number in range(4):
        caller.stream(crowd.scope, f"s{number}", crowd.bank).send(force_flush=True)
    come_to_rest(caller)
    rows = operations(caller, crowd.bank)
    assert all(row["done"] for row in rows)
    failures = [row["error"]["message"] for row in rows if "error" in row]
    assert all("erase" in one for one in failures), failures
    listed = pages(caller, f"{crowd.bank}/memories", "memories", filter=scoped(crowd.scope), pageSize="1000")
    facts = [memory["fact"] for page in listed for memory in page]
    kept = Counter(word for fact in facts for word in words_in(fact))
    assert max(kept.values(), default=1) == 1
    last = crowd.erased[-1]
    after = {word for word, one in crowd.words.items() if one.answered and one.sent > last[1]}
    before = {word for word, one in crowd.words.items() if one.answered and one.answered < last[0]}
    assert after - crowd.deleted <= set(kept), "what was accepted after the last erasure is lost"
    assert not crowd.deleted & set(kept), "a deleted memory is there"
    stored = {word for item in caller.items() for value in item.values() for word in words_in(scanner.readable(value))}
    assert not before & stored, "what was erased is in the table"
    successful = {name for name, status in crowd.statuses if status == 200}
    assert successful == {"ingest", "retrieve", "delete", "erase", "export"}
