"""Profiles are merged field by field, each by how new its evidence is."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from streambank.model.memory import Memory
from streambank.model.plan import Candidate
from streambank.model.verdict import Verdict
from streambank.rules import profiles

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
said = st.dictionaries(st.sampled_from("abc"), st.integers(0, 3), min_size=1)
statements = st.lists(st.tuples(st.integers(0, 5), said), min_size=1, max_size=6)


def stated(hours, data):
    return Candidate(profiles.to_fact(data), (1,), NOW + timedelta(hours=hours), profile="s")


def told(history):
    """Return the profile after *history*, statement by statement."""
    memory = None
    for hours, data in history:
        one = stated(hours, data)
        step = profiles.plan_step(one, memory)
        if step.verdict is Verdict.CREATED:
            memory = Memory("m", step.text, {}, NOW, NOW, one.at, profile=profiles.new_profile(one))
        elif step.verdict is Verdict.UPDATED:
            memory = replace(memory, fact=step.text, profile=profiles.updated_profile(memory, one))
    return memory


@given(statements)
def test_each_field_has_its_newest_value(history):
    """Whatever order statements come in, older evidence never takes a field from newer; ties go to the later one."""
    newest = {}
    for hours, data in history:
        for name, value in data.items():
            if hours >= newest.get(name, (-1, None))[0]:
                newest[name] = (hours, value)
    assert profiles.parse_data(told(history).fact) == {name: value for name, (_, value) in newest.items()}


def test_older_evidence_is_superseded():
    """A statement whose every field is older, and says something else, changes nothing and says why."""
    step = profiles.plan_step(stated(1, {"a": 1}), told([(2, {"a": 2})]))
    assert (step.verdict, step.reason) == (Verdict.REJECTED, "superseded by newer evidence")
    assert profiles.plan_step(stated(1, {"a": 2}), told([(2, {"a": 2})])).verdict is Verdict.UNCHANGED


def test_an_older_statement_still_fills_an_empty_field():
    """Only the fields that are older give way, and only to what is newer."""
    after = told([(2, {"a": 2}), (1, {"a": 1, "b": 1})])
    assert profiles.parse_data(after.fact) == {"a": 2, "b": 1}


def test_a_profile_has_a_largest_size():
    """A statement that would make a profile larger than 48 KB is refused with its reason, and the profile stays."""
    half = "x" * 30_000
    known = told([(1, {"a": half})])
    step = profiles.plan_step(stated(2, {"b": half}), known)
    assert (step.verdict, step.memory_id, step.reason) == (Verdict.REJECTED, "m", profiles.TOO_LARGE)
    [merged] = profiles.merge_candidates([stated(1, {"a": half}), stated(2, {"b": half})])
    assert (merged.rejected, len(merged.fact)) == (profiles.TOO_LARGE, 8_192)
