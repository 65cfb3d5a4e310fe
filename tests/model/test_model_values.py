import dataclasses
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank import errors
from streambank.model.event import Event, StoredEvent
from streambank.model.memory import Memory, Revision
from streambank.model.metadata import MergeStrategy
from streambank.model.operation import OperationState
from streambank.model.plan import Plan
from streambank.model.rule import TriggerRule, WindowSettings
from tests.rules.building import NOW, SCOPE, memory, settings_said, window

SECOND = timedelta(seconds=1)


def test_values_cannot_be_changed():
    """Nouns are frozen: what was read stays as it was read."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        memory().fact = "other"


# ---- events

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
parts = st.lists(st.dictionaries(st.text(max_size=5), json_values, max_size=3), max_size=3).map(tuple)


@given(parts=parts, name=st.none() | st.text(max_size=5), role=st.sampled_from(["user", "model"]))
def test_a_fingerprint_is_of_role_and_parts(parts, name, role):
    """Id and time do not change it, the other role does: a repeat may come at another time."""
    event = Event(role, parts, name, NOW)
    assert event.fingerprint() == Event(role, parts, "other", None).fingerprint()
    assert event.fingerprint() != Event("model" if role == "user" else "user", parts).fingerprint()
    assert event.fingerprint() != Event(role, (*parts, {}), name, NOW).fingerprint()
    assert len(event.fingerprint()) == 12


def test_the_order_of_a_parts_keys_is_no_content():
    """The same object spelled in another order is no conflict."""
    assert Event("user", ({"a": 1, "b": 2},)).fingerprint() == Event("user", ({"b": 2, "a": 1},)).fingerprint()


@given(times=st.lists(st.none() | st.integers(-99, 99), min_size=1, max_size=9))
def test_events_are_ordered_by_their_own_time_else_by_arrival(times):
    """An event's own time counts, whatever offset it is written in; ties go by arrival (I7)."""
    zone = timezone(timedelta(hours=-5))
    events = [
        StoredEvent(Event("user", (), None, None if at is None else (NOW + at * SECOND).astimezone(zone)), seq, NOW)
        for seq, at in enumerate(times, 1)
    ]
    ordered = sorted(events, key=StoredEvent.order)
    assert [event.seq for event in ordered] == [
        seq for _, seq in sorted(((at or 0), n) for n, at in enumerate(times, 1))
    ]


# ---- settings


@given(first=settings_said(), second=settings_said(), third=settings_said())
def test_overlaying_settings(first, second, third):
    """Saying nothing changes nothing, the last word wins, and grouping does not matter."""
    silent = WindowSettings()
    assert first.overridden_by(silent) == silent.overridden_by(first) == first
    assert first.overridden_by(second).overridden_by(third) == first.overridden_by(second.overridden_by(third))
    assert first.is_empty is (first == silent)


def test_false_and_empty_are_words_too():
    """An explicit false or empty map replaces what was said before."""
    before = WindowSettings({"a": "b"}, None, True, {"k": 1.0}, MergeStrategy.MERGE)
    after = before.overridden_by(WindowSettings(revision_labels={}, disable_revisions=False, metadata={}))
    assert (after.revision_labels, after.disable_revisions, after.metadata) == ({}, False, {})
    assert after.merge_strategy is MergeStrategy.MERGE


@pytest.mark.parametrize(
    ("rule", "is_empty"),
    [
        (TriggerRule(), True),
        (TriggerRule(overlap=2), True),
        (TriggerRule(1), False),
        (TriggerRule(None, SECOND), False),
        (TriggerRule(None, None, SECOND), False),
    ],
)
def test_which_rules_are_empty(rule, is_empty):
    """A rule without a condition is empty, with an overlap too."""
    assert rule.is_empty is is_empty


# ---- memories


@pytest.mark.parametrize(
    ("values", "is_live"),
    [({}, True), ({"expires": NOW}, False), ({"expires": NOW + SECOND}, True), ({"deleted": NOW}, False)],
)
def test_a_memory_ends_at_its_time(values, is_live):
    """A deleted memory, or one whose time has come, is gone at once (I9)."""
    assert memory(**values).is_live(NOW) is is_live


@pytest.mark.parametrize(("expires", "is_live"), [(None, True), (NOW, False), (NOW + SECOND, True)])
def test_a_revision_ends_at_its_time(expires, is_live):
    """A revision is gone at the very second of its expiry."""
    assert Revision("m", 1, "f", NOW, expires).is_live(NOW) is is_live


def test_a_mark_changes_with_what_a_decision_rests_on():
    """A new revision or newer evidence makes another fingerprint; nothing else does."""
    fingerprints = {memory().fingerprint, memory(revision=2).fingerprint, memory(as_of=NOW + SECOND).fingerprint}
    assert len(fingerprints) == 3
    assert memory(vector=b"x", display_name="d").fingerprint == memory().fingerprint


def test_a_plan_knows_the_version_at_each_step():
    """Each committed candidate counts the scope's version up by one."""
    plan = Plan(version=7, start=2, steps=(), offered={})
    assert [plan.version_at(cursor) for cursor in (2, 3, 6)] == [7, 8, 11]


def test_windows_count_their_events():
    """First and last number are both inside; a window of no events has none."""
    assert window(first_seq=4, last_seq=4).count == 1
    assert window(first_seq=1, last_seq=0).count == 0


def test_final_states():
    """Parked, erased and done are ends; everything else goes on by itself."""
    assert {state for state in OperationState if state.is_final} == {"PARKED", "ERASED", "DONE"}


def test_memories_need_their_times():
    """A memory without its evidence's time cannot be made."""
    with pytest.raises(TypeError):
        Memory("m", "f", SCOPE, datetime(2026, 1, 1, tzinfo=UTC), NOW)


# ---- errors


def drawn():
    tree = {}
    for line in errors.__doc__.splitlines():
        stem = line.lstrip("│├└─ ")
        if stem and stem.split()[0].isidentifier() and hasattr(errors, stem.split()[0]):
            tree[stem.split()[0]] = (len(line) - len(stem)) // 4
    return tree


def test_the_tree_is_drawn_as_it_is():
    """The drawing on top of errors.py shows every error at its depth."""
    kinds = {
        name: kind
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.StreambankError)
    }
    depths = {name: len(kind.__mro__) - len(errors.StreambankError.__mro__) for name, kind in kinds.items()}
    assert drawn() == depths


def test_a_conflict_knows_which_condition_failed():
    """Only an action whose condition failed counts, not one that merely met another transaction."""
    conflict = errors.Conflict(("None", "ConditionalCheckFailed", "TransactionConflict"))
    assert [conflict.failed(action) for action in range(4)] == [False, True, False, False]


def test_an_invalid_argument_names_its_field():
    """The message begins with the path; without one it stands alone."""
    assert str(errors.InvalidArgument("scope.a", "is bad")) == "scope.a: is bad"
    assert str(errors.InvalidArgument("", "is bad")) == "is bad"
