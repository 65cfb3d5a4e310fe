"""Consent: what was said while a scope learnt nothing is not learnt, whatever came before and after."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as some

from streambank.model.consent import MAX_PAUSES, Consent, Learning
from streambank.store import codec

START = datetime(2026, 3, 1, tzinfo=UTC)
CHANGES = some.lists(some.sampled_from(list(Learning)), max_size=60)


def after(changes: list[Learning]) -> Consent:
    """Return the consent after one change an hour."""
    consent = Consent()
    for hour, learning in enumerate(changes):
        consent = consent.changed_to(learning, now=START + timedelta(hours=hour))
    return consent


@given(CHANGES)
def test_nothing_that_was_said_in_a_pause_is_learnt(changes: list[Learning]) -> None:
    """Each time at which the setting was DISABLED is forbidden for ever, by few pauses that can be stored."""
    consent = after(changes)
    assert consent.learning is (changes[-1] if changes else Learning.ENABLED)
    assert len(consent.pauses) <= MAX_PAUSES
    for hour, learning in enumerate(changes):
        if learning is Learning.DISABLED:
            assert consent.forbids(START + timedelta(hours=hour, minutes=30))
    assert codec.consent_of({"lrn": codec.consent_text(consent)}) == consent


@given(some.lists(some.sampled_from(list(Learning)), max_size=30))
def test_what_was_said_outside_of_pauses_is_learnt(changes: list[Learning]) -> None:
    """While the pauses are few enough to be told apart, no other time is forbidden."""
    consent = after([*changes, Learning.ENABLED])
    for hour, learning in enumerate(changes):
        if learning is Learning.ENABLED:
            assert not consent.forbids(START + timedelta(hours=hour, minutes=30))
    assert not consent.forbids(None)


def test_the_same_setting_again_changes_nothing() -> None:
    """A repeated no keeps the time of the first one."""
    no = Consent().changed_to(Learning.DISABLED, now=START)
    assert no.changed_to(Learning.DISABLED, now=START + timedelta(hours=1)) is no
    assert no.changed == START
    assert no.forbids(None)


@given(CHANGES, CHANGES)
def test_the_consent_of_two_scopes_forbids_what_one_of_them_forbids(one: list[Learning], other: list[Learning]) -> None:
    """Joined pauses are in order, few, and cover both; where they are few enough nothing else is forbidden."""
    first, second = after(one), after(other)
    joined = first.joined(second)
    assert joined == second.joined(first)
    assert joined.joined(Consent()) == joined
    assert len(joined.pauses) <= MAX_PAUSES
    assert all(earlier.end is not None for earlier in joined.pauses[:-1])
    is_whole = len(first.pauses) + len(second.pauses) <= MAX_PAUSES
    for half_hour in range(2 * 62):
        time = START + timedelta(minutes=30 * half_hour)
        is_forbidden = first.forbids(time) or second.forbids(time)
        assert joined.forbids(time) or not is_forbidden
        assert is_forbidden or not is_whole or not joined.forbids(time)
