"""Ten thousand memories of one bank: the most that are put into another order than the index has.

Minutes of it are the emulator's, whose every query looks at all that its table holds.
"""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest

from streambank_local.service import LocalService
from tests.journeys.caller import Caller
from tests.journeys.crowding import Calls, names, purge, scoped, several

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("calls")]


@pytest.fixture(scope="module")
def myriad(service: LocalService, client: httpx.Client) -> Myriad:
    """A bank with ten scopes of a thousand memories, each scope's a second after the last one's."""
    caller = Caller(service, client)
    bank, scopes, now = caller.bank(), [caller.scope() for _ in range(10)], service.now()
    for place, scope in enumerate(scopes):
        several(service, bank, scope, now + timedelta(seconds=place), f"s{place}")
    return bank, scopes


Myriad = tuple[str, list[dict[str, str]]]
# What the emulator may take for a page that AWS answers in seconds.
EMULATED_SECONDS = 900


def test_ten_thousand_memories_are_listed(caller: Caller, myriad: Myriad) -> None:
    """A list of ten thousand memories holds each of them once, newest first."""
    bank, _ = myriad
    found = [name.rsplit("/", 1)[-1] for name in names(caller, bank, pageSize="1000")]
    assert len(set(found)) == len(found) == 10_000
    assert [name[:3] for name in found[::1_000]] == [f"s{place}-" for place in range(9, -1, -1)]


def test_ten_thousand_memories_are_put_into_order_and_no_more(caller: Caller, myriad: Myriad, calls: Calls) -> None:
    """Another order than the index has holds for ten thousand memories of a bank; with one more it is refused.

    A page of it takes a query a shard and a read for each hundred items, not a query for each hundred memories.
    """
    bank, _ = myriad
    query, retry_policy = {"orderBy": "create_time", "pageSize": "1000"}, httpx.Timeout(EMULATED_SECONDS)
    calls.counts.clear()
    first = caller.get(f"{bank}/memories", params=query, timeout=retry_policy)
    assert calls.counts["Query"] <= 2 * 8
    assert calls.counts["BatchGetItem"] <= 10_000 / 100 + 2
    assert {memory["name"].rsplit("/", 1)[-1][:3] for memory in first["memories"]} == {"s0-"}
    assert len(first["memories"]) == 1_000
    assert first["nextPageToken"]
    jam = caller.post(f"{bank}/memories", {"fact": "I like jam", "scope": caller.scope()})["response"]
    error = caller.get(f"{bank}/memories", params=query, timeout=retry_policy, status=400)["error"]
    assert error["status"] == "FAILED_PRECONDITION"
    caller.delete(jam["name"])


def test_scope_of_a_thousand_is_purged_from_among_ten(caller: Caller, myriad: Myriad) -> None:
    """A purge of one scope among ten thousand memories takes its thousand; one of them all is refused."""
    bank, scopes = myriad
    scope = caller.scope()
    several(caller.service, bank, scope, caller.service.now(), "more")
    purge(caller, bank, "fact:like", force=False, status=400)
    assert purge(caller, bank, scoped(scope), force=True)["response"]["purgeCount"] == 1_000
    assert caller.memories(scope, bank) == []
    assert len(caller.memories(scopes[4], bank)) == 100
