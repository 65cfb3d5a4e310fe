"""How long the console's pages take beside the service's own time, at 1,000 scopes with ten memories each.

`.venv-console/bin/python -m benchmarks.console` starts local mode, fills it, and opens each page in Chromium.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from streambank.model.memory import Change, Memory, Revision
from streambank.retry import RetryPolicy
from streambank.store.memories import Memories
from streambank.store.table import Table
from streambank_client import Bank, Event, GenerationRule, Streambank
from streambank_local.service import LocalService
from tests.console.conftest import ARGUMENTS, CHROMIUM, LAPTOP, started

MEMORIES_EACH = 10
RULE = GenerationRule(idle_duration=timedelta(days=1))
_COST = re.compile(r"(\d+) requests? to the service in ([\d.,]+) s")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.console", description=__doc__)
    parser.add_argument("--scopes", type=int, default=1_000)
    parser.add_argument("--streams", type=int, default=1_000, help="of so many scopes; each has a pending event")
    options = parser.parse_args()
    with LocalService(timer_enabled=False) as service, Streambank(service.base_url, token="local") as client:
        bank = client.bank()
        fill(service, bank, options.scopes, options.streams)
        print(
            f"{options.scopes:,} scopes, {options.streams:,} streams, {options.scopes * MEMORIES_EACH:,} memories",
            flush=True,
        )
        print(f"{'page':12}{'requests':>10}{'service s':>11}{'beside it s':>13}")
        with started(service.base_url) as (address, _):
            for name, requests, service_seconds, other_seconds in measured(f"{address}/banks/default", bank):
                print(f"{name:12}{requests:>10}{service_seconds:>11.2f}{other_seconds:>13.2f}", flush=True)


def fill(service: LocalService, bank: Bank, scopes: int, streams: int) -> None:
    """Give each scope a stream with a pending event, a closed window in the first one, and its memories."""
    import boto3

    table = Table(boto3.client("dynamodb"), service.stack.table_name, RetryPolicy(time.sleep, lambda: 0.5))
    memories = Memories(table)
    for number in range(scopes):
        scope = {"user_id": f"user-{number:04}"}
        now = service.now()
        changes = [_made(scope, n, now) for n in range(MEMORIES_EACH)]
        memories.commit_changes("default", scope, memories.version("default", scope).version, changes, now=now)
        if number < streams:
            bank.ingest_events(scope=scope, events=[Event.from_text("My train leaves at nine.")], generation_rule=RULE)
    first = [Event.from_text(words, event_id=words[:9]) for words in ("I live in Graz.", "I keep bees.", "I like tea.")]
    bank.ingest_events(scope={"user_id": "user-0000"}, events=first, force_flush=True).wait()


def _made(scope: dict[str, str], number: int, now: Any) -> Change:
    name = f"{scope['user_id']}-{number}"
    fact = f"I like number {number} of the things that {scope['user_id']} likes"
    memory = Memory(id=name, fact=fact, scope=scope, created=now, updated=now, as_of=now)
    return Change(None, memory, Revision(name, 1, fact, now, None))


def measured(home: str, bank: Bank) -> Iterator[tuple[str, str, float, float]]:
    """Yield each page with its requests, the seconds of the service, and those beside it until all is there."""
    from playwright.sync_api import sync_playwright

    [stream] = [one for one in bank.list_streams() if one.last_operation]
    who = "scope.user_id=user-0000"
    pages = {
        "overview": "",
        "streams": "/streams",
        "windows": "/windows",
        "memories": "/memories",
        "scope": f"/scope?{who}",
        "memory": "/memories/user-0000-1",
        "way": f"/windows/{str(stream.last_operation).rsplit('/', 1)[-1]}",
        "search": f"/search?{who}&q=Which+things%3F",
        "try-it": f"/try?{who}&stream=default",
    }
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS).new_page(viewport=LAPTOP)
        page.set_default_timeout(120_000)
        for name, address in ({"(first)": ""} | pages).items():
            began = time.monotonic()
            page.goto(home + address)
            page.wait_for_selector(".bottom .cost")
            page.wait_for_function("() => !document.querySelector('[aria-busy]')")
            elapsed = time.monotonic() - began
            requests, seconds = _COST.search(page.inner_text(".cost")).groups()
            yield name, requests, float(seconds.replace(",", "")), elapsed - float(seconds.replace(",", ""))


if __name__ == "__main__":
    main()
