from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.model.rule import Reason, TriggerRule
from streambank.model.stream import Head
from streambank.rules import triggers
from tests.rules.building import MINUTE, NOW, STREAM, filled, instants, minutes, rules

FIVE = TriggerRule(event_count=5)
IDLE = TriggerRule(idle=5 * MINUTE)
FLUSH = TriggerRule()
DAY = timedelta(hours=24)
MICROSECOND = timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("own", "stream", "bank", "holds"),
    [
        (FIVE, IDLE, IDLE, FIVE),
        (None, FIVE, IDLE, FIVE),
        (None, None, FIVE, FIVE),
        (None, None, None, None),
        (FLUSH, FIVE, FIVE, None),
        (None, FLUSH, FIVE, None),
        (None, None, FLUSH, None),
    ],
)
def test_effective_rule_precedence(own, stream, bank, holds):
    """The call's own rule holds, else the stream's, else the bank's, else none; an explicit {} is a rule: none."""
    assert triggers.effective_rule(own, stream, bank) == holds


@given(anchor=instants(), ahead=st.timedeltas(timedelta(0), timedelta(days=400)), interval=minutes(43_200))
def test_next_tick_is_the_first_tick_strictly_after(anchor, ahead, interval):
    """A tick lies on the grid of the anchor, strictly after the instant asked about, and none lies between."""
    after = anchor + ahead
    tick = triggers.next_tick(anchor, after, interval)
    assert (tick - anchor) % interval == timedelta(0)
    assert tick - interval <= after < tick


def test_a_tick_at_the_very_instant_is_the_next_one():
    """An event that arrives at a tick waits for the next one."""
    assert triggers.next_tick(NOW, NOW, MINUTE) == NOW + MINUTE
    assert triggers.next_tick(NOW, NOW + MINUTE, MINUTE) == NOW + 2 * MINUTE


@given(moment=instants())
def test_whole_second_never_rounds_down(moment):
    """A timer is rounded up to a second by less than a second: it never fires early."""
    rounded = triggers.round_up_to_second(moment)
    assert rounded.microsecond == 0
    assert timedelta(0) <= rounded - moment < timedelta(seconds=1)


def test_an_empty_window_has_no_timer():
    """Nothing fires for a window that holds nothing, whatever the rule and however late."""
    empty = Head(STREAM, anchor=NOW, rule=IDLE)
    assert triggers.next_due(empty, IDLE) is None
    assert triggers.decide(empty, IDLE, now=NOW + timedelta(days=99)) is None
    assert triggers.must_seal_first(empty, IDLE, now=NOW + timedelta(days=99)) is None
    assert triggers.immediate_seal_reason(empty, FLUSH, force=True) is None


def test_idle_counts_from_the_last_event():
    """The idle timer runs from the last arrival, not from the first."""
    head = filled(3, last=NOW + 4 * MINUTE)
    assert triggers.next_due(head, IDLE) == triggers.Due(Reason.IDLE_DURATION, NOW + 9 * MINUTE)


def test_ticks_are_anchored_at_the_streams_first_event():
    """A fixed interval keeps the rhythm of the stream's first event, not of the window's."""
    head = filled(1, first=NOW + 61 * MINUTE, anchor=NOW)
    rule = TriggerRule(interval=10 * MINUTE)
    assert triggers.next_due(head, rule) == triggers.Due(Reason.FIXED_INTERVAL, NOW + 70 * MINUTE)


def test_abandoned_events_are_flushed_a_day_after_the_last_one():
    """Without any timer the window goes 24 hours after its last event."""
    head = filled(2, last=NOW + MINUTE)
    assert triggers.next_due(head, FIVE) == triggers.Due(Reason.ABANDONED, NOW + MINUTE + DAY)
    assert triggers.next_due(head, None) == triggers.Due(Reason.ABANDONED, NOW + MINUTE + DAY)


def test_a_window_that_is_kept_awake_ends_after_thirty_days():
    """Events that keep coming cannot hold a window open for more than 30 days."""
    head = filled(9, last=NOW + timedelta(days=29, hours=12))
    assert triggers.next_due(head, FIVE) == triggers.Due(Reason.MAX_AGE, NOW + timedelta(days=30))


@pytest.mark.parametrize("rule", [TriggerRule(idle=25 * 60 * MINUTE), TriggerRule(interval=25 * 60 * MINUTE)])
def test_a_rule_above_a_day_is_overtaken(rule):
    """An idle time or an interval above 24 hours is legal, and the daily flush comes first."""
    assert triggers.next_due(filled(1), rule) == triggers.Due(Reason.ABANDONED, NOW + DAY)


def heads():
    def made(count, first, awake, lead, rule):
        return filled(count, first=first, last=first + awake, anchor=first - lead, rule=rule)

    spans = st.timedeltas(timedelta(0), timedelta(days=31))
    return st.builds(made, st.integers(1, 25), instants(), spans, spans, st.none() | rules())


