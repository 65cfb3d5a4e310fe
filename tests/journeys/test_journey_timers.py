"""Triggers by the clock: each fires when its time has come, not before, and once.

Thirty seconds are left on either side of every deadline, since the service's clock runs while a test does.
"""

from datetime import timedelta

import pytest

from tests.journeys.caller import Caller, moment, said

pytestmark = pytest.mark.usefixtures("rested")

BEES = "I keep bees."


def state(caller: Caller, operation: dict) -> tuple[str, int]:
    """Return an operation's state and how many generations there have been."""
    return caller.get(operation["name"])["metadata"]["state"], caller.generations()


def test_idle_time_fires_after_the_silence_and_once(caller: Caller) -> None:
    """300 seconds without an event fire the window: not after 270, after 330, and never again."""
    before = caller.generations()
    sent = caller.stream().send(said(BEES), rule={"idle_duration": "300s"})
    caller.advance(seconds=270)
    assert state(caller, sent) == ("BUFFERING", before)
    caller.advance(seconds=60)
    assert state(caller, sent) == ("DONE", before + 1)
    caller.advance(hours=26)
    assert caller.generations() == before + 1
    assert caller.get(sent["name"])["metadata"]["trigger"] == "IDLE_DURATION"


def test_later_event_postpones_the_idle_time(caller: Caller) -> None:
    """The silence is counted from the last event; one generation takes all of them."""
    before = caller.generations()
    stream = caller.stream()
    sent = stream.send(said(BEES), rule={"idle_duration": "300s"})
    caller.advance(seconds=270)
    assert stream.send(said("Hm."))["name"] == sent["name"]
    caller.advance(seconds=270)
    assert state(caller, sent) == ("BUFFERING", before)
    caller.advance(seconds=60)
    assert state(caller, sent) == ("DONE", before + 1)
    assert caller.get(sent["name"])["metadata"]["coverage"]["covered"] == 2


def test_interval_ticks_are_anchored_at_the_first_event(caller: Caller) -> None:
    """Windows close on multiples of the interval since the stream's first event, not since their own."""
    before = caller.generations()
    stream = caller.stream()
    first = stream.send(said(BEES), rule={"fixed_interval": "300s"})
    anchor = moment(first["metadata"]["genericMetadata"]["createTime"])
    caller.advance(seconds=270)
    stream.send(said("Hm."))
    assert state(caller, first) == ("BUFFERING", before)
    caller.advance(seconds=60)
    assert state(caller, first) == ("DONE", before + 1)
    second = stream.send(said("Hm."))
    assert second["name"] != first["name"]
    assert moment(second["metadata"]["nextTrigger"]["time"]) == anchor + timedelta(seconds=600)
    caller.advance(seconds=240)
    assert state(caller, second) == ("BUFFERING", before + 1)
    caller.advance(seconds=60)
    assert state(caller, second) == ("DONE", before + 2)


def test_empty_ticks_do_nothing(caller: Caller) -> None:
    """Ticks over an empty window generate nothing, and the ticks after them are where they would have been."""
    stream = caller.stream()
    sent = stream.flush(said(BEES), rule={"fixed_interval": "300s"})
    before = caller.generations()
    caller.advance(seconds=900)
    assert caller.generations() == before
    later = stream.send(said("Hm."))["metadata"]
    wait = moment(later["nextTrigger"]["time"]) - moment(later["genericMetadata"]["createTime"])
    assert timedelta() < wait <= timedelta(seconds=300)
    assert later["window"] == sent["metadata"]["window"] + 1


def test_abandoned_window_fires_a_day_after_its_last_event(caller: Caller) -> None:
    """An event after 23 hours moves the day: the window fires 24 hours after its last event, once."""
    before = caller.generations()
    stream = caller.stream()
    sent = stream.send(said(BEES), rule={"event_count": 5})
    caller.advance(hours=23)
    stream.send(said("Hm."))
    caller.advance(hours=23, minutes=59)
    assert state(caller, sent) == ("BUFFERING", before)
    caller.advance(minutes=2)
    assert state(caller, sent) == ("DONE", before + 1)
    assert caller.get(sent["name"])["metadata"]["trigger"] == "ABANDONED"
    caller.advance(hours=48)
    assert caller.generations() == before + 1


def test_count_fires_before_the_idle_time(caller: Caller) -> None:
    """Under a combined rule the count fires at once, and the idle time then finds nothing."""
    before = caller.generations()
    sent = caller.stream().send(said(BEES), said("Hm."), rule={"event_count": 2, "idle_duration": "300s"})
    caller.settle()
    assert state(caller, sent) == ("DONE", before + 1)
    assert caller.get(sent["name"])["metadata"]["trigger"] == "EVENT_COUNT"
    caller.advance(seconds=330)
    assert caller.generations() == before + 1


def test_tokens_fire_before_the_count(caller: Caller) -> None:
    """A long text seals its window by its tokens, whatever the count says; the reply before tells how many are left."""
    before = caller.generations()
    stream = caller.stream()
    rule = {"event_count": 100, "token_count": 200}
    waiting = stream.send(said("Hm."), rule=rule)["metadata"]["nextTrigger"]
    assert (waiting["remainingEvents"], waiting["remainingTokens"]) == (99, 198)
    sent = stream.send(said(f"{BEES} " + "And so on. " * 50))
    caller.settle()
    assert state(caller, sent) == ("DONE", before + 1)
    assert caller.get(sent["name"])["metadata"]["trigger"] == "TOKEN_COUNT"


