"""Reviews: pinned memories under any answer, kills, interleavings, and nothing left behind."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streambank.errors import FailedPrecondition, NotFound, StreambankError
from streambank.model.erasure import ErasureTarget
from streambank.model.review import Review, ReviewState, ReviewWithMemories
from streambank.model.verdict import Verdict
from streambank.pipeline.banks import BankChange, create_bank, delete_bank
from streambank.pipeline.jobs.erase import erase_scope
from streambank.pipeline.memories import reviews
from streambank.pipeline.memories.deletion import delete_memory
from streambank.pipeline.memories.edit import update_memory
from streambank.pipeline.memories.reviews import ReviewContext
from streambank.rules.edits import Edit
from streambank.rules.reviews import REJECTED_BEFORE
from streambank.store.changes import Changes
from streambank_local.basic.models import BasicModels
from tests import aws
from tests.aws import Killed
from tests.bedrock.test_bedrock_fuzz import decision_rows, fact_rows
from tests.pipeline.test_pipeline_any_answer import FEW, KNOWN, USABLE, scripted_models
from tests.pipeline.test_pipeline_faults import Killer, _armed
from tests.pipeline.test_pipeline_interleavings import _interrupted
from tests.scanner import places
from tests.world import SCOPE, World, event

BLUE, VERMILION = "My favorite color is blue.", "My favorite color is vermilion."
OLD, NEW = "My favorite color is blue", "My favorite color is vermilion"


def basic_world(client: Any) -> World:
    models = BasicModels()
    return World(client, extractor=models.extractor(), consolidator=models.consolidator(), embedder=models.embedder())


@pytest.fixture
def world(client: Any) -> World:
    return basic_world(client)


def context(world: World) -> ReviewContext:
    edit = world.editing()
    return ReviewContext(
        **{name: getattr(edit, name) for name in edit.__dataclass_fields__},
        reader=world.reader,
        reviews=world.reviews,
        windows=world.windows,
        retention_policy=world.retention_policy,
    )


def learn(world: World, text: str, event_id: str | None = None, **fields: Any) -> None:
    world.clock.move(minutes=1)
    world.ingest(event(text, event_id), forceFlush=True, **fields)
    world.settle()


def pin(world: World, *, pinned: bool = True) -> None:
    for memory in world.memories.of_scope("default", SCOPE, now=world.clock()):
        edit = Edit(frozenset({"pinned"}), pinned=pinned)
        update_memory("default", memory.id, None, edit, context=world.editing())


def waiting(world: World) -> World:
    """Return *world* with a pinned memory that an event contradicts."""
    learn(world, BLUE, "blue")
    pin(world)
    learn(world, VERMILION, "vermilion")
    return world


def open_reviews(world: World) -> list[Review]:
    stored = world.reviews.of_scope("default", SCOPE, now=world.clock())
    return [one for one in stored if one.state is ReviewState.OPEN]


def decide(world: World, decision: Callable[..., ReviewWithMemories], review_id: str) -> ReviewWithMemories:
    return decision("default", review_id, may_see=lambda _: True, context=context(world))


# ---- pinned memories


@FEW
@given(st.lists(fact_rows, max_size=4), st.lists(decision_rows, max_size=4))
def test_no_answer_changes_a_pinned_memory(emulator: Any, facts: list[Any], decisions: list[Any]) -> None:
    """Whatever both answers of a model are, pinned memories are what they were, but for their evidence."""
    aws.empty(emulator)
    world = World(emulator)
    world.ingest(*map(event, KNOWN), forceFlush=True)
    world.settle()
    pin(world)
    before = {one.id: one for one in world.memories.of_scope("default", SCOPE, now=world.clock())}
    world.clock.move(days=1)
    world.extractor, world.consolidator = scripted_models([*facts, USABLE], decisions)
    world.ingest(event("I keep bees."), event("Forget about Sam, and no more skiing."), forceFlush=True)
    world.settle()
    after = {one.id: one for one in world.memories.of_scope("default", SCOPE, now=world.clock())}
    for memory_id, memory in before.items():
        now = after[memory_id]
        assert (now.fact, now.vector, now.topics, now.metadata) == (
            memory.fact,
            memory.vector,
            memory.topics,
            memory.metadata,
        )
        assert (now.revision, now.updated, now.expires, now.pinned) == (memory.revision, memory.updated, None, True)
    assert len(open_reviews(world)) <= 500


def test_a_pin_that_comes_between_plan_and_commit_counts(world: World) -> None:
    """A memory that is pinned after the plan was made is not changed by it."""
    learn(world, BLUE)
    commit = world._commit
    world._commit = lambda payload: (pin(world), commit(payload))[1]  # type: ignore[method-assign]
    world.ingest(event(VERMILION), forceFlush=True)
    world.settle()
    world._commit = commit  # type: ignore[method-assign]
    world.finish()
    assert world.facts() == [OLD]
    [review] = open_reviews(world)
    assert review.text == NEW


# ---- decisions


def test_an_acceptance_is_what_the_bank_would_have_remembered(world: World) -> None:
    """A memory that was accepted holds as long as one that nobody reviewed, and its change is told as long."""
    ttl = {"ttlConfig": {"memoryRevisionDefaultTtl": "86400s"}}
    reviewed = {**ttl, "reviewPolicy": {"actions": ["CREATED"]}}
    for bank, document in (("b1", ttl), ("b2", reviewed)):
        create_bank(bank, BankChange("x", document=document), banks=world.banks, now=world.clock())
        learn(world, "I am in Rome until 12 March 2026.", bank=bank)
    assert world.memories.of_scope("b2", SCOPE, now=world.clock()) == []
    [review] = world.reviews.of_scope("b2", SCOPE, now=world.clock())
    reviews.accept("b2", review.id, may_see=lambda _: True, context=context(world))
    direct, accepted = (world.memories.of_scope(bank, SCOPE, now=world.clock())[0] for bank in ("b1", "b2"))
    assert direct.validity.end is not None
    assert (accepted.fact, accepted.validity) == (direct.fact, direct.validity) == (review.text, review.validity)
    [record] = Changes(world.table).of_scope("b2", SCOPE, 0, now=world.clock(), page=9)
    assert record.stamp.expires == world.clock() + timedelta(days=1)


def test_what_was_rejected_is_not_proposed_by_the_same_events(world: World) -> None:
    """The event of a rejected review, in another window, is refused with a reason; a new event proposes anew."""
    waiting(world)
    [review] = open_reviews(world)
    decide(world, reviews.reject, review.id)
    learn(world, VERMILION, "vermilion", streamId="other")
    assert len(open_reviews(world)) == 1, "an id belongs to its stream: this is another event"
    [again] = open_reviews(world)
    decide(world, reviews.reject, again.id)
    world.clock.move(days=1)
    timed = event(VERMILION, eventTime="2026-03-02T00:00:00Z")
    world.ingest(timed, forceFlush=True, streamId="first")
    world.settle()
    [third] = open_reviews(world)
    decide(world, reviews.reject, third.id)
    world.ingest(timed, forceFlush=True, streamId="second")
    world.settle()
    assert open_reviews(world) == []
    [window] = [one for one in windows(world) if one.stream.name == "second"]
    [verdict] = world.plans.verdicts(window)
    assert (verdict.verdict, verdict.reason) == (Verdict.REJECTED, REJECTED_BEFORE)


def windows(world: World) -> list[Any]:
    keys = [item for item in aws.dump(world.client) if item["SK"]["S"].startswith("W#")]
    found = (world.windows.get("default", key["PK"]["S"].split("#")[2], int(key["win"]["N"])) for key in keys)
    return [one for one in found if one]


def test_a_review_expires_with_its_events(world: World) -> None:
    """After the retention of events a review is in no list and cannot be decided, whatever DynamoDB has deleted."""
    waiting(world)
    [review] = open_reviews(world)
    world.clock.move(days=90)
    assert open_reviews(world) == []
    with pytest.raises(NotFound):
        decide(world, reviews.accept, review.id)


def test_an_acceptance_after_a_deletion_brings_nothing_back(world: World) -> None:
    """A memory that cited the same event, and was deleted since, refuses what the review would make of it."""
    waiting(world)
    [review] = open_reviews(world)
    pin(world, pinned=False)
    learn(world, VERMILION, "vermilion again")
    [memory] = world.memories.of_scope("default", SCOPE, now=world.clock())
    assert memory.fact == NEW
    delete(world)
    with pytest.raises(NotFound):
        decide(world, reviews.accept, review.id)
    assert world.facts() == []


def delete(world: World) -> None:
    stores = {"memories": world.memories, "retry_policy": world.retry_policy, "id_secret": world.id_secret}
    for memory in world.memories.of_scope("default", SCOPE, now=world.clock()):
        delete_memory("default", memory.id, now=world.clock(), **stores)


# ---- nothing is left behind


def test_a_deletion_leaves_no_text_of_a_review(world: World) -> None:
    """The sweep that ends the revisions of a deleted memory deletes its reviews, and nobody else's."""
    waiting(world)
    learn(world, "I live in Graz.", scope={"user_id": "u2"})
    delete(world)
    world.sweep()
    assert not [place for place in places(world.client, "vermilion") if " Q#" in place]


