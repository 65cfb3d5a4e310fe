"""A memory is the revision that made its text: readers see no difference, the table has no item until it changes."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from streambank.llm.ports import Action, Consolidation, Decision
from streambank.model.erasure import ErasureTarget
from streambank.model.memory import Memory, Revision
from streambank.model.rule import WindowSettings
from streambank.model.validity import Statement
from streambank.pipeline.jobs import erase
from streambank.pipeline.memories.deletion import delete_memory
from streambank.pipeline.memories.edit import EditContext, create_memory, roll_back, update_memory
from streambank.rules.edits import Edit
from tests import aws
from tests.pipeline.test_pipeline_interleavings import _interrupted
from tests.pipeline.test_pipeline_transfer import OTHER, exported, imported, lines, made, manifest_of
from tests.world import SCOPE, World, event

LABELS = {"source": "chat"}


def remembered(world: World, bank: str = "default") -> Memory:
    [memory] = world.memories.of_scope(bank, SCOPE, now=world.clock())
    return memory


def revisions(world: World, memory: Memory | None = None, bank: str = "default") -> list[Revision]:
    return world.memories.revisions(bank, memory or remembered(world, bank), now=world.clock())


def stored(world: World, bank: str = "default") -> list[int]:
    """Return the numbers of the revisions that have items."""
    items = aws.dump(world.client)
    return [
        int(one["n"]["N"]) for one in items if one["SK"]["S"].startswith("R#") and f"#{bank}#" in one["PK"]["S"] + "#"
    ]


def generated(world: World, **fields: Any) -> Memory:
    world.ingest(event("I like tea", "1"), forceFlush=True, revisionLabels=LABELS, **fields)
    world.settle()
    world.clock.move(minutes=5)
    return remembered(world)


def editing(world: World) -> EditContext:
    return world.editing()


def rewrite(world: World, fact: str, **settings: Any) -> Memory:
    edit = Edit({"fact"}, fact, settings=WindowSettings(**settings))
    return update_memory("default", remembered(world).id, None, edit, context=editing(world))


def delete(world: World) -> Memory:
    memory, now = remembered(world), world.clock()
    return delete_memory(
        "default",
        memory.id,
        memories=world.memories,
        retry_policy=world.retry_policy,
        id_secret=world.id_secret,
        now=now,
    )


def test_a_memory_that_never_changed_has_a_revision_and_no_item(world):
    """The first revision has text, time, labels, expiry and the extracted fact, as any revision has."""
    memory = generated(world)
    [first] = revisions(world)
    expires = memory.created + timedelta(days=365)
    made = Revision(memory.id, 1, "I like tea", memory.created, expires, LABELS, ("I like tea",))
    assert replace(first, statements=(), vector=b"") == made
    assert (first.statements, first.vector) == ((Statement(memory.as_of, memory.created),), memory.vector)
    assert world.memories.revision("default", memory, 1, now=world.clock()) == first
    assert world.memories.revision("default", memory, 2, now=world.clock()) is None
    assert stored(world) == []


def test_the_first_revision_is_stored_when_the_text_changes(world):
    """An update writes the revision that the memory was, and whatever the memory has become, that stays readable."""
    generated(world)
    [first] = revisions(world)
    rewrite(world, "I like jam")
    assert [one.fact for one in revisions(world)] == ["I like jam", "I like tea"]
    assert revisions(world)[-1] == first
    rewrite(world, "I like milk")
    assert revisions(world)[-1] == first
    assert stored(world) == [1, 2]


def test_a_generation_that_changes_the_text_stores_the_first_revision(world):
    """The update of a generation keeps the older text with its own labels and expiry."""
    generated(world)
    [first] = revisions(world)
    world.consolidator = _Rewrites()
    world.ingest(event("I like jam", "2"), forceFlush=True, revisionLabels={"source": "mail"})
    world.settle()
    assert [(one.fact, one.labels) for one in revisions(world)] == [
        ("I like jam", {"source": "mail"}),
        ("I like tea", LABELS),
    ]
    assert revisions(world)[-1] == first


class _Rewrites:
    def consolidate(self, request: Any) -> Consolidation:
        return Consolidation((Decision(1, Action.UPDATE, (1,), request.facts[0].fact, "changed"),))


@pytest.mark.parametrize("field", ["displayName", "metadata", "restated"])
def test_what_keeps_the_text_keeps_the_memory_its_own_revision(world, field):
    """A change of other fields, and newer evidence for the same text, make no item."""
    memory = generated(world)
    before = revisions(world)
    if field == "restated":
        world.ingest(event("I like tea", "2"), forceFlush=True)
        world.settle()
    else:
        edit = Edit({field}, display_name="x", metadata={"k": "v"})
        update_memory("default", remembered(world).id, None, edit, context=editing(world))
    assert remembered(world) != memory
    after = [replace(one, statements=before[0].statements) for one in revisions(world)]
    assert after == before
    assert stored(world) == []


def test_an_update_without_a_revision_keeps_the_older_text(world):
    """Where revisions are off for the update, the first one is still listed, with the older text."""
    generated(world)
    before = revisions(world)
    rewrite(world, "I like jam", disable_revisions=True)
    assert revisions(world) == before
    assert stored(world) == [1]


def test_a_memory_made_without_revisions_has_none(world):
    """Where revisions are off for the creation, its text is no revision, also after a change."""
    generated(world, disableMemoryRevisions=True)
    assert revisions(world) == []
    rewrite(world, "I like jam")
    assert [(one.number, one.fact) for one in revisions(world)] == [(1, "I like jam")]


def test_an_expired_first_revision_is_not_listed_and_not_stored(world):
    """When its time is over, the first revision is gone, and the change that comes then does not bring it back."""
    generated(world, revisionTtl="3600s")
    assert len(revisions(world)) == 1
    world.clock.move(hours=1)
    assert revisions(world) == []
    assert world.memories.revision("default", remembered(world), 1, now=world.clock()) is None
    rewrite(world, "I like jam")
    assert [one.fact for one in revisions(world)] == ["I like jam"]
    assert stored(world) == []


def test_a_deleted_memory_can_be_rolled_back_to_its_first_revision(world):
    """A deletion writes the first revision; for 48 hours it is listed, and the memory can have its text again."""
    generated(world)
    [first] = revisions(world)
    tombstone = delete(world)
    world.finish()
    [deletion, kept] = revisions(world, tombstone)
    assert (deletion.fact, deletion.number, replace(kept, expires=first.expires)) == ("", 2, first)
    assert kept.expires <= tombstone.deleted + timedelta(hours=48, seconds=1)
    memory = roll_back("default", tombstone.id, 1, context=editing(world))
    assert (memory.fact, memory.revision) == ("I like tea", 3)
    assert [one.number for one in revisions(world)] == [3, 2, 1]
    assert revisions(world)[-1] == first


def test_a_roll_back_to_the_only_revision_makes_a_second(world):
    """Rolled back to the text that it has, a memory has a first and a second revision of that text."""
    memory = generated(world)
    roll_back("default", memory.id, 1, context=editing(world))
    assert [(one.number, one.fact) for one in revisions(world)] == [(2, "I like tea"), (1, "I like tea")]


def test_a_stated_memory_is_its_own_first_revision(world):
    """A memory that a caller creates has its labels in its first revision, and no extracted fact."""
    edit = Edit({"fact"}, "I like tea", settings=WindowSettings(revision_labels=LABELS))
    create_memory("default", "m1", SCOPE, edit, repeats=lambda _: False, context=editing(world))
    [first] = revisions(world)
    assert (first.fact, first.labels, first.extracted) == ("I like tea", LABELS, ())
    assert stored(world) == []


def test_an_erasure_counts_the_first_revision(world):
    """A memory that never changed counts as a memory and a revision, in a dry run too."""
    generated(world)
    counted = erase.count_scope("default", SCOPE, ErasureTarget(), context=world.erasing())
    assert (counted["memories"], counted["revisions"]) == (1, 1)
    done = erase.erase_scope("default", SCOPE, ErasureTarget(), context=world.erasing())
    assert (done.counts["memories"], done.counts["revisions"]) == (1, 1)


@pytest.mark.parametrize("texts", [(), ("I like jam",), ("I like jam", "I like tea")], ids=len)
def test_revisions_go_with_an_export(client, texts):
    """An import has the revisions of the export, and stores the first of a memory that never changed in the memory."""
    world = made(client)
    generated(world)
    for text in texts:
        world.clock.move(minutes=1)
        rewrite(world, text)
    transfer = exported(world)
    assert Counter(transfer.counts)["revisions"] == 1 + len(texts)
    imported(world, manifest_of(transfer))
    here, there = revisions(world), revisions(world, bank=OTHER)
    same = {"memory_id": "", "vector": b""}  # an import embeds no text of the past
    assert [replace(one, **same) for one in here] == [replace(one, **same) for one in there]
    assert len(stored(world, OTHER)) == len(texts)


def test_an_import_over_an_older_memory_keeps_its_first_revision(client):
    """A changed memory that is imported over its unchanged self has both revisions; repeated, nothing changes."""
    world = made(client)
    generated(world)
    imported(world, manifest_of(exported(world)))
    assert stored(world, OTHER) == []
    world.clock.move(minutes=1)
    rewrite(world, "I like jam")
    for _ in range(2):
        imported(world, manifest_of(exported(world)))
        assert [one.fact for one in revisions(world, bank=OTHER)] == ["I like jam", "I like tea"]


@pytest.mark.slow
def test_a_change_at_any_call_of_an_export_leaves_no_gap(client):
    """A memory that changes for the first time while it is exported goes with every revision up to its own."""
    for at in range(100):
        world = made(client)
        generated(world)
        transfers: list[Any] = []
        calls = _interrupted(
            world, lambda world: transfers.append(exported(world)), lambda world: rewrite(world, "I like jam"), at
        )
        [record] = [one for one in map(json.loads, lines(world, transfers[0])) if one["kind"] == "memory"]
        numbers = [one["number"] for one in record["revisions"]]
        assert numbers == list(range(1, record["revision"] + 1))
        if calls <= at:
            return
    raise AssertionError("an export never ends")
