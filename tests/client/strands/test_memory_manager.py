"""Our memory manager: what an agent loop tells it reaches every store, each message once, whatever happens."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank_client.errors import Unavailable
from streambank_client.http.retry import Backoff
from streambank_client.strands.buffer import BufferLimits
from streambank_client.strands.memory import FlushResult, StreambankMemoryManager
from streambank_client.strands.stores import Ingested
from streambank_client.strands.triggers import IntervalTrigger, InvocationTrigger
from streambank_client.strands.types import ExtractionConfig, ExtractionTrigger, MemoryMessageFilter
from tests.client.strands.talking import (
    Batches,
    Facts,
    Gate,
    Message,
    Outage,
    Shouting,
    Steps,
    assistant,
    text_of,
    turn,
    user,
)

ROOT = Path(__file__).resolve().parents[3]
EACH_TURN = ExtractionConfig(InvocationTrigger())


def until(condition: Callable[[], bool]) -> None:
    """Wait for what a thread of the manager does."""
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def saving() -> bool:
    """Tell whether a save runs."""
    return any(thread.name == "memory-memory" for thread in threading.enumerate())


def said(*turns: int) -> list[str]:
    return [text for number in turns for text in (f"q{number}", f"a{number}")]


def refused(**store: Any) -> str:
    with pytest.raises(ValueError, match="StreambankMemoryManager") as caught:
        StreambankMemoryManager([Batches(**store)])
    return str(caught.value)


class MemoryStore:
    """Has a stub where Strands' protocol of this name has one."""

    name, writable, extraction = "mute", True, None

    async def add(self, content: str, metadata: Any = None) -> None:
        raise NotImplementedError


class Mute(MemoryStore):
    """Takes nothing, though it inherits an `add`."""


# ---- what is set up


def test_refuses_no_stores() -> None:
    """A manager without a store is refused."""
    with pytest.raises(ValueError, match="at least one store"):
        StreambankMemoryManager([])


def test_refuses_same_name() -> None:
    """Two stores of one name are refused."""
    with pytest.raises(ValueError, match="the name 'memory'"):
        StreambankMemoryManager([Batches(), Batches()])


def test_refuses_read_only_extraction() -> None:
    """A store that takes no writes cannot have an extraction."""
    assert "not writable" in refused(writable=False)


def test_refuses_extractor_without_add() -> None:
    """What an extractor finds needs a store that takes single facts."""
    assert "no add" in refused(extraction=ExtractionConfig(extractor=Shouting()))


def test_refuses_messages_without_sink() -> None:
    """Without an extractor, a store must take messages."""
    with pytest.raises(ValueError, match="no add_messages"):
        StreambankMemoryManager([Facts(True)])


def test_refuses_writable_without_sink() -> None:
    """A writable store that takes neither messages nor facts is refused, also where it inherits the stubs."""

    with pytest.raises(ValueError, match="neither add nor add_messages"):
        StreambankMemoryManager([Mute()])


def test_store_without_extraction() -> None:
    """A store without an extraction is left alone."""
    store = Batches(extraction=None)
    manager = StreambankMemoryManager([store])
    turn(manager.attach(), 1)
    assert manager.flush_sync() == FlushResult(0, 0)
    assert store.tried == []


def test_attach_error_propagates() -> None:
    """What a trigger raises when it is attached reaches the caller."""

    class Broken(ExtractionTrigger):
        name = "broken"

        def attach(self, context: Any) -> None:
            raise LookupError(self.name)

    with pytest.raises(LookupError):
        StreambankMemoryManager([Batches(extraction={"trigger": Broken()})]).attach()


# ---- when it saves


def test_default_trigger() -> None:
    """Without a trigger, messages are saved after every fifth turn."""
    store = Batches(extraction=True)
    agent = StreambankMemoryManager([store]).attach()
    for number in range(1, 5):
        turn(agent, number)
    assert store.tried == []
    turn(agent, 5)
    until(lambda: store.texts == said(1, 2, 3, 4, 5))


def test_any_trigger_fires() -> None:
    """Of several triggers, any one saves."""
    store = Batches(extraction=ExtractionConfig([IntervalTrigger(2), IntervalTrigger(3)]))
    agent = StreambankMemoryManager([store]).attach()
    for number, saved in [(1, 0), (2, 2), (3, 3), (4, 4), (5, 4), (6, 6)]:
        turn(agent, number)
        until(lambda saved=saved: store.texts == said(*range(1, saved + 1)))  # type: ignore[misc]


