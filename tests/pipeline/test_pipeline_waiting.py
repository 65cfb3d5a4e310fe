"""Windows that wait for an earlier one of their stream: what they cost the sweep, and that none is left behind."""

import pytest

from streambank.errors import ModelUnavailable
from streambank.model.erasure import ErasureTarget
from streambank.model.ids import OperationId
from streambank.model.window import WindowState
from streambank.pipeline.generation.redrive import redrive
from streambank.pipeline.generation.start import StartOutcome, start
from streambank.pipeline.jobs import erase
from streambank.pipeline.sweep import LONG_WAIT
from tests import aws
from tests.aws import Killed
from tests.world import SCOPE, event


class Blocked:
    """A model that is out of reach for the window that says so, until it is let through."""

    def __init__(self, model):
        self.model, self.is_blocked = model, True

    def extract(self, request):
        if self.is_blocked and any(turn.text == "blocked" for turn in request.turns):
            raise ModelUnavailable("scripted")
        return self.model.extract(request)


def sealed(world, *texts, stream="s"):
    """Seal one window of a stream for each text; no generation is started. Return the stream's sid."""
    for text in texts:
        receipt = world.ingest(event(text), streamId=stream)
        world.ingest(streamId=stream, forceFlush=True)
    return receipt.operation.id.sid


def window(world, sid, number):
    return world.windows.get("default", sid, number)


@pytest.fixture
def calls(world):
    """The names of the calls to DynamoDB and Step Functions."""
    names = []
    note = lambda model, **_: names.append(model.name)
    world.client.meta.events.register("before-call.dynamodb", note)
    for name in ("start_execution", "describe_execution"):
        setattr(world.executions, name, _counted(getattr(world.executions, name), names))
    yield names
    world.client.meta.events.unregister("before-call.dynamodb", note)


def _counted(call, names):
    def counted(**parameters):
        names.append(call.__name__)
        return call(**parameters)

    return counted


def minutes(world, count):
    """Let the sweep alone work for *count* minutes, with the generations that are under way."""
    for _ in range(count):
        world.clock.move(minutes=1)
        assert not world.sweep().faults
        world.run()


@pytest.fixture
def blocked(world):
    """The sid of a stream whose first window fails, with four windows behind it that wait."""
    world.extractor = Blocked(world.extractor)
    sid = sealed(world, "blocked", "b", "c", "d", "e")
    minutes(world, 4)
    assert [window(world, sid, number).due for number in range(3, 6)] == [
        window(world, sid, number).sealed + LONG_WAIT for number in range(3, 6)
    ]
    return sid


def test_a_blocked_stream_costs_the_sweep_one_item(world, calls):
    """Once they were looked at, windows behind a blocked one cost the sweep nothing."""
    check_cost(world, calls, count=30, most=60)


@pytest.mark.slow
def test_two_thousand_windows_behind_blocked_ones_cost_the_sweep_nothing(world, calls):
    """Two minutes of sweeps over 2,000 windows behind two blocked ones take as many calls as over few."""
    check_cost(world, calls, count=1000, most=60)


def check_cost(world, calls, *, count, most):
    """Two streams with *count* windows behind a blocked one: two minutes of sweeps take at most *most* calls."""
    world.extractor = Blocked(world.extractor)
    for stream in ("s", "t"):
        sealed(world, "blocked", *["x"] * count, stream=stream)
    minutes(world, 4)
    del calls[:]
    minutes(world, 2)
    assert len(calls) < most


def test_no_window_starts_before_the_one_before_it_has_ended(world):
    """A start, from a stream record or the sweep, has no effect out of turn: windows are generated in order."""
    sid = sealed(world, "a", "b")
    world.react(f"S#default#{sid}", "HEAD")
    second = window(world, sid, 2)
    ports = {"windows": world.windows, "executions": world.port}
    assert start(second, **ports) is StartOutcome.WAITING
    world.react(f"S#default#{sid}", "W#000000000002")
    assert world.executions.starts == 0
    world.react(f"S#default#{sid}", "W#000000000001")
    assert start(second, **ports) is StartOutcome.WAITING
    assert world.executions.starts == 1
    world.run()
    assert start(second, **ports) is StartOutcome.STARTED
    assert start(window(world, sid, 1), **ports) is StartOutcome.NOT_PENDING


