"""How windows, jobs and banks share a sweep, and what a sweep reports."""

from datetime import timedelta

import pytest

from streambank.model.erasure import ErasureTarget
from streambank.model.ids import scope_id
from streambank.pipeline.banks import BankChange, create_bank, delete_bank
from streambank.pipeline.jobs import erase
from streambank.pipeline.sweep import sweep
from tests.world import SCOPE, event


class BusyClock:
    """Moves by a second at each call to the table: time passes as work is done."""

    def __init__(self, world):
        self.world, self.end = world, None
        world.client.meta.events.register("before-call.dynamodb", self._tick)

    def _tick(self, **_):
        self.world.clock.move(seconds=1)

    def stop(self):
        self.world.client.meta.events.unregister("before-call.dynamodb", self._tick)

    def sweep(self, seconds=290):
        """Sweep for as long as a function may."""
        end = self.world.clock() + timedelta(seconds=seconds)
        return sweep(context=self.world.sweeper(), has_time=lambda: self.world.clock() < end)


@pytest.fixture
def busy(world):
    clock = BusyClock(world)
    yield clock
    clock.stop()


def backlog(world, count, bank="default"):
    """Let *count* streams of a bank be due, and stay so: the table refuses to seal them."""
    for number in range(count):
        world.ingest(event("x"), bank=bank, scope={"user_id": f"u{number}"}, rule={"idleDuration": "60s"})


def create(world, *banks):
    for bank in banks:
        create_bank(bank, BankChange(bank), banks=world.banks, now=world.clock())


def test_a_job_ends_beside_a_busy_bank(world, busy):
    """One bank has more to seal than a sweep has time for: another bank's erasure ends in that sweep all the same."""
    create(world, "busy", "quiet")
    world.ingest(event("secret"), bank="quiet", streamId="s")
    backlog(world, 200, "busy")
    erase.erase_scope("quiet", SCOPE, ErasureTarget(), context=world.erasing(lambda: False))
    world.clock.move(minutes=5)
    report = busy.sweep()
    assert not report.is_complete
    assert report.sealed > 20
    assert world.erasures.find("quiet", scope_id(SCOPE)).ended


def test_a_window_is_sealed_beside_a_busy_bank(world, busy):
    """The stream of another bank is due last, and is sealed among the first."""
    create(world, "busy", "quiet")
    backlog(world, 150, "busy")
    receipt = world.ingest(event("x"), bank="quiet", rule={"idleDuration": "120s"})
    world.clock.move(minutes=5)
    busy.sweep(seconds=60)
    assert world.streams.head("quiet", receipt.operation.id.sid).window == 2
    assert not busy.sweep(seconds=10).is_complete


def test_windows_are_sealed_beside_a_long_job(world, busy):
    """An erasure that takes more than a sweep leaves windows their turns."""
    create(world, "gone", "quiet")
    for number in range(60):
        world.ingest(event("x"), bank="gone", scope={"user_id": f"u{number}"}, rule={"eventCount": 9})
    erase.erase_bank("gone", context=world.erasing(lambda: False))
    backlog(world, 40, "quiet")
    world.clock.move(minutes=5)
    report = busy.sweep()
    assert report.sealed == 40
    assert not report.is_complete
    assert not world.erasures.find("gone", "").ended


def test_jobs_take_turns(world, busy):
    """A short job does not wait for the end of a long one that was due before it."""
    create(world, "gone", "quiet")
    for number in range(60):
        world.ingest(event("x"), bank="gone", scope={"user_id": f"u{number}"}, rule={"eventCount": 9})
    world.ingest(event("secret"), bank="quiet", streamId="s")
    erase.erase_bank("gone", context=world.erasing(lambda: False))
    world.clock.move(minutes=5)
    erase.erase_scope("quiet", SCOPE, ErasureTarget(), context=world.erasing(lambda: False))
    world.clock.move(minutes=5)
    busy.sweep()
    assert world.erasures.find("quiet", scope_id(SCOPE)).ended
    assert not world.erasures.find("gone", "").ended


def test_a_sweep_without_a_backlog_gives_all_its_time_to_a_job(world, busy):
    """A job that takes several turns ends in one sweep where nothing else is due."""
    create(world, "gone")
    for number in range(4):
        world.ingest(event("x"), bank="gone", scope={"user_id": f"u{number}"}, rule={"eventCount": 9})
    erase.erase_bank("gone", context=world.erasing(lambda: False))
    world.clock.move(minutes=5)
    report = busy.sweep()
    assert world.erasures.find("gone", "").ended
    assert report.seen > 1
    assert report.is_complete


def test_a_sweep_reports_the_oldest_job(world):
    """How long a job has been due before the sweep came to it; windows do not count."""
    create(world, "gone")
    delete_bank("gone", force=True, banks=world.banks, now=world.clock())
    assert world.sweep().oldest_job_seconds == 0
    world.clock.move(minutes=20)
    report = world.sweep()
    assert 18 * 60 <= report.oldest_job_seconds <= 20 * 60
    assert report.oldest_seconds == 0


def test_a_sweep_reports_the_oldest_pending_window(world):
    """The age of the window whose generation is under way; windows behind it, and ended ones, count nothing."""
    world.ingest(event("a"), forceFlush=True)
    world.deliver()
    sealed = world.clock()
    world.clock.move(hours=5)
    world.ingest(event("b"), forceFlush=True)
    world.deliver()
    world.clock.move(hours=2)
    assert world.sweep().oldest_pending_seconds == (world.clock() - sealed).total_seconds()
    world.run()
    world.clock.move(minutes=3)
    assert world.sweep().oldest_pending_seconds < 3 * 3600
    world.run()
    world.clock.move(minutes=3)
    assert world.sweep().oldest_pending_seconds == 0


def test_a_failing_item_is_reported_and_stops_no_other(world):
    """A fault is a kind and a type; what else is due is handled, and a job that fails gets no second turn."""
    create(world, "gone")
    world.ingest(event("a"), rule={"idleDuration": "60s"})
    delete_bank("gone", force=True, banks=world.banks, now=world.clock())
    world.clock.move(minutes=5)
    world.banks.is_closing = lambda _bank: 1 / 0
    report = world.sweep()
    assert report.faults == ["BANK ZeroDivisionError"]
    assert report.sealed == 1
