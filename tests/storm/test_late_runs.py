"""Two runs of one erasure: what a random storm meets too seldom is played at every call of the slower run."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from streambank.errors import StreambankError
from streambank.model.erasure import ErasureTarget
from streambank.pipeline.jobs import erase
from tests import aws
from tests.pipeline.test_pipeline_interleavings import Interruption
from tests.storm import breaks
from tests.world import SCOPE, World, event

STREAMS = ("s1", "s2", "s3")


# The slower run reads its job, its streams and their cuts, and then cuts one stream after the other.
CALLS_OF_CUTS = range(4, 10)


@pytest.mark.parametrize("broken", [None, *breaks.SCRIPTED])
def test_what_is_accepted_after_the_first_reply_stays(broken: str | None) -> None:
    """A faster run cuts all streams and is answered, then each stream goes on: the slower run takes nothing of that."""
    with aws.dynamodb() as client:
        if broken:
            breaks.overlook(client, broken)
        lost = [_lost_events(client, at) for at in CALLS_OF_CUTS]
    assert any(lost) == (broken is not None)


def _lost_events(client: Any, at: int) -> set[str]:
    """Return the events that were accepted after the faster run's reply, before call *at*, and are not stored."""
    aws.empty(client)
    world, newer = World(client), set[str]()
    _say(world, "old")
    interruption = Interruption(world, lambda world: newer.update(_erase_and_go_on(world)), at)
    client.meta.events.register("before-call.dynamodb", interruption)
    with suppress(StreambankError):
        _erase(world, steps=1_000)
    client.meta.events.unregister("before-call.dynamodb", interruption)
    assert newer, "the slower run was over before"
    return newer - _stored(world)


def _erase_and_go_on(world: World) -> set[str]:
    _erase(world, steps=0)
    return _say(world, "new")


def _erase(world: World, steps: int) -> None:
    left = iter(range(steps))
    context = world.erasing(lambda: next(left, None) is not None)
    erase.erase_scope("default", SCOPE, ErasureTarget(), context=context)


def _say(world: World, name: str) -> set[str]:
    ids = {f"{name} {stream}" for stream in STREAMS}
    for one in sorted(ids):
        world.ingest(event(one, one), streamId=one.split()[1], rule={"eventCount": 9})
    return ids


def _stored(world: World) -> set[str]:
    batches: list[Any] = [item for item in aws.dump(world.client) if item["SK"]["S"].startswith("B#")]
    pending = {item["PK"]["S"] for item in batches}
    found = (event for pk in pending for event in _events(world, pk))
    return {str(one.event.event_id) for one in found}


def _events(world: World, pk: str) -> list[Any]:
    _, bank, sid = pk.split("#")
    return world.windows.live_events(bank, sid, 1, 99, now=world.clock())