def test_custom_trigger() -> None:
    """A trigger of one's own hooks into messages and fires when it likes."""

    class Remember(ExtractionTrigger):
        name = "remember"

        def attach(self, context: Any) -> None:
            context.agent.on_message_added(lambda said: text_of(said).startswith("remember") and context.fire())

    store = Batches(extraction=ExtractionConfig(Remember()))
    agent = StreambankMemoryManager([store]).attach()
    agent.message_added(user("hello"))
    assert store.tried == []
    agent.message_added(user("remember this"))
    until(lambda: store.texts == ["hello", "remember this"])


def test_quick_turns_coalesce() -> None:
    """Turns that end while a save runs are saved together, one save at a time."""
    gate = Gate()
    store = Batches(extraction=EACH_TURN, before=gate)
    manager = StreambankMemoryManager([store])
    agent = manager.attach()
    turn(agent, 1)
    assert gate.reached.wait(10)
    for number in (2, 3, 4):
        turn(agent, number)
    gate.opened.set()
    assert manager.flush_sync().failed == 0
    assert store.tried == [[0, 1], [2, 3, 4, 5, 6, 7]]
    assert store.most_at_once == 1


def test_batches_are_bounded() -> None:
    """A long backlog goes in batches, in order."""
    store = Batches()
    manager = StreambankMemoryManager([store], limits=BufferLimits(most_together=4))
    agent = manager.attach()
    for number in range(5):
        turn(agent, number)
    assert manager.flush_sync() == FlushResult(10, 0)
    assert store.tried == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_stores_are_independent() -> None:
    """A store that hangs or fails holds up no other."""
    gate = Gate()
    stuck, failing, well = Batches("stuck", before=gate), Batches("failing", before=Outage()), Batches("well")
    for store in (stuck, failing, well):
        store.extraction = EACH_TURN
    manager = StreambankMemoryManager([stuck, failing, well])
    turn(manager.attach(), 1)
    until(lambda: well.texts == said(1))
    assert stuck.texts == []
    gate.opened.set()
    result = manager.flush_sync()
    assert (result.failed, list(result.errors)) == (2, ["failing"])
    assert stuck.texts == said(1)


# ---- what it saves


def test_filter_keeps_numbers() -> None:
    """A message that the filter empties is not sent, and the others keep their numbers."""
    store = Batches()
    manager = StreambankMemoryManager([store])
    agent = manager.attach()
    agent.message_added(user("weather?"))
    agent.message_added({"role": "assistant", "content": [{"toolUse": {"toolUseId": "1", "name": "w", "input": {}}}]})
    agent.message_added(assistant("sunny"))
    assert manager.flush_sync() == FlushResult(2, 0)
    assert store.tried == [[0, 2]]


def test_own_filter() -> None:
    """A store's own filter is used instead of the default."""
    store = Batches(extraction={"filter": MemoryMessageFilter(["image"])})
    manager = StreambankMemoryManager([store])
    agent = manager.attach()
    agent.message_added({"role": "user", "content": [{"image": {}}, {"toolResult": {}}]})
    manager.flush_sync()
    assert store.taken == [{"role": "user", "content": [{"toolResult": {}}]}]


def test_only_filtered_messages() -> None:
    """Where the filter leaves nothing, the store is not called and nothing counts."""
    store = Batches()
    manager = StreambankMemoryManager([store])
    manager.attach().message_added({"role": "user", "content": [{"toolResult": {}}]})
    assert manager.flush_sync() == FlushResult(0, 0)
    assert store.tried == []


def test_redaction_is_saved() -> None:
    """A message that is redacted before it is saved is saved redacted."""
    store = Batches()
    manager = StreambankMemoryManager([store])
    message = user("my card is 4711")
    manager.attach().message_added(message)
    message["content"] = [{"text": "[redacted]"}]
    manager.flush_sync()
    assert store.texts == ["[redacted]"]


def test_message_ids_reach_the_store() -> None:
    """A message's own id goes with it: the given one first, then Strands' tracking id, then `id`."""
    store = Batches()
    manager = StreambankMemoryManager([store])
    agent = manager.attach()
    agent.message_added(user("a", tracking_id="t1"), message_id="given")
    agent.message_added(user("b", tracking_id="t2", id="i2"))
    agent.message_added(user("c", id="i3"))
    agent.message_added(user("d", id=4))
    manager.flush_sync()
    (context,) = store.contexts
    assert context.message_ids == ["given", "t2", "i3", None]
    assert (context.run_id, context.sequence_numbers) == (agent.run_id, [0, 1, 2, 3])


