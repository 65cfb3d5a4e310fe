from dataclasses import replace

import pytest

from streambank.model.ids import OperationId
from streambank.model.operation import NextTrigger, OperationState
from streambank.model.rule import Reason, TriggerRule
from streambank.model.verdict import RecordedVerdict, Verdict
from streambank.model.window import WindowState
from streambank.rules import operations
from tests.rules.building import MINUTE, NOW, STREAM, filled, window

RULE = TriggerRule(event_count=10, idle=5 * MINUTE)


@pytest.mark.parametrize("made", [operations.virtual, lambda sid: operations.expired(sid, 0)])
def test_window_zero_is_always_done(made):
    """A stream that never had an event answers with an operation that is done."""
    shown = made(STREAM.sid)
    assert (str(shown.id), shown.state, shown.state.is_final) == (f"{STREAM.sid}-0", OperationState.DONE, True)


def test_an_expired_window_was_done():
    """A window whose record is gone answers under its own name, as done."""
    assert operations.expired(STREAM.sid, 7).id == OperationId(STREAM.sid, 7)


def test_an_open_window_says_what_it_waits_for():
    """A buffering operation names its window, what is pending, the next timer and how many events would be sooner."""
    shown = operations.buffering(filled(3, rule=RULE, last=NOW + MINUTE, window=4), None)
    assert (shown.id, shown.state, shown.pending_events) == (OperationId(STREAM.sid, 4), OperationState.BUFFERING, 3)
    assert (shown.created, shown.updated, shown.window) == (NOW, NOW + MINUTE, None)
    assert shown.next_trigger == NextTrigger("IDLE_DURATION", NOW + 6 * MINUTE, 7)


def test_the_banks_default_decides_where_the_stream_has_no_rule():
    """nextTrigger follows the rule that holds; the stream's own goes first."""
    assert operations.buffering(filled(1), RULE).next_trigger.kind == "IDLE_DURATION"
    own = filled(1, rule=TriggerRule(event_count=2))
    assert operations.buffering(own, RULE).next_trigger == NextTrigger("ABANDONED", NOW + 24 * 60 * MINUTE, 1)


def test_a_ripe_window_names_why():
    """A window that is about to be sealed says what made it ripe, not its timer."""
    shown = operations.buffering(filled(10, rule=RULE, seal_reason=Reason.EVENT_COUNT), None)
    assert shown.next_trigger == NextTrigger("EVENT_COUNT", NOW)


def test_missing_events_are_never_negative():
    """A window that a part of a call carried over its count misses none."""
    assert operations.buffering(filled(12, rule=RULE), None).next_trigger.remaining_events == 0


def test_tokens_that_would_seal_the_window_are_told():
    """Beside the next timer stands how many tokens would seal the window sooner, and never fewer than none."""
    rule = TriggerRule(token_count=100)
    left = [operations.buffering(filled(1, rule=rule, tokens=n), None).next_trigger for n in (0, 60, 140)]
    assert [(one.remaining_tokens, one.remaining_events) for one in left] == [(100, None), (40, None), (0, None)]


def test_a_time_rule_alone_counts_no_events():
    """Without a count there is no number of events to wait for."""
    assert operations.buffering(filled(1, rule=TriggerRule(idle=MINUTE)), None).next_trigger.remaining_events is None


@pytest.mark.parametrize(
    ("values", "state"),
    [
        ({}, OperationState.SEALED),
        ({"began": NOW}, OperationState.GENERATING),
        ({"failures": 2}, OperationState.RETRYING),
        ({"failures": 2, "began": NOW}, OperationState.GENERATING),
        ({"state": WindowState.DONE, "ended": NOW, "began": NOW}, OperationState.DONE),
        ({"state": WindowState.PARKED, "failures": 5}, OperationState.PARKED),
        ({"state": WindowState.ERASED}, OperationState.ERASED),
    ],
)
def test_the_state_of_a_sealed_window(values, state):
    """What callers see follows from what is stored."""
    assert operations.state_of(window(**values)) is state
    assert operations.sealed(window(**values)).state is state
    assert state.is_final is (values.get("state") is not None)


def test_a_retrying_window_says_when():
    """While a window waits for another try, nextTrigger names the time; otherwise a sealed window waits for nothing."""
    waiting = window(failures=1, due=NOW + MINUTE)
    assert operations.sealed(waiting).next_trigger == NextTrigger("RETRY", NOW + MINUTE)
    assert operations.sealed(replace(waiting, failures=0)).next_trigger is None
    assert operations.sealed(replace(waiting, began=NOW)).next_trigger is None


@pytest.mark.parametrize(
    ("state", "pending"),
    [(WindowState.SEALED, 3), (WindowState.PARKED, 3), (WindowState.DONE, 0), (WindowState.ERASED, 0)],
)
def test_pending_events_are_those_without_an_outcome(state, pending):
    """Events of a parked window still wait; those of a done or erased one do not."""
    assert operations.sealed(window(state=state)).pending_events == pending


def test_the_time_of_the_last_change():
    """An operation is as new as its end, else its beginning, else its seal."""
    began, ended = NOW + MINUTE, NOW + 2 * MINUTE
    changes = [operations.sealed(window(**values)).updated for values in ({}, {"began": began}, {"ended": ended})]
    assert changes == [NOW, began, ended]


def test_a_downstream_operation_is_the_same_window():
    """The generation's operation has the window's own verdicts under a name of its own."""
    verdicts = [RecordedVerdict(0, Verdict.CREATED, "f")]
    shown = operations.sealed(window(number=3), verdicts, downstream=True)
    assert (str(shown.id), shown.verdicts) == (f"{STREAM.sid}-3-g", tuple(verdicts))
