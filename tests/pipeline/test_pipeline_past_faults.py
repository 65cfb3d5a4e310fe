"""Late evidence that is learnt while processes die, and while others change the memory."""

from __future__ import annotations

from typing import Any

import pytest

from streambank.store.executions import Executions
from streambank.wire.reply import rfc3339
from tests import aws
from tests.pipeline.looking_back import HOUR, edit, look, made, say, texts
from tests.pipeline.test_pipeline_faults import KilledExecutions, Killer, _armed, _tell
from tests.pipeline.test_pipeline_interleavings import _interrupted
from tests.world import SCOPE, START, World, event


def _late(world: World) -> None:
    world.ingest(event("I live in Linz", "late", eventTime=rfc3339(START - 5 * HOUR)), forceFlush=True, streamId="s")


def _checked(world: World) -> None:
    """Both texts are there once: one today, one in the past."""
    assert world.facts() == ["I live in Graz"]
    assert texts(look(world, true_at=3)) == ["I live in Linz"]
    [memory] = world.memories.of_scope("default", SCOPE, now=world.clock())
    revisions = world.memories.revisions("default", memory, now=world.clock())
    assert [(one.number, one.is_late) for one in revisions] == [(2, True), (1, False)]


def _killed(client: Any, at: int | None, *, after: bool = False) -> list[str]:
    """Learn late evidence with a kill at call number *at*, check what is left, and return the names of the calls."""
    killer = Killer()
    world = made(client)
    world.executions = KilledExecutions(killer)
    world.port = Executions(world.executions, aws.MACHINE_ARN)
    say(world, "I live in Graz", 1)
    killer.at, killer.after, killer.calls, killer.names = at, after, 0, []
    disarm = _armed(client, killer)
    try:
        _tell(world, [_late, World.settle])
    finally:
        disarm()
    killer.at, names = None, killer.names
    world.finish()
    _checked(world)
    return names


def test_a_kill_after_any_write_of_late_evidence_loses_and_doubles_nothing(client):
    """Wherever the process dies behind a write, the sweep gives the past its text once."""
    writes = [at for at, name in enumerate(_killed(client, None)) if name == "TransactWriteItems"]
    assert len(writes) > 3
    for at in writes:
        _killed(client, at, after=True)


@pytest.mark.slow
def test_a_kill_around_any_call_of_late_evidence_loses_and_doubles_nothing(client):
    """Wherever the process dies, the sweep gives the past its text once."""
    for at in range(len(_killed(client, None))):
        for after in (False, True):
            _killed(client, at, after=after)


@pytest.mark.slow
@pytest.mark.parametrize("other", ["newer", "edit"])
def test_whoever_changes_the_memory_meanwhile_keeps_the_past_right(client, other):
    """A newer text, or a caller's, that comes between two calls of a late window's generation is today's text."""

    def change(world: World) -> None:
        if other == "edit":
            edit(world, fields={"fact"}, fact="I live in Wien")
        else:
            world.ingest(event("I live in Wien", eventTime=rfc3339(START)), forceFlush=True, streamId="t")

    for at in range(100):
        world = made(client)
        say(world, "I live in Graz", 1)
        _late(world)
        if _interrupted(world, World.settle, change, at) <= at:
            return
        world.finish()
        assert world.facts() == ["I live in Wien"]
        assert texts(look(world, true_at=3)) == ["I live in Linz"], at
        assert texts(look(world, true_at=0.5)) == (["I live in Wien"] if other == "edit" else ["I live in Graz"])
    raise AssertionError("a generation never ends")


def test_a_change_while_the_past_is_read_loses_no_text(client):
    """Whoever changes a memory between two reads of an answer takes no text from the past."""
    for at in range(6):
        world = made(client)
        say(world, "I live in Graz", 5)
        before = world.clock()
        world.clock.move(seconds=1)
        seen = list[str]()
        change = lambda world: edit(world, fields=frozenset({"fact"}), fact="I live in Linz")
        calls = _interrupted(world, lambda world: seen.extend(texts(look(world, known_at=before))), change, at)
        assert seen == ["I live in Graz"]
    assert calls < 6