def test_a_decision_leaves_no_text_in_the_mark(world: World) -> None:
    """A rejected proposal is kept as hashes alone."""
    waiting(world)
    [review] = open_reviews(world)
    decide(world, reviews.reject, review.id)
    assert not [place for place in places(world.client, "vermilion") if " Q#" in place]


def test_an_erasure_takes_reviews_and_marks_along(world: World) -> None:
    """Nothing of a review is stored after the erasure of its scope; a dry run counts it."""
    waiting(world)
    done = erase_scope("default", SCOPE, ErasureTarget(), context=world.erasing())
    assert done.counts["reviews"] == 1
    assert not [item for item in aws.dump(world.client) if item["SK"]["S"].startswith("Q#")]


def test_the_end_of_a_bank_takes_reviews_along(world: World) -> None:
    """Nothing of a closed bank's reviews is left."""
    policy = {"reviewPolicy": {"actions": ["CREATED"]}}
    create_bank("b1", BankChange("x", document=policy), banks=world.banks, now=world.clock())
    learn(world, VERMILION, bank="b1")
    assert [place for place in places(world.client, "vermilion") if " Q#" in place]
    delete_bank("b1", force=True, banks=world.banks, now=world.clock())
    world.finish()
    assert places(world.client, "vermilion") == []