# ---- row 5b: two agents


def test_two_agents() -> None:
    """Two agents at one manager have their own runs and numbers, and a flush covers both."""
    store = Batches()
    manager = StreambankMemoryManager([store])
    first, second = manager.attach(), manager.attach()
    turn(first, 1)
    turn(second, 2)
    turn(first, 3)
    assert manager.flush_sync() == FlushResult(6, 0)
    told = {context.run_id: context.sequence_numbers for context in store.contexts}
    assert told == {first.run_id: [0, 1, 2, 3], second.run_id: [0, 1]}
    assert sorted(store.texts) == sorted(said(1, 2, 3))


def test_one_agents_failure() -> None:
    """A batch of one agent that a store never takes holds up no other agent."""

    def poisoned(messages: Any) -> None:
        if any("q1" in text_of(message) for message in messages):
            raise ValueError("poison")

    store = Batches(before=poisoned)
    manager = StreambankMemoryManager([store])
    first, second = manager.attach(), manager.attach()
    turn(first, 1)
    turn(second, 2)
    result = manager.flush_sync()
    assert (result.saved, result.failed, result.lost) == (2, 2, 0)
    assert store.texts == said(2)


# ---- row C: failures


def test_retry_repeats_the_batch() -> None:
    """A batch that failed is tried again as it was, and what was said since comes after it."""
    store = Batches(before=Outage(times=1))
    manager = StreambankMemoryManager([store])
    agent = manager.attach()
    turn(agent, 1)
    assert manager.flush_sync().failed == 2
    turn(agent, 2)
    assert manager.flush_sync() == FlushResult(4, 0)
    assert store.tried == [[0, 1], [0, 1], [2, 3]]
    assert store.texts == said(1, 2)


def test_flush_reports() -> None:
    """A flush raises nothing; it tells how many messages failed and why, also when the store is cancelled."""
    for error in (ConnectionError("down"), asyncio.CancelledError(), SystemExit(1)):
        manager = StreambankMemoryManager([Batches(before=Outage(error))])
        turn(manager.attach(), 1)
        result = manager.flush_sync()
        assert (result.saved, result.failed, result.lost) == (0, 2, 0)
        assert result.errors == {"memory": error}


def test_flush_counts_refused() -> None:
    """What a store refused for good counts as lost, and is not sent again."""

    class Picky(Batches):
        async def add_messages(self, messages: list[Message], context: Any) -> Any:
            await super().add_messages(messages, context)
            return Ingested(sent=1, refused=("x",))

    store = Picky()
    manager = StreambankMemoryManager([store])
    turn(manager.attach(), 1)
    assert manager.flush_sync() == FlushResult(1, 1, lost=1)
    assert manager.flush_sync() == FlushResult(0, 0)
    assert len(store.tried) == 1


def test_failure_is_logged_without_text(caplog: pytest.LogCaptureFixture) -> None:
    """A failed save is a log line with the store's name and the kind of error, and quotes nobody."""
    manager = StreambankMemoryManager([Batches(before=Outage(ConnectionError("q1 said")))])
    turn(manager.attach(), 1)
    manager.flush_sync()
    (record,) = caplog.records
    assert (record.message, record.store, record.error, record.failures) == (  # type: ignore[attr-defined]
        "memory save failed",
        "memory",
        "ConnectionError",
        1,
    )
    assert "q1" not in str(vars(record))


# ---- row E: backoff and the bounded buffer


def test_backoff_by_time() -> None:
    """A store that fails is left alone for a time that doubles with each failure, whatever the number of turns."""
    clock, store = Steps(), Batches(extraction=EACH_TURN, before=Outage())
    manager = StreambankMemoryManager([store], backoff=Backoff(1, 60), clock=clock, jitter=lambda: 1.0)
    agent = manager.attach()
    attempts = []
    for number in range(200):
        turn(agent, number)
        until(lambda: not saving())
        attempts.append(len(store.tried))
        clock.now += 1
    # At 0, then after 1, 2, 4, 8, 16, 32 and 60 s: 0 1 3 7 15 31 63 123 183.
    assert [attempts.index(count) for count in range(1, 10)] == [0, 1, 3, 7, 15, 31, 63, 123, 183]
    assert attempts[-1] == 9
    assert {tuple(batch) for batch in store.tried} == {(0, 1)}


