from dataclasses import fields, replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.model.metadata import MergeStrategy
from streambank.model.rule import Reason, TriggerRule, WindowSettings
from streambank.model.stream import Head
from streambank.model.window import WindowState
from streambank.rules import triggers
from streambank.rules.tokens import event_tokens
from streambank.rules.window import add_events, move_past, seal, stored_rule
from tests.rules.building import MINUTE, NOW, STREAM, call, filled, keyed, rules, settings_said, window

TEN = TriggerRule(event_count=10)
EMPTY = Head(STREAM)


def admitted(head, *texts, rule=None, force=False, settings=None, bank_rule=None, now=NOW, is_last_part=True):
    events = [keyed(text) for text in texts]
    said = call(*events, rule=rule, force=force, settings=settings)
    return add_events(head, said, events, bank_rule=bank_rule, now=now, is_last_part=is_last_part)


def true_due(arrivals, anchor, rule):
    """The reference: the earliest of all timers, told from the arrivals themselves."""
    timers = [arrivals[-1] + timedelta(hours=24), arrivals[0] + timedelta(days=30)]
    if rule and rule.idle:
        timers.append(arrivals[-1] + rule.idle)
    if rule and rule.interval:
        timers.append(anchor + rule.interval * (int((arrivals[0] - anchor) / rule.interval) + 1))
    return min(timers)


steps = st.lists(
    st.fixed_dictionaries(
        {
            "count": st.integers(0, 4),
            "rule": st.none() | rules(),
            "force": st.booleans(),
            "is_last_part": st.booleans(),
            "settings": settings_said(),
            "pause": st.timedeltas(timedelta(0), timedelta(days=2)),
        }
    ),
    min_size=1,
    max_size=12,
)


@given(steps=steps, bank_rule=st.none() | rules())
def test_a_head_keeps_its_books(steps, bank_rule):
    """Whatever calls come: numbers add up, the due time is never later than the true one and only moves earlier."""
    head, now, total, arrivals, anchor = EMPTY, NOW, 0, [], None
    for step in steps:
        now += step["pause"]
        rule = triggers.effective_rule(None, head.rule, bank_rule)
        reason = triggers.must_seal_first(head, rule, now=now)
        if reason:
            head, _ = seal(head, reason, rule, now=now)
            arrivals = []
        before = head
        fresh = [keyed(str(number), size=10) for number in range(step["count"])]
        said = call(*fresh, rule=step["rule"], force=step["force"], settings=step["settings"])
        head = add_events(head, said, fresh, bank_rule=bank_rule, now=now, is_last_part=step["is_last_part"])
        total += len(fresh)
        arrivals += [now] * len(fresh)
        anchor = anchor or (arrivals[0] if arrivals else None)
        assert (head.seq, head.count, head.size) == (total, len(arrivals), 10 * len(arrivals))
        assert head.start == head.seq - head.count + 1
        assert head.anchor == anchor
        assert head.settings == before.settings.overridden_by(step["settings"])
        assert before.seal_reason is None or head.seal_reason is before.seal_reason
        assert step["is_last_part"] or head.seal_reason is before.seal_reason
        assert before.due is None or head.due <= before.due
        if arrivals:
            rule = triggers.effective_rule(None, head.rule, bank_rule)
            assert head.due <= triggers.round_up_to_second(true_due(arrivals, anchor, rule))
            assert head.due.microsecond == 0
        else:
            assert head.seal_reason is None


def test_the_first_event_opens_the_window():
    """One event sets both arrivals, the anchor and number 1."""
    head = admitted(EMPTY, "hello", rule=TEN)
    assert (head.seq, head.window, head.start, head.count) == (1, 1, 1, 1)
    assert head.first_arrival == head.last_arrival == head.anchor == NOW
    assert (head.rule, head.seal_reason, head.due) == (TEN, None, NOW + timedelta(hours=24))


def test_a_clock_that_runs_back_takes_no_arrival_back():
    """The last arrival never goes back, so that no timer is lengthened or lost by a skewed clock."""
    head = admitted(filled(1, rule=TEN), "late", now=NOW - MINUTE)
    assert (head.first_arrival, head.last_arrival) == (NOW, NOW)