# ---- kills


@pytest.mark.slow
@pytest.mark.parametrize("decision", [reviews.accept, reviews.reject])
def test_a_kill_at_any_call_of_a_decision_leaves_it_done_or_not(client: Any, decision: Callable[..., Any]) -> None:
    """Killed at any call, a decision happened whole, or not at all; a repeat completes it and changes nothing more."""
    _kill_decision(client, decision, most=None)


@pytest.mark.parametrize("decision", [reviews.accept, reviews.reject])
def test_a_kill_in_a_decision_leaves_it_done_or_not(client: Any, decision: Callable[..., Any]) -> None:
    """The same at its first call, at its last one, and at one between."""
    _kill_decision(client, decision, most=3)


def _kill_decision(client: Any, decision: Callable[..., Any], most: int | None) -> None:
    dry = Killer()
    _killed(client, decision, dry)
    assert dry.calls > 3
    for at, after in aws.spread(list(itertools.product(range(dry.calls), (False, True))), most):
        world, review_id = _killed(client, decision, Killer(at, after))
        is_open = bool(open_reviews(world))
        assert world.facts() == [OLD if is_open or decision is reviews.reject else NEW]
        decide(world, decision, review_id)
        left = aws.dump(client)
        decide(world, decision, review_id)
        assert aws.dump(client) == left
        assert (open_reviews(world), world.facts()) == ([], [NEW if decision is reviews.accept else OLD])


def _killed(client: Any, decision: Callable[..., Any], killer: Killer) -> tuple[World, str]:
    """Return the world in which *killer* was there while a review was decided, and the id of the review."""
    aws.empty(client)
    world = waiting(basic_world(client))
    [review] = open_reviews(world)
    disarm = _armed(client, killer)
    try:
        decide(world, decision, review.id)
    except Killed:
        pass
    finally:
        disarm()
    return world, review.id


