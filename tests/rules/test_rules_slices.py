"""Slices: they keep the order, fit into a transaction, and are as few as that allows."""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from streambank.model.memory import Change, Memory
from streambank.model.plan import Candidate, PlanStep
from streambank.model.verdict import RecordedVerdict, Verdict
from streambank.rules import slices
from streambank.rules.slices import AppliedStep

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def step(number: int, memory_id: str | None, verdict_bytes: int, change_bytes: int) -> AppliedStep:
    recorded = RecordedVerdict(number, Verdict.CREATED if memory_id else Verdict.UNCHANGED, "f")
    if memory_id is None:
        return AppliedStep((recorded,), (), verdict_bytes)
    memory = Memory(memory_id, "f", {"u": "1"}, NOW, NOW, NOW)
    return AppliedStep((recorded,), (Change(None, memory, None),), verdict_bytes, change_bytes)


def steps():
    parts = st.tuples(
        st.none() | st.sampled_from("abcdefghijklmnopqrstuvwxyz"),
        st.integers(1, 50_000) | st.just(100),
        st.integers(1, 400_000) | st.just(1_000),
    )
    return st.lists(parts, max_size=120).map(lambda rows: [step(n, *row) for n, row in enumerate(rows)])


def fits(run: list[AppliedStep]) -> bool:
    changed = [change.after.id for one in run for change in one.changes]
    return (
        len(run) <= 40
        and len(changed) <= 12
        and len(changed) == len(set(changed))
        and sum(one.verdict_bytes for one in run) < 350_000
        and sum(one.change_bytes for one in run) < 3_500_000
    )


@given(plan=steps())
def test_slices_hold_every_step_once_and_in_order(plan):
    """Slices put together are the steps, none of them is empty, and each fits into a transaction."""
    runs = list(slices.slices(plan))
    assert [one for run in runs for one in run] == plan
    assert all(runs)
    assert all(fits(run) for run in runs)


@given(plan=steps())
def test_a_slice_ends_only_where_it_must(plan):
    """The first step of a slice has no room in the slice before it, up to a margin of bytes."""
    for run, following in pairwise(slices.slices(plan)):
        more = [*run, following[0]]
        heavy = max(sum(one.verdict_bytes for one in more) / 340_000, sum(one.change_bytes for one in more) / 3_000_000)
        assert heavy > 1 or not fits(more)


@given(counts=st.lists(st.integers(1, 60), max_size=6))
def test_the_steps_of_a_candidate_are_divided_without_loss(counts):
    """Each part has at most fifteen steps, the first stays in its place, and together they are the candidate's."""
    candidates = [Candidate(f"fact {number}", (number,), NOW) for number in range(len(counts))]
    plan = [_deletions(number, count) for number, count in enumerate(counts)]
    short, rest = slices.divided(candidates, plan)
    assert len(short) == len(plan)
    assert all(len(one.all) <= 15 for one in [*short, *(one for _, one in rest)])
    for candidate, step, first in zip(candidates, plan, short, strict=True):
        parts = [first, *(one for owner, one in rest if owner is candidate)]
        assert [part.memory_id for one in parts for part in one.all] == [part.memory_id for part in step.all]


def _deletions(number: int, count: int) -> PlanStep:
    first, *others = [PlanStep(Verdict.DELETED, f"{number}-{memory}") for memory in range(count)]
    return replace(first, others=tuple(others))