def test_the_threshold_ripens_the_window_now():
    """The tenth event makes the window seal_reason, and the sweep is told to look at once."""
    almost = admitted(EMPTY, *"123456789", rule=TEN)
    assert almost.seal_reason is None
    seal_reason = admitted(almost, "10", now=NOW + MINUTE)
    assert (seal_reason.seal_reason, seal_reason.due) == (Reason.EVENT_COUNT, NOW + MINUTE)


def test_the_tokens_of_a_window_are_those_of_its_events():
    """The event that brings the texts to the threshold ripens the window; the next window counts from nothing."""
    rule = TriggerRule(token_count=2 * event_tokens(keyed("four words of text").event))
    once = admitted(EMPTY, "four words of text", rule=rule)
    assert (once.seal_reason, once.tokens) == (None, rule.token_count // 2)
    twice = admitted(once, "four words of text", now=NOW + MINUTE)
    assert (twice.seal_reason, twice.due) == (Reason.TOKEN_COUNT, NOW + MINUTE)
    assert seal(twice, Reason.TOKEN_COUNT, rule, now=NOW)[0].tokens == 0


def test_a_batch_that_overshoots_stays_whole():
    """A call that passes the count by far stays in one window."""
    head = admitted(EMPTY, *(str(number) for number in range(25)), rule=TEN)
    assert (head.count, head.window, head.seal_reason) == (25, 1, Reason.EVENT_COUNT)


def test_only_the_last_part_ripens():
    """Parts before the last let the sweep look within a minute instead, in case the last one never comes."""
    part = admitted(EMPTY, *(str(number) for number in range(25)), rule=TEN, is_last_part=False)
    assert (part.seal_reason, part.due) == (None, NOW + timedelta(seconds=60))
    assert triggers.decide(part, TEN, now=NOW) is Reason.EVENT_COUNT
    forced = admitted(EMPTY, "one", force=True, rule=TEN, is_last_part=False)
    assert forced.seal_reason is None


def test_an_empty_last_part_ripens_what_earlier_parts_added():
    """A last part whose events were all known still evaluates the count."""
    part = admitted(EMPTY, *"0123456789", rule=TEN, is_last_part=False)
    assert admitted(part, rule=TEN).seal_reason is Reason.EVENT_COUNT


def test_no_rule_at_all_flushes_at_once():
    """Without a rule of call, stream and bank the first event is generated from at once."""
    assert admitted(EMPTY, "hello").seal_reason is Reason.NO_RULE
    assert admitted(EMPTY, "hello", bank_rule=TEN).seal_reason is None


def test_an_explicit_empty_rule_flushes_and_takes_the_stored_one_off():
    """{} flushes what is pending, overrides the bank's default for this call, and leaves no rule on the stream."""
    head = admitted(filled(3, rule=TEN), rule=TriggerRule(), bank_rule=TEN)
    assert (head.seal_reason, head.rule) == (Reason.NO_RULE, None)


def test_the_banks_default_is_not_copied():
    """A stream without a rule of its own keeps none: the bank may change its mind."""
    assert admitted(EMPTY, "hello", bank_rule=TEN).rule is None


@given(stored=st.none() | rules(), said=st.none() | rules())
def test_what_rule_a_stream_keeps(stored, said):
    """A call without a rule changes none; an empty one removes it; any other is kept as it is."""
    kept = stored_rule(call(rule=said), filled(1, rule=stored))
    assert kept == (stored if said is None else None if said.is_empty else said)


def test_a_call_without_events_evaluates_the_count():
    """A rule that arrives alone and finds enough events makes the window seal_reason at once."""
    head = admitted(filled(5, rule=TEN), rule=TriggerRule(event_count=5), now=NOW + MINUTE)
    assert (head.count, head.seal_reason, head.due) == (5, Reason.EVENT_COUNT, NOW + MINUTE)


def test_force_on_an_empty_window_does_nothing():
    """There is nothing to flush: the head is as it was."""
    assert admitted(EMPTY, force=True) == EMPTY


def test_ripe_outlives_a_longer_rule():
    """A condition that was met is not withdrawn by a later rule (I5)."""
    seal_reason = admitted(filled(9, rule=TEN), "tenth")
    assert admitted(seal_reason, rule=TriggerRule(event_count=500)).seal_reason is Reason.EVENT_COUNT


def test_a_shorter_rule_moves_the_due_time_earlier():
    """A call that only sets an idle time re-arms the pending window."""
    pending = admitted(EMPTY, "hello", rule=TEN)
    assert admitted(pending, rule=TriggerRule(idle=MINUTE)).due == NOW + MINUTE


def test_a_due_time_between_two_seconds_is_rounded_up():
    """The index counts in whole seconds, and nothing is due before its time."""
    now = NOW + timedelta(microseconds=1)
    assert admitted(EMPTY, "hello", rule=TriggerRule(idle=MINUTE), now=now).due == NOW + MINUTE + timedelta(seconds=1)


@given(first=settings_said(), second=settings_said())
def test_the_last_word_on_each_setting_wins(first, second):
    """Each setting keeps its newest explicit value, independently of the others, false and empty ones too."""
    head = admitted(admitted(EMPTY, "a", settings=first, rule=TEN), settings=second)
    for field in fields(WindowSettings):
        newer, older = getattr(second, field.name), getattr(first, field.name)
        assert getattr(head.settings, field.name) == (older if newer is None else newer)


@given(count=st.integers(1, 50), sealed=st.integers(0, 50), rule=st.none() | rules(), said=settings_said())
def test_sealing_closes_one_window_and_opens_the_next(count, sealed, rule, said):
    """The closed window holds exactly the pending events; the next starts after them, empty, without a timer."""
    head = replace(
        filled(count, rule=TEN, settings=said, seal_reason=Reason.FORCE_FLUSH, due=NOW),
        seq=sealed + count,
        start=sealed + 1,
        window=7,
    )
    opened, closed = seal(head, Reason.FORCE_FLUSH, rule, now=NOW + MINUTE)
    assert (closed.number, closed.first_seq, closed.last_seq, closed.count) == (7, sealed + 1, sealed + count, count)
    assert (closed.rule, closed.settings, closed.reason) == (rule, said, Reason.FORCE_FLUSH)
    assert (closed.state, closed.attempt, closed.failures, closed.cursor) == (WindowState.SEALED, 0, 0, 0)
    assert (closed.sealed, closed.last_arrival, closed.due) == (NOW + MINUTE, head.last_arrival, NOW + 3 * MINUTE)
    assert opened == Head(
        STREAM, version=1, seq=sealed + count, window=8, start=sealed + count + 1, anchor=head.anchor, rule=TEN
    )


def test_an_empty_window_is_never_sealed():
    """Sealing nothing is refused, also where everything else says that it is time."""
    with pytest.raises(ValueError, match="empty window"):
        seal(replace(EMPTY, seal_reason=Reason.FORCE_FLUSH), Reason.FORCE_FLUSH, None, now=NOW)


def test_settings_end_with_their_window():
    """What was said for one window does not reach the next."""
    head = filled(1, settings=WindowSettings(merge_strategy=MergeStrategy.MERGE))
    opened, _ = seal(head, Reason.FORCE_FLUSH, None, now=NOW)
    assert opened.settings.is_empty


@given(before=st.integers(0, 9), sealed=st.integers(1, 9), pending=st.integers(-9, 9))
def test_a_head_moves_past_a_window_that_it_did_not_know(before, sealed, pending):
    """Each number belongs to the window or to the next one, which is open; without an event that one has no timer."""
    last = before + sealed
    known = max(before, last + pending)
    head = filled(known - before, seq=known, start=before + 1, window=7, rule=TEN, seal_reason=Reason.FORCE_FLUSH)
    moved = move_past(head, window(number=7, first_seq=before + 1, last_seq=last))
    assert (moved.window, moved.start, moved.seq) == (8, last + 1, max(known, last))
    assert moved.count == max(known - last, 0)
    assert (moved.anchor, moved.rule) == (head.anchor, TEN)
    is_empty = moved.count == 0
    assert (moved.first_arrival, moved.seal_reason) == ((None, None) if is_empty else (NOW, Reason.FORCE_FLUSH))


def test_events_after_an_unknown_window_keep_their_window():
    """Where the head knows the events of the window as done, only the window's number moves on."""
    head = filled(2, seq=5, start=4, window=2)
    moved = move_past(head, window(number=2, first_seq=1, last_seq=2))
    assert (moved.window, moved.start, moved.seq, moved.count) == (3, 4, 5, 2)
