from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest

from streambank.model.coverage import Coverage
from streambank.model.extraction import Extraction
from streambank.model.plan import Candidate, Extracted, Plan, PlanStep, Verdict
from streambank.model.usage import Usage
from streambank.model.window import Attempt, WindowState
from streambank.store import keys
from streambank.store.streams import RetentionPolicy
from tests import aws
from tests.store.building import NOW
from tests.storm import weather
from tests.world import event

MINUTE = timedelta(minutes=1)
LATER = NOW + timedelta(days=99)
FOUND = Extracted((Candidate("I like tea", (1,), NOW),), Usage(1, 9), Coverage(1))
PLAN = Plan(0, 0, (PlanStep(Verdict.CREATED, text="I like tea"),), {})


@pytest.fixture
def sealed(world):
    """A sealed window of three events in two batches, and the attempt that it waits for."""
    world.ingest(event("a"), event("b"), rule={"eventCount": 3})
    receipt = world.ingest(event("c"))
    world.deliver()
    window = world.windows.get("default", receipt.operation.id.sid, 1)
    return window, Attempt("default", window.stream.sid, 1, 0)


def again(world, window):
    return world.windows.get("default", window.stream.sid, window.number)


def batch_expiries(world):
    return [item.get("ttl", {}).get("N") for item in aws.dump(world.client) if item["SK"]["S"].startswith("B#")]


def test_the_events_of_a_window(world, sealed):
    """A window holds exactly its own events, in order."""
    window, _ = sealed
    world.ingest(event("next"), rule={"eventCount": 9})
    assert [(found.seq, found.event.parts[0]["text"]) for found in world.windows.events(window)] == [
        (1, "a"),
        (2, "b"),
        (3, "c"),
    ]
    assert world.windows.events(replace(window, first_seq=2, last_seq=1)) == []


def test_carried_events_are_the_last_before_the_window(world, sealed):
    """The overlap reaches back over batches and windows, never into the window itself."""
    window, _ = sealed
    for carried, expected in ((0, []), (1, [3]), (2, [2, 3]), (99, [1, 2, 3])):
        later = replace(window, number=2, first_seq=4, last_seq=5, rule=replace(window.rule, overlap=carried))
        assert [found.seq for found in world.windows.overlap(later)] == expected
    assert world.windows.overlap(replace(window, rule=replace(window.rule, overlap=2))) == []


def test_live_events_are_those_between_two_numbers(world, sealed):
    """Events between two numbers are read whole and in order, wherever batches and windows end, until they expire."""
    window, _ = sealed
    world.ingest(event("next"), rule={"eventCount": 9})
    for first, last in product(range(1, 6), range(6)):
        expected = [number for number in range(1, 5) if first <= number <= last]
        for now, live in ((NOW, expected), (NOW + timedelta(days=500), [])):
            events = world.windows.live_events("default", window.stream.sid, first, last, now=now)
            assert [one.seq for one in events] == live


def test_only_the_present_attempt_may_begin(world, sealed):
    """The fence: an attempt of another number, or at an ended window, finds nothing of its own."""
    window, attempt = sealed
    begun = world.windows.claim(attempt, now=NOW + MINUTE)
    assert begun == replace(window, began=NOW + MINUTE)
    assert world.windows.claim(replace(attempt, attempt=1), now=NOW) is None
    assert world.windows.get_if_current(attempt) == begun
    assert world.windows.get_if_current(replace(attempt, attempt=1)) is None
    assert world.windows.claim(replace(attempt, window=2), now=NOW) is None
    assert world.windows.get_if_current(replace(attempt, window=2)) is None


def test_candidates_are_stored_once_and_for_ever(world, sealed):
    """A twin that comes later finds the first one's candidates, and cannot replace them."""
    _, attempt = sealed
    assert world.plans.extracted(attempt) is None
    assert world.plans.save_extracted(attempt, FOUND, expires=LATER)
    assert not world.plans.save_extracted(attempt, Extracted(()), expires=LATER)
    assert world.plans.extracted(attempt) == FOUND


def test_a_late_attempt_stores_nothing(world, sealed):
    """Neither candidates nor plan of an attempt that was given up reach the table."""
    window, attempt = sealed
    assert world.windows.record_failure(window, failure="X", failures=1, due=NOW + MINUTE, now=NOW)
    before = aws.dump(world.client)
    assert not world.plans.save_extracted(attempt, FOUND, expires=LATER)
    assert not world.plans.save_plan(attempt, PLAN, expires=LATER)
    assert aws.dump(world.client) == before
    assert world.plans.save_extracted(replace(attempt, attempt=1), FOUND, expires=None)


def test_a_plan_replaces_an_older_one(world, sealed):
    """After a conflict the same attempt plans again."""
    _, attempt = sealed
    newer = replace(PLAN, version=5, offered={"m1": "1"})
    assert world.plans.plan(attempt) is None
    assert world.plans.save_plan(attempt, PLAN, expires=LATER)
    assert world.plans.save_plan(attempt, newer, expires=LATER)
    assert world.plans.plan(attempt) == newer