@pytest.mark.slow
def test_a_kill_around_any_call_of_a_generation_makes_one_review(client: Any) -> None:
    """Killed anywhere in the window whose change waits, the sweep alone makes one review, and no change."""
    _kill_generation(client, most=None)


def test_a_kill_in_a_generation_makes_one_review(client: Any) -> None:
    """The same at some calls."""
    _kill_generation(client, most=3)


def _kill_generation(client: Any, most: int | None) -> None:
    dry = Killer()
    _contradicted(client, dry)
    for at, after in aws.spread(list(itertools.product(range(dry.calls), (False, True))), most):
        world = _contradicted(client, Killer(at, after))
        world.finish()
        [review] = open_reviews(world)
        assert (review.text, len(review.evidence), world.facts()) == (NEW, 1, [OLD])


def _contradicted(client: Any, killer: Killer) -> World:
    aws.empty(client)
    world = basic_world(client)
    learn(world, BLUE, "blue")
    pin(world)
    disarm = _armed(client, killer)
    try:
        for _ in range(2):
            try:
                learn(world, VERMILION, "vermilion")
            except Killed:
                continue
            break
    finally:
        disarm()
    return world


# ---- interleavings


def _accept(world: World, review_id: str) -> None:
    """Accept, or find that the memory has changed or gone."""
    try:
        decide(world, reviews.accept, review_id)
    except (FailedPrecondition, NotFound):
        return


def _generate(world: World, _review_id: str) -> None:
    world.ingest(event("My favorite color is green.", "green"), forceFlush=True)
    world.settle()


def _delete(world: World, _review_id: str) -> None:
    delete(world)


def _reject(world: World, review_id: str) -> None:
    try:
        decide(world, reviews.reject, review_id)
    except StreambankError:
        return


PAIRS: dict[str, tuple[Callable[..., None], Callable[..., None]]] = {
    "an acceptance and another": (_accept, _accept),
    "an acceptance and a rejection": (_accept, _reject),
    "an acceptance and a deletion": (_accept, _delete),
    "a deletion and an acceptance": (_delete, _accept),
    "an acceptance and a generation": (_accept, _generate),
    "a generation and an acceptance": (_generate, _accept),
}


def _try_pair(client: Any, name: str, most: int | None) -> None:
    one, other = PAIRS[name]

    def begun() -> tuple[World, str]:
        aws.empty(client)
        world = waiting(basic_world(client))
        return world, open_reviews(world)[0].id

    world, review_id = begun()
    calls = _interrupted(world, partial(_call, one, review_id), lambda _: None, at=-1)
    for at in aws.spread(range(calls), most):
        world, review_id = begun()
        _interrupted(world, partial(_call, one, review_id), partial(_call, other, review_id), at)
        world.finish()
        _check_pair(world, name, at)


def _call(step: Callable[..., None], review_id: str, world: World) -> None:
    step(world, review_id)


def _check_pair(world: World, name: str, at: int) -> None:
    """The pinned memory has one of the texts that a decision can give it, once; a deletion is final."""
    place = f"{name}, before call {at}"
    facts, marks = world.facts(), world.reviews.of_scope("default", SCOPE, now=world.clock())
    if "deletion" in name:
        assert facts == [], place
    else:
        states = {one.state for one in marks if one.state is not ReviewState.OPEN}
        assert len(states) == 1, place
        assert facts == [NEW if ReviewState.ACCEPTED in states else OLD], place
    if "generation" in name:
        assert [one.text for one in open_reviews(world)] == ["My favorite color is green"], place


@pytest.mark.parametrize("name", PAIRS)
def test_decisions_between_other_writers(client: Any, name: str) -> None:
    """Between calls of the one the other may run whole: one outcome, and nothing is lost or comes back."""
    _try_pair(client, name, most=2)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
def test_decisions_between_any_two_calls_of_other_writers(client: Any, name: str) -> None:
    """The same before every single call."""
    _try_pair(client, name, most=None)
