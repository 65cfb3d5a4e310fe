"""Open reviews among exports and imports: what may be stored, and what a decision does in the other bank."""

from __future__ import annotations

from typing import Any

import pytest

from streambank.errors import FailedPrecondition
from streambank.model.erasure import ErasureTarget
from streambank.model.review import Review, ReviewState
from streambank.pipeline.banks import BankChange, update_bank
from streambank.pipeline.jobs import erase
from streambank.pipeline.memories import reviews
from streambank.pipeline.memories.edit import create_memory, update_memory
from tests.pipeline.test_pipeline_reviews import context
from tests.pipeline.test_pipeline_transfer import (
    ELSEWHERE,
    OTHER,
    edited,
    exported,
    imported,
    lines,
    made,
    manifest_of,
    open_reviews,
    proposed,
    stated,
)
from tests.world import SCOPE, World, event

CARD = "4111 1111 1111 1111"


@pytest.fixture
def world(client: Any) -> World:
    """A bank with a memory for which a change waits, and an empty one."""
    world = made(client)
    edited(world)
    return world


def accept(world: World, review: Review) -> Any:
    return reviews.accept(OTHER, review.id, may_see=lambda _: True, context=context(world))


def test_an_imported_review_is_accepted(world: World) -> None:
    """The change is made as it was proposed, without the window, which may be another one in this bank."""
    world.ingest(event("of another window", "x"), bank=OTHER, forceFlush=True)
    world.settle()
    waits = proposed(world)
    imported(world, manifest_of(exported(world)))
    [review] = open_reviews(world)
    done = accept(world, review)
    [memory] = done.memories
    assert (memory.id, memory.fact, memory.validity, memory.pinned) == ("m-1", waits.text, waits.validity, True)
    assert memory.topics == waits.topics
    assert [(one.sid, one.window, one.seqs) for one in memory.evidence] == [
        (one.sid, one.window, one.seqs) for one in waits.evidence
    ]
    assert world.memories.citations(OTHER, SCOPE, [memory], now=world.clock()) == {}
    assert accept(world, review).memories == done.memories


@pytest.mark.parametrize("decision", [reviews.accept, reviews.reject])
def test_a_decision_is_not_undone_by_the_same_import(world: World, decision: Any) -> None:
    """What was decided in the bank stays so, and what changed meanwhile is not proposed again."""
    proposed(world)
    source = manifest_of(exported(world))
    imported(world, source)
    [review] = open_reviews(world)
    decision(OTHER, review.id, may_see=lambda _: True, context=context(world))
    done = imported(world, source)
    assert open_reviews(world) == []
    assert done.counts.get("reviews", 0) == 0


def test_a_review_follows_its_memory_under_a_new_id(world: World) -> None:
    """Where an import renames the memory, the review is of the renamed one, in every import."""
    proposed(world)
    create_memory(OTHER, "m-1", ELSEWHERE, stated("theirs"), repeats=lambda _: False, context=world.editing())
    source = manifest_of(exported(world))
    imported(world, source)
    [review] = open_reviews(world)
    [renamed] = [one for one in world.memories.of_scope(OTHER, SCOPE, now=world.clock()) if one.fact == "changed"]
    assert [one.id for one in review.memories] == [renamed.id] != ["m-1"]
    assert imported(world, source).counts["reviewsKept"] == 1
    assert [one.fact for one in accept(world, review).memories] == ["proposed"]


def test_a_review_of_another_text_is_not_exported_and_not_imported(world: World) -> None:
    """A review that nobody could accept stays where it is: its memory changed before the export or the import."""
    proposed(world)
    source = manifest_of(exported(world))
    imported(world, source)
    [review] = open_reviews(world)
    reviews.reject(OTHER, review.id, may_see=lambda _: True, context=context(world))
    world.clock.move(minutes=1)
    update_memory(OTHER, "m-1", None, stated("other"), context=world.editing())
    world.table.delete_all([world_key(review)])
    assert imported(world, source).counts["reviewsConflicting"] == 1
    assert open_reviews(world) == []
    update_memory("default", "m-1", None, stated("other"), context=world.editing())
    assert "reviews" not in exported(world).counts


def world_key(review: Review) -> Any:
    from streambank.store import keys

    return keys.review(OTHER, review.id)


def test_marks_and_expired_reviews_are_left_out(world: World) -> None:
    """An export has no decided reviews, and an import none that has expired meanwhile."""
    proposed(world)
    source = manifest_of(exported(world))
    waits = open_reviews(world, "default")[0]
    reviews.reject("default", waits.id, may_see=lambda _: True, context=context(world))
    assert not [line for line in lines(world, exported(world)) if '"kind":"review"' in line]
    world.clock.move(days=91)
    assert imported(world, source).counts["reviewsExpired"] == 1
    assert world.reviews.of_scope(OTHER, SCOPE, now=world.clock()) == []


def test_a_content_policy_screens_an_imported_review(world: World) -> None:
    """No text that a rule removes is stored, and the review still fits its memory, whose text is screened too."""
    world.clock.move(minutes=1)
    update_memory("default", "m-1", None, stated(f"pays {CARD}"), context=world.editing())
    proposed(world, text=f"paid {CARD}", fact=f"said {CARD}", reason=f"because of {CARD}")
    rules = {"contentPolicy": {"rules": [{"detector": "CARD_NUMBERS", "action": "REFUSE"}]}}
    change = BankChange(document=rules)
    update_bank(OTHER, change, banks=world.banks, retry_policy=world.retry_policy, now=world.clock())
    imported(world, manifest_of(exported(world)))
    [review] = open_reviews(world)
    assert CARD not in f"{review.text} {review.fact} {review.reason}"
    assert accept(world, review).memories[0].fact == review.text


def test_an_erasure_beats_an_imported_review(world: World) -> None:
    """After an erasure nothing of it is there, and what is imported later is there as its memory is."""
    proposed(world)
    source = manifest_of(exported(world))
    imported(world, source)
    erase.erase_scope(OTHER, SCOPE, ErasureTarget(), context=world.erasing())
    assert world.reviews.of_scope(OTHER, SCOPE, now=world.clock()) == []
    world.clock.move(minutes=1)
    imported(world, source)
    assert [one.state for one in open_reviews(world)] == [ReviewState.OPEN]


def test_an_id_of_another_banks_review_decides_nothing(world: World) -> None:
    """The review has an id of its own in each bank; the text of its memory must be the one of the review."""
    waits = proposed(world)
    imported(world, manifest_of(exported(world)))
    [review] = open_reviews(world)
    assert review.id != waits.id
    world.clock.move(minutes=1)
    update_memory(OTHER, "m-1", None, stated("meanwhile"), context=world.editing())
    with pytest.raises(FailedPrecondition, match="has changed"):
        accept(world, review)
