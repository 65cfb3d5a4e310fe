"""What the ledger promises of an event, by when it was sent, answered and erased."""

import pytest

from streambank.model.ids import OperationId
from tests.storm.ledger import ErasureCall, EventKey, Ledger, Told

SCOPE = ("default", "u1")


def say(ledger, event_id, bank="default"):
    """Send an event and have it acknowledged."""
    one = EventKey(bank, "s6", event_id)
    ledger.send([one])
    ledger.answer(Told(bank, "s6", (event_id,), OperationId("sid", 1), forced=False))
    return one


def begin(ledger, before=None):
    ledger.erasures.append(ErasureCall(SCOPE, before, ledger.now()))
    return ledger.erasures[-1]


def answer(ledger, call, number):
    call.number, call.answered = number, ledger.now()


def test_an_erasure_takes_what_was_acknowledged_before_it_began():
    """What is older goes, what is sent after the reply stays, and what came meanwhile may do either."""
    ledger = Ledger()
    older, call = say(ledger, "1"), begin(ledger)
    say(ledger, "2")
    answer(ledger, call, 1)
    newer, elsewhere = say(ledger, "3"), EventKey("default", "s1", "4")
    ledger.send([elsewhere])
    ledger.answer(Told("default", "s1", ("4",), OperationId("sid", 1), forced=False))
    assert (ledger.must_go(), ledger.must_stay()) == ({older}, {newer, elsewhere})


def test_a_call_that_joins_an_erasure_takes_nothing_newer():
    """Events that were sent after the first reply stay, although a later call was answered with the same number."""
    ledger = Ledger()
    answer(ledger, begin(ledger), 1)
    newer = say(ledger, "1")
    answer(ledger, begin(ledger, before=1), 1)
    assert (ledger.must_go(), ledger.must_stay()) == (set(), {newer})
    answer(ledger, begin(ledger, before=1), 2)
    assert (ledger.must_go(), ledger.must_stay()) == ({newer}, set())


@pytest.mark.parametrize("is_repeated", [False, True])
def test_an_erasure_without_a_reply_leaves_all_open(is_repeated):
    """Nothing is promised until a call that began after it is answered."""
    ledger = Ledger()
    say(ledger, "1")
    call = begin(ledger)
    call.failed = ledger.now()
    say(ledger, "2")
    assert (ledger.must_go(), ledger.must_stay()) == (set(), set())
    assert ledger.unanswered_erasures() == {SCOPE}
    if is_repeated:
        answer(ledger, begin(ledger, before=1), 1)
        newest = say(ledger, "3")
        assert (ledger.must_go(), ledger.must_stay()) == (set(), {newest})
        assert not ledger.unanswered_erasures()


def test_the_last_pin_that_was_answered_counts():
    """A call without a reply leaves both open, and so do two that were under way at the same time."""
    ledger = Ledger()
    ledger.begin_pin("m", is_pinned=True)
    assert ledger.pins["m"] == {False, True}
    ledger.end_pin("m", ledger.begin_pin("m", is_pinned=True), is_pinned=True)
    assert ledger.pins["m"] == {True}
    outer = ledger.begin_pin("m", is_pinned=True)
    ledger.end_pin("m", ledger.begin_pin("m", is_pinned=False), is_pinned=False)
    ledger.end_pin("m", outer, is_pinned=True)
    assert ledger.pins["m"] == {False, True}


def test_everything_of_a_deleted_bank_goes():
    """From the first try to delete a bank on, nothing of it is promised to stay."""
    ledger = Ledger()
    one, beside = say(ledger, "1", "bank1"), say(ledger, "1")
    ledger.deleted.append("bank1")
    assert (ledger.must_go(), ledger.must_stay()) == ({one}, {beside})