@given(head=heads(), rule=st.none() | rules())
def test_next_due_is_the_earliest_of_all_timers(head, rule):
    """What is due next is the earliest of idle, the first tick after the first event, 24 hours and 30 days."""
    timers = [head.last_arrival + DAY, head.first_arrival + timedelta(days=30)]
    if rule and rule.idle:
        timers.append(head.last_arrival + rule.idle)
    if rule and rule.interval:
        ticks = (head.first_arrival - head.anchor).total_seconds() // rule.interval.total_seconds()
        timers.append(head.anchor + rule.interval * int(ticks + 1))
    assert triggers.next_due(head, rule).at == min(timers)


@given(head=heads(), rule=rules(), later=st.timedeltas(timedelta(0), timedelta(days=40)))
def test_due_stays_due(head, rule, later):
    """What is due at some instant is due for the same window ever after (I5)."""
    due = triggers.next_due(head, rule)
    assert triggers.timer_fired(head, rule, now=due.at - MICROSECOND) is None
    assert triggers.timer_fired(head, rule, now=due.at + later) is due.reason
    assert triggers.decide(head, rule, now=due.at + later) is not None


@given(head=heads(), rule=rules(), now=instants(), seal_reason=st.sampled_from(Reason))
def test_ripe_is_sticky(head, rule, now, seal_reason):
    """A window that was ripe once is sealed for that reason, whatever the rule says since."""
    head = replace(head, seal_reason=seal_reason)
    assert triggers.decide(head, rule, now=now) is seal_reason
    assert triggers.must_seal_first(head, rule, now=now) is seal_reason


def test_the_count_ripens_at_its_threshold_and_not_before():
    """Four of five events are not enough, five are, and so are six."""
    counts = {count: triggers.immediate_seal_reason(filled(count), FIVE) for count in (4, 5, 6)}
    assert counts == {4: None, 5: Reason.EVENT_COUNT, 6: Reason.EVENT_COUNT}


def test_the_tokens_ripen_at_their_threshold_and_not_before():
    """A window of 99 tokens stays open for a rule of 100, whatever its events; one of 100 is sealed."""
    rule = TriggerRule(token_count=100)
    tokens = {tokens: triggers.immediate_seal_reason(filled(50, tokens=tokens), rule) for tokens in (99, 100, 101)}
    assert tokens == {99: None, 100: Reason.TOKEN_COUNT, 101: Reason.TOKEN_COUNT}
    assert triggers.decide(filled(50, tokens=100), rule, now=NOW) is Reason.TOKEN_COUNT


def test_the_size_ripens_beyond_a_megabyte():
    """A window of exactly 1 MB stays open, one more byte seals it early."""
    assert triggers.immediate_seal_reason(filled(1, size=1_000_000), FIVE) is None
    assert triggers.immediate_seal_reason(filled(1, size=1_000_001), FIVE) is Reason.MAX_SIZE


def test_force_and_the_lack_of_a_rule_ripen_at_once():
    """force_flush says so itself; without a rule one event is enough."""
    assert triggers.immediate_seal_reason(filled(1), FIVE, force=True) is Reason.FORCE_FLUSH
    assert triggers.immediate_seal_reason(filled(1), None, force=True) is Reason.FORCE_FLUSH
    assert triggers.immediate_seal_reason(filled(1), None) is Reason.NO_RULE


def test_a_writing_call_seals_for_time_but_not_for_count():
    """A call in parts may have passed the count without being whole, so only ripe and timers seal before it."""
    full = filled(9)
    assert triggers.must_seal_first(full, FIVE, now=NOW) is None
    assert triggers.decide(full, FIVE, now=NOW) is Reason.EVENT_COUNT
    assert triggers.must_seal_first(full, IDLE, now=NOW + 5 * MINUTE) is Reason.IDLE_DURATION
    assert triggers.must_seal_first(full, IDLE, now=NOW + 5 * MINUTE - MICROSECOND) is None


def test_whichever_comes_first_fires():
    """Count and idle time stand together: either alone fires."""
    both = TriggerRule(event_count=10, idle=5 * MINUTE)
    assert triggers.decide(filled(10), both, now=NOW) is Reason.EVENT_COUNT
    assert triggers.decide(filled(1), both, now=NOW + 5 * MINUTE) is Reason.IDLE_DURATION
    assert triggers.decide(filled(9), both, now=NOW + 5 * MINUTE - MICROSECOND) is None


def test_the_epoch_is_no_special_instant():
    """A head whose first event arrived at the epoch has timers like any other."""
    assert triggers.next_due(filled(1, first=datetime(1970, 1, 1, tzinfo=UTC)), IDLE) is not None