def test_backoff_has_jitter() -> None:
    """The pause is any share of the span, so that clients do not come back together."""
    backoff = Backoff(2, 60)
    assert [backoff.delay_seconds(3, share=share) for share in (0.0, 0.5, 1.0)] == [0.0, 4.0, 8.0]


@given(st.integers(1, 10**6), st.floats(0, 1), st.floats(0, 10**6))
def test_backoff_is_bounded(failures: int, share: float, asked: float) -> None:
    """No number of failures and no wish of a service makes a pause longer than its most."""
    assert 0 <= Backoff(1, 300).delay_seconds(failures, share=share, requested_seconds=asked) <= 300


def test_backoff_takes_retry_after() -> None:
    """A store that says when to come again is not asked before."""
    clock, store = Steps(), Batches(extraction=EACH_TURN, before=Outage(Unavailable("busy", 20), times=1))
    manager = StreambankMemoryManager([store], clock=clock, jitter=lambda: 0.0)
    agent = manager.attach()
    turn(agent, 1)
    until(lambda: not saving())
    assert len(store.tried) == 1
    clock.now = 19
    turn(agent, 2)
    assert not saving()
    assert len(store.tried) == 1
    clock.now = 20
    turn(agent, 3)
    until(lambda: store.texts == said(1, 2, 3))


def test_flush_bypasses_backoff() -> None:
    """A flush tries at once, and its success ends the pause."""
    clock, outage = Steps(), Outage(times=1)
    store = Batches(extraction=EACH_TURN, before=outage)
    manager = StreambankMemoryManager([store], backoff=Backoff(100, 100), clock=clock, jitter=lambda: 1.0)
    agent = manager.attach()
    turn(agent, 1)
    until(lambda: not saving())
    assert len(store.tried) == 1
    assert manager.flush_sync() == FlushResult(2, 0)
    turn(agent, 2)
    until(lambda: store.texts == said(1, 2))


def test_buffer_is_bounded() -> None:
    """A dead store keeps the newest messages up to its limit; what fell out is told once."""
    dead, well = Batches("dead", before=Outage()), Batches("well")
    manager = StreambankMemoryManager([dead, well], limits=BufferLimits(most_waiting=10, most_together=4))
    agent, lost = manager.attach(), 0
    for number in range(20):
        turn(agent, number)
        lost += manager.flush_sync().lost
    assert len(well.texts) == 40
    dead.before = lambda _: None
    turn(agent, 20)
    result = manager.flush_sync()
    # A batch of four went where there was no room for one more.
    assert dead.texts == said(*range(17, 21))
    assert (result.saved, lost + result.lost) == (8 + 2, 34)


def test_buffer_is_bounded_for_all_agents() -> None:
    """A dead store keeps no more of many agents than of one, and keeps nothing of agents that it has nothing of."""
    store = Batches(before=Outage())
    manager = StreambankMemoryManager([store], limits=BufferLimits(most_waiting=10))
    for number in range(50):
        turn(manager.attach(), number)
    result = manager.flush_sync()
    assert (result.failed, result.lost) == (100, 90)
    assert len(store.tried) == 5
    store.before = lambda _: None
    assert manager.flush_sync() == FlushResult(10, 0)
    assert store.texts == said(*range(45, 50))


def test_running_save_is_not_dropped() -> None:
    """What a save is at is kept while it runs, however full the buffer is; what came since goes instead."""
    gate = Gate()
    store = Batches(extraction=EACH_TURN, before=gate)
    manager = StreambankMemoryManager([store], limits=BufferLimits(most_waiting=4))
    agent = manager.attach()
    turn(agent, 1)
    assert gate.reached.wait(10)
    for number in (2, 3, 4):
        turn(agent, number)
    gate.opened.set()
    assert manager.flush_sync().failed == 4
    assert store.texts == said(1, 4)


def test_lost_messages_are_reported() -> None:
    """Messages that fell out of a full buffer are counted by the next flush, and by that alone."""
    store = Batches()
    manager = StreambankMemoryManager([store], limits=BufferLimits(most_waiting=4))
    agent = manager.attach()
    for number in range(5):
        turn(agent, number)
    assert manager.flush_sync() == FlushResult(4, 6, lost=6)
    assert store.texts == said(3, 4)
    assert manager.flush_sync() == FlushResult(0, 0)