def test_windows_that_waited_are_generated_by_the_sweep_alone(world, blocked):
    """Without any stream record, each window follows the one before it, in order."""
    world.extractor.is_blocked = False
    minutes(world, 90)
    assert world.facts() == ["b", "blocked", "c", "d", "e"]
    ends = [window(world, blocked, number).ended for number in range(1, 6)]
    assert ends == sorted(ends)
    assert aws.earliest_due(world.client) is None


def test_a_parked_window_lets_the_next_ones_go(world, blocked):
    """Five failures park the window: the next ones are generated, and it is not due any more."""
    minutes(world, 150)
    assert window(world, blocked, 1).state is WindowState.PARKED
    assert world.facts() == ["b", "c", "d", "e"]
    assert aws.earliest_due(world.client) is None
    assert window(world, blocked, 1).is_expiry_suspended


def test_a_redriven_window_lets_the_next_ones_go(world):
    """A window in its backoff waits too, once the one before it is redriven, and goes on after it."""
    world.extractor = Blocked(world.extractor)
    sid = sealed(world, "blocked", "blocked", "c")
    minutes(world, 130)
    first, second = window(world, sid, 1), window(world, sid, 2)
    assert (first.state, second.state) == (WindowState.PARKED, WindowState.SEALED)
    assert second.failures > 0
    redrive("default", OperationId(sid, 1), context=world.redriving)
    world.clock.instant = second.due
    world.sweep()
    assert window(world, sid, 2).due is None
    world.extractor.is_blocked = False
    minutes(world, 90)
    assert {window(world, sid, number).state for number in (1, 2, 3)} == {WindowState.DONE}
    assert aws.earliest_due(world.client) is None


def test_a_window_behind_an_erased_one_goes_on(world, blocked):
    """A window that was sealed after the cut of an erasure, and waits for an erased one, is generated."""

    def kill(model, params, **_):
        if (
            model.name == "TransactWriteItems" and b"#fen" in params["body"]
        ):  # windows are fenced: the stream is cut by then
            raise Killed

    world.client.meta.events.register("before-call.dynamodb", kill)
    with pytest.raises(Killed):
        erase.erase_scope("default", SCOPE, ErasureTarget(), context=world.erasing())
    world.client.meta.events.unregister("before-call.dynamodb", kill)
    sealed(world, "later")
    world.react(f"S#default#{blocked}", "HEAD")
    assert world.windows.wait(window(world, blocked, 6), None)
    minutes(world, 10)
    assert window(world, blocked, 5).state is WindowState.ERASED
    assert world.facts() == ["later"]
    assert aws.earliest_due(world.client) is None


def test_a_completion_that_meets_a_waiting_window_is_made_again(world):
    """The next window begins to wait between the read and the write of a commit: the end makes it due all the same."""
    sid = sealed(world, "a", "b")
    world.clock.move(minutes=3)
    world.sweep()
    commit_slice, read = world.memories.commit_slice, []

    def meanwhile(*arguments, **more):
        if not read:
            read.append(world.windows.wait(window(world, sid, 2), None))
        return commit_slice(*arguments, **more)

    world.memories.commit_slice = meanwhile
    world.run()
    assert read == [True]
    assert window(world, sid, 1).state is WindowState.DONE
    assert window(world, sid, 2).due == world.clock()


def test_events_of_a_window_that_waits_for_days_never_expire(world):
    """After seven days a pending window's events lose their expiry, whether it runs or waits, until it is done (I6)."""
    sid = sealed(world, "runs", "waits")
    world.clock.move(minutes=3)
    world.sweep()
    assert None not in expiries(world)
    world.clock.move(days=6, hours=23)
    world.sweep()
    assert None not in expiries(world)
    world.clock.move(hours=2)
    world.sweep()
    assert expiries(world) == [None, None]
    assert [window(world, sid, number).is_suspension_complete for number in (1, 2)] == [True, True]
    assert window(world, sid, 2).due is None
    minutes(world, 5)
    assert world.facts() == ["runs", "waits"]
    assert None not in expiries(world)


def expiries(world):
    return [item.get("ttl", {}).get("N") for item in aws.dump(world.client) if item["SK"]["S"].startswith("B#")]