def test_idle_time_fires_before_the_count(caller: Caller) -> None:
    """Under a combined rule the idle time fires a window that never reaches the count."""
    before = caller.generations()
    sent = caller.stream().send(said(BEES), rule={"event_count": 2, "idle_duration": "300s"})
    caller.advance(seconds=330)
    assert state(caller, sent) == ("DONE", before + 1)
    assert caller.get(sent["name"])["metadata"]["trigger"] == "IDLE_DURATION"


def test_count_and_interval_fire_whichever_comes_first(caller: Caller) -> None:
    """After a window by count, the interval's tick still fires the next one."""
    before = caller.generations()
    stream = caller.stream()
    stream.send(said(BEES), said("Hm."), rule={"event_count": 2, "fixed_interval": "300s"})
    caller.settle()
    sent = stream.send(said("Hm."))
    assert state(caller, sent) == ("BUFFERING", before + 1)
    caller.advance(seconds=330)
    assert state(caller, sent) == ("DONE", before + 2)
    assert caller.get(sent["name"])["metadata"]["trigger"] == "FIXED_INTERVAL"


def test_duplicates_move_no_timer(caller: Caller) -> None:
    """A call of known events only leaves the silence as old as it was."""
    stream = caller.stream()
    sent = stream.send(said(BEES, "e1"), rule={"idle_duration": "300s"})
    caller.advance(seconds=200)
    again = stream.send(said(BEES, "e1"))
    assert again["metadata"]["nextTrigger"] == sent["metadata"]["nextTrigger"]
    caller.advance(seconds=130)
    assert caller.get(sent["name"])["done"]


def test_condition_withdrawn_before_it_is_met_never_fires(caller: Caller) -> None:
    """A new rule takes the old one's timer away."""
    before = caller.generations()
    stream = caller.stream()
    sent = stream.send(said(BEES), rule={"idle_duration": "300s"})
    caller.advance(seconds=200)
    changed = stream.send(rule={"event_count": 10})
    assert (changed["name"], changed["metadata"]["nextTrigger"]["kind"]) == (sent["name"], "ABANDONED")
    caller.advance(seconds=600)
    assert state(caller, sent) == ("BUFFERING", before)


def test_rule_without_events_arms_a_timer_for_pending_events(caller: Caller) -> None:
    """A call that only sets a rule starts its clock from the events that wait, and adds nothing."""
    before = caller.generations()
    stream = caller.stream()
    sent = stream.send(said(BEES), rule={"event_count": 10})
    caller.advance(seconds=100)
    assert stream.send(rule={"idle_duration": "300s"})["metadata"]["acceptedEvents"] == 0
    caller.advance(seconds=170)
    assert state(caller, sent) == ("BUFFERING", before)
    caller.advance(seconds=60)
    assert state(caller, sent) == ("DONE", before + 1)


def test_lower_count_fires_what_is_pending(caller: Caller) -> None:
    """A rule whose count is met already fires at once."""
    before = caller.generations()
    stream = caller.stream()
    sent = stream.send(said(BEES), said("Hm."), said("Hm."), rule={"event_count": 10})
    stream.send(rule={"event_count": 2})
    caller.settle()
    assert state(caller, sent) == ("DONE", before + 1)
    assert caller.get(sent["name"])["metadata"]["coverage"]["covered"] == 3


@pytest.mark.parametrize(
    "call", [{"rule": {"event_count": 10}}, {"rule": {"idle_duration": "3600s"}}, {"force_flush": True}]
)
def test_what_was_due_stays_due(caller: Caller, call: dict) -> None:
    """Once its idle time has passed a window fires, though nobody has looked yet and the rule is changed by then."""
    before = caller.generations()
    stream = caller.stream()
    sent = stream.send(said(BEES), rule={"idle_duration": "300s"})
    caller.pass_unseen(seconds=330)
    stream.send(**call)
    caller.settle()
    assert state(caller, sent) == ("DONE", before + 1)
    assert caller.get(sent["name"])["metadata"]["trigger"] == "IDLE_DURATION"


def test_late_event_cannot_take_a_passed_silence_back(caller: Caller) -> None:
    """An event that comes after the idle time, but before anybody looked, belongs to the next window."""
    stream = caller.stream()
    first = stream.send(said(BEES), rule={"idle_duration": "300s"})
    caller.pass_unseen(seconds=330)
    second = stream.send(said("Hm."))
    caller.settle()
    assert second["name"] != first["name"]
    assert (second["metadata"]["window"], second["metadata"]["pendingEvents"]) == (2, 1)
    assert caller.get(first["name"])["metadata"]["coverage"]["covered"] == 1


def test_idle_time_above_a_day_is_overtaken(caller: Caller) -> None:
    """An idle time of two days is legal, and the next trigger says that the day comes first."""
    sent = caller.stream().send(said(BEES), rule={"idle_duration": f"{48 * 3600}s"})
    trigger = sent["metadata"]["nextTrigger"]
    arrival = moment(sent["metadata"]["genericMetadata"]["updateTime"])
    assert (trigger["kind"], moment(trigger["time"]) - arrival) == ("ABANDONED", timedelta(hours=24))
    caller.advance(hours=24, seconds=30)
    assert caller.get(sent["name"])["done"]


def test_event_times_move_no_timer(caller: Caller) -> None:
    """Timers count from arrival: an event that happened last year waits for its idle time like any other."""
    sent = caller.stream().send(said(BEES, at="2025-01-01T00:00:00Z"), rule={"idle_duration": "300s"})
    caller.advance(seconds=270)
    assert caller.get(sent["name"])["metadata"]["state"] == "BUFFERING"
    caller.advance(seconds=60)
    assert caller.get(sent["name"])["done"]