@pytest.mark.parametrize("limits", [{"most_waiting": 0}, {"most_together": 0}])
def test_limits_refuse(limits: dict[str, int]) -> None:
    """BufferLimits below one are refused."""
    with pytest.raises(ValueError, match="1 or more"):
        BufferLimits(**limits)


def test_backoff_refuses() -> None:
    """Negative pauses are refused."""
    with pytest.raises(ValueError, match="negative"):
        Backoff(base_seconds=-1)


def test_saved_messages_are_let_go() -> None:
    """What is saved is held no longer, and an agent that is gone leaves nothing behind."""
    import gc
    import weakref

    class Held(dict[str, Any]):
        pass

    store = Batches()
    manager = StreambankMemoryManager([store])
    agent = manager.attach()
    message = Held(user("x"))
    held, attached = weakref.ref(message), weakref.ref(agent)
    agent.message_added(message)
    del message
    manager.flush_sync()
    del agent
    gc.collect()
    assert (held(), attached()) == (None, None)


# ---- row B: extractors


def test_extractor() -> None:
    """With an extractor, what it finds goes to the store one by one, and it gets the agent's model."""
    extractor = Shouting()
    store = Facts(ExtractionConfig(InvocationTrigger(), extractor))
    manager = StreambankMemoryManager([store])
    turn(manager.attach(default_model="model"), 1)
    assert manager.flush_sync().failed == 0
    assert sorted(store.taken) == ["A1", "Q1"]
    assert extractor.contexts[0].default_model == "model"  # type: ignore[union-attr]


def test_failed_add_is_not_extracted_again() -> None:
    """A fact that a store did not take is given to it again, and no other is."""
    extractor = Shouting()
    store = Facts(ExtractionConfig(extractor=extractor), refused={"A1"})
    manager = StreambankMemoryManager([store])
    turn(manager.attach(), 1)
    assert manager.flush_sync().failed == 2
    store.refused.clear()
    assert manager.flush_sync() == FlushResult(2, 0)
    assert store.taken == ["Q1", "A1"]
    assert extractor.calls == [said(1)]


def test_failing_extractor_keeps_batch() -> None:
    """What an extractor raises keeps the batch for the next try."""

    class Once(Shouting):
        async def extract(self, messages: Any, context: Any = None) -> Any:
            found = await super().extract(messages, context)
            if len(self.calls) == 1:
                raise ConnectionError("no model")
            return found

    store = Facts(ExtractionConfig(extractor=Once()))
    manager = StreambankMemoryManager([store])
    turn(manager.attach(), 1)
    assert manager.flush_sync().failed == 2
    assert manager.flush_sync() == FlushResult(2, 0)
    assert sorted(store.taken) == ["A1", "Q1"]


# ---- rows D and I: loops that end, and none


def test_fire_without_loop() -> None:
    """A trigger fires where no event loop runs, and the save happens without a flush."""
    store = Batches(extraction=EACH_TURN)
    turn(StreambankMemoryManager([store]).attach(), 1)
    until(lambda: store.texts == said(1))


def test_loop_per_request() -> None:
    """With one `asyncio.run` for each request and no flush, every turn is saved."""
    gate = Gate()
    store = Batches(extraction=EACH_TURN, before=gate)
    agent = StreambankMemoryManager([store]).attach()

    async def request(number: int) -> None:
        turn(agent, number)

    for number in (1, 2, 3):
        asyncio.run(request(number))
    gate.opened.set()
    until(lambda: store.texts == said(1, 2, 3))


def test_cancelled_flush() -> None:
    """A flush that is cancelled stops waiting; the save and the next flush are as ever."""
    gate = Gate()
    store = Batches(extraction=EACH_TURN, before=gate)
    manager = StreambankMemoryManager([store])
    agent = manager.attach()

    async def request() -> None:
        turn(agent, 1)
        flushing = asyncio.create_task(manager.flush())
        await asyncio.sleep(0)
        flushing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await flushing

    asyncio.run(request())
    gate.opened.set()
    turn(agent, 2)
    assert asyncio.run(manager.flush()).failed == 0
    assert store.texts == said(1, 2)