def test_a_failure_is_booked_once(world, sealed):
    """A failure counts attempt and tries, waits for its time, and is not booked twice."""
    window, attempt = sealed
    world.windows.claim(attempt, now=NOW)
    assert world.windows.record_failure(window, failure="FAILED", failures=1, due=NOW + MINUTE, now=NOW)
    assert not world.windows.record_failure(window, failure="FAILED", failures=1, due=NOW + MINUTE, now=NOW)
    found = again(world, window)
    assert (found.state, found.attempt, found.failures, found.failure) == (WindowState.SEALED, 1, 1, "FAILED")
    assert (found.due, found.began, found.is_expiry_suspended) == (NOW + MINUTE, None, True)


def test_a_parked_window_waits_for_nobody(world, sealed):
    """Without a next try a window is parked, and due once more; a redrive makes it pending with new tries, once."""
    window, _ = sealed
    assert world.windows.redrive(window, due=NOW) is None
    world.windows.record_failure(window, failure="FAILED", failures=5, due=None, now=NOW + MINUTE)
    parked = again(world, window)
    assert (parked.state, parked.due, parked.ended) == (WindowState.PARKED, NOW + MINUTE, NOW + MINUTE)
    world.windows.disarm(parked)
    parked = again(world, window)
    assert (parked.state, parked.due, parked.is_expiry_suspended) == (WindowState.PARKED, None, True)
    redriven = world.windows.redrive(parked, due=NOW)
    assert redriven == again(world, window)
    assert (redriven.state, redriven.attempt, redriven.failures) == (WindowState.SEALED, 2, 0)
    assert (redriven.due, redriven.ended) == (NOW, None)
    assert world.windows.redrive(parked, due=NOW) is None


def test_events_whose_expiry_is_suspended_never_expire(world, sealed):
    """Before a window takes longer its events lose their expiry; its end gives it back, a day ahead at least (I6)."""
    window, _ = sealed
    assert None not in batch_expiries(world)
    world.windows.suspend_expiry(window)
    assert batch_expiries(world) == [None, None]
    held = again(world, window)
    assert held.is_expiry_suspended is True
    retention = timedelta(days=45)
    world.windows.restore_expiry(held, now=NOW, retention_policy=RetentionPolicy(retention, retention))
    assert batch_expiries(world) == [str(int((NOW + retention).timestamp()))] * 2
    assert (again(world, window).is_expiry_suspended, again(world, window).due) == (False, None)
    much_later = NOW + timedelta(days=99)
    world.windows.restore_expiry(held, now=much_later, retention_policy=RetentionPolicy(retention, retention))
    assert batch_expiries(world) == [str(int((much_later + timedelta(days=1)).timestamp()))] * 2


def test_expired_events_are_not_made_again(world, sealed):
    """An event that expired between query and update stays away: no item without content appears."""
    window, _ = sealed
    world.table.delete_all([keys.batch("default", window.stream.sid, 1)])
    world.windows._set_expiry(keys.batch("default", window.stream.sid, 1), 7)
    assert world.table.get(keys.batch("default", window.stream.sid, 1)) is None


def test_rearming_is_fenced(world, sealed):
    """The sweep moves the due time of the window that it read, not of a later attempt's."""
    window, _ = sealed
    assert world.windows.rearm(window, NOW + 9 * MINUTE)
    assert again(world, window).due == NOW + 9 * MINUTE
    world.windows.record_failure(window, failure="X", failures=1, due=NOW + MINUTE, now=NOW)
    assert not world.windows.rearm(window, NOW + 99 * MINUTE)
    assert again(world, window).due == NOW + MINUTE


@pytest.fixture
def met(world):
    """The next two writes of each kind meet somebody else's transaction; what is still to come."""
    left = ["TransactWriteItems", "PutItem", "UpdateItem"] * 2

    def refuse(model, **_):
        if model.name in left:
            left.remove(model.name)
            raise weather.met(model.name)

    world.client.meta.events.register("before-call.dynamodb", refuse)
    yield left
    world.client.meta.events.unregister("before-call.dynamodb", refuse)


WRITES = {
    "claim": lambda world, window, attempt: world.windows.claim(attempt, now=NOW),
    "candidates": lambda world, window, attempt: world.plans.save_extracted(attempt, FOUND, expires=LATER),
    "plan": lambda world, window, attempt: world.plans.save_plan(attempt, PLAN, expires=LATER),
    "timer": lambda world, window, attempt: world.windows.rearm(window, LATER),
}


@pytest.mark.parametrize("name", WRITES)
def test_who_meets_a_transaction_is_not_too_late(world, sealed, met, name):
    """Contention decides nothing: what a generation stores, claims or holds is written once the other is through."""
    before = len(met)
    assert WRITES[name](world, *sealed)
    assert len(met) < before


def test_contention_does_not_stop_a_suspension(world, sealed, met):
    """No expiry is left behind because somebody was at the window at that moment (I6)."""
    window, _ = sealed
    assert world.windows.suspend_expiry(window)
    assert met.count("TransactWriteItems") == 0
    assert batch_expiries(world) == [None, None]


def test_an_answer_that_met_a_transaction_is_kept(world, sealed, met):
    """A piece that a model was paid for is there at the next attempt."""
    _, attempt = sealed
    answer = Extraction((), Usage(1, 9))
    world.plans.save_piece(attempt, 0, "digest", answer, expires=LATER)
    assert met.count("TransactWriteItems") == 0
    assert world.plans.piece(attempt, 0, "digest") == answer
