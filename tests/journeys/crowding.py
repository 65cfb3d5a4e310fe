"""Many memories, written through the store of the running service: no call could write them in the time of a test."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from streambank.model.memory import Change, Memory
from streambank_local.service import LocalService
from tests.journeys.caller import Caller, Document

# Two actions each, the scope's version and its registry entry, and the change record: 99 of a transaction's 100.
TOGETHER = 48


def wiring() -> Any:
    """Return the wiring of the running service's API function."""
    return sys.modules["functions.api"].WIRING


def stores() -> Any:
    """Return the stores that the running service uses."""
    return wiring().stores


@dataclass
class Calls:
    """What the service asks of DynamoDB."""

    counts: Counter[str]

    def __call__(self, model: Any, **_: Any) -> None:
        self.counts[model.name] += 1


def filled(caller: Caller, bank: str, scope: dict[str, str], count: int, fact: str = "I like {}") -> list[str]:
    """Write *count* memories into a scope that has none, a second apart, and return their names, newest first."""
    now = caller.service.now()
    memories = [
        Memory(
            id=f"m{place:05}",
            fact=fact.format(place),
            scope=scope,
            created=now + timedelta(seconds=place - count),
            updated=now + timedelta(seconds=place - count),
            as_of=now,
            revision=0,
        )
        for place in range(count)
    ]
    written_unheard(caller.service, bank, scope, memories, now)
    return [f"{bank}/memories/{memory.id}" for memory in reversed(memories)]


def written_unheard(
    service: LocalService, bank: str, scope: dict[str, str], memories: list[Memory], now: datetime
) -> None:
    """Write *memories* into a scope that has none; the pump, which has nothing to do with them, rests meanwhile."""
    pumped, service.poller_enabled = service.poller_enabled, False
    for run, start in enumerate(range(0, len(memories), TOGETHER)):
        changes = [Change(None, memory, None) for memory in memories[start : start + TOGETHER]]
        stores().memories.commit_changes(bank.rsplit("/", 1)[-1], scope, run, changes, now=now)
    service.poller_enabled = pumped


def pages(caller: Caller, path: str, key: str, **query: str) -> Iterator[list[Document]]:
    token = ""
    while True:
        page = caller.get(path, params=query | ({"pageToken": token} if token else {}))
        token = page.get("nextPageToken", "")
        yield page[key]
        if not token:
            return


def names(caller: Caller, bank: str, **query: str) -> list[str]:
    return [memory["name"] for page in pages(caller, f"{bank}/memories", "memories", **query) for memory in page]


def purge(caller: Caller, bank: str, text: str, *, force: bool, status: int = 200) -> Document:
    return caller.post(f"{bank}/memories:purge", {"filter": text, "force": force}, status=status)


def scoped(scope: dict[str, str]) -> str:
    return f"scope={json.dumps(json.dumps(scope, ensure_ascii=False), ensure_ascii=False)}"


def several(service: LocalService, bank: str, scope: dict[str, str], at: datetime, prefix: str) -> None:
    """Write a thousand memories of one moment into a scope that has none."""
    memories = [
        Memory(f"{prefix}-{n:04}", f"I like {n}", scope, created=at, updated=at, as_of=at, revision=0)
        for n in range(1_000)
    ]
    written_unheard(service, bank, scope, memories, at)