def test_flush_in_other_loop() -> None:
    """Turns in one loop, a flush in another, a flush without one: nothing belongs to a loop."""
    store = Batches()
    manager = StreambankMemoryManager([store])
    agent = manager.attach()
    turn(agent, 1)
    assert asyncio.run(manager.flush()) == FlushResult(2, 0)
    turn(agent, 2)
    assert manager.flush_sync() == FlushResult(2, 0)
    turn(agent, 3)
    assert asyncio.run(manager.flush()) == FlushResult(2, 0)


def test_flush_times_out() -> None:
    """A flush that takes longer than it may tells what still waits; the save goes on."""
    for flush in (lambda m: m.flush_sync(timeout_seconds=0.01), lambda m: asyncio.run(m.flush(timeout_seconds=0.01))):
        gate = Gate()
        store = Batches(before=gate)
        manager = StreambankMemoryManager([store])
        turn(manager.attach(), 1)
        result = flush(manager)
        assert (result.saved, result.failed, result.lost) == (0, 2, 0)
        assert isinstance(result.errors["memory"], TimeoutError)
        gate.opened.set()
        until(lambda store=store: store.texts == said(1))  # type: ignore[misc]


def test_flush_from_threads() -> None:
    """Agents in many threads lose nothing and repeat nothing, flushed from all of them at once."""
    store = Batches(extraction=ExtractionConfig(IntervalTrigger(3)))
    manager = StreambankMemoryManager([store], limits=BufferLimits(most_together=7))

    def live(first: int) -> None:
        agent = manager.attach()
        for number in range(first, first + 50):
            turn(agent, number)
            if number % 10 == 0:
                manager.flush_sync()

    threads = [threading.Thread(target=live, args=(first,)) for first in range(0, 400, 50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert manager.flush_sync().failed == 0
    assert sorted(store.texts) == sorted(said(*range(400)))
    assert store.most_at_once == 1


PROGRAM = """
import sys, time
from tests.client.strands.talking import Batches, turn
from streambank_client.strands.memory import StreambankMemoryManager
from streambank_client.strands.triggers import InvocationTrigger

class Slow(Batches):
    async def add_messages(self, messages, context):
        time.sleep(0.3)
        await super().add_messages(messages, context)
        print("saved", len(messages), flush=True)

manager = StreambankMemoryManager([Slow(extraction={"trigger": InvocationTrigger()})])
turn(manager.attach(), 1)
"""


def run_program(program: str) -> str:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "shared"), str(ROOT / "client")])}
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False, env=environment
    )
    assert ran.returncode == 0
    return ran.stdout + ran.stderr


def test_interpreter_waits() -> None:
    """A program that ends after a trigger fired ends after its save."""
    assert run_program(PROGRAM) == "saved 2\n"


def test_flush_at_exit() -> None:
    """Where the interpreter starts no thread any more, a flush reports the failure instead of hanging or raising."""
    program = PROGRAM.replace('{"trigger": InvocationTrigger()}', "True")
    program += """
import atexit
def last():
    result = manager.flush_sync(timeout_seconds=5)
    print(result.saved, result.failed, *map(type, result.errors.values()))
atexit.register(last)
"""
    # Python 3.11 still starts one.
    assert run_program(program) in ("saved 2\n2 0\n", "0 2 <class 'RuntimeError'>\nmemory save not begun\n")


# ---- nothing lost, never twice


@given(st.data())
def test_nothing_lost_never_twice(data: st.DataObject) -> None:
    """Whatever fails and whoever flushes, a store that comes back has each message once, in each agent's order."""
    failing = data.draw(st.lists(st.booleans(), max_size=12))

    def flaky(_: Any) -> None:
        if failing and failing.pop(0):
            raise ConnectionError("down")

    store = Batches(extraction=ExtractionConfig(IntervalTrigger(2)), before=flaky)
    limits = BufferLimits(most_together=data.draw(st.integers(1, 5)))
    manager = StreambankMemoryManager([store], limits=limits, backoff=Backoff(0, 0))
    agents = [manager.attach(), manager.attach()]
    for number in range(data.draw(st.integers(0, 12))):
        turn(agents[number % 2], number)
        if data.draw(st.booleans()):
            manager.flush_sync()
    failing.clear()
    assert manager.flush_sync().failed == 0
    for place, agent in enumerate(agents):
        own = [context.sequence_numbers or [] for context in store.contexts if context.run_id == agent.run_id]
        numbers = [number for batch in own for number in batch]
        turns = len([text for text in store.texts if text[0] == "q" and int(text[1:]) % 2 == place])
        assert numbers == list(range(turns * 2))
