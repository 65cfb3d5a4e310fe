"""What happens to a scope while a slow model thinks about it (C22)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from streambank.model.memory import Change
from tests.world import SCOPE, SameTextIsTheSame, World, event


class Slow:
    """A consolidator during whose first answer something else happens."""

    def __init__(self, meanwhile):
        self.meanwhile, self.other, self.asked = meanwhile, SameTextIsTheSame(), 0

    def consolidate(self, request):
        self.asked += 1
        if self.asked == 1:
            self.meanwhile()
        return self.other.consolidate(request)


@pytest.fixture
def known(world: World):
    """A memory that was said before."""
    world.ingest(event("I like tea"))
    world.settle()
    [memory] = world.memories.of_scope("default", SCOPE, now=world.clock())
    return memory


def written(world: World, change: Change) -> None:
    version = world.memories.version("default", SCOPE).version
    world.memories.commit_change("default", SCOPE, version, change, now=world.clock())


def test_c22_what_was_created_meanwhile_survives(world, known):
    """A memory that a call makes while a model thinks is there afterwards, beside what the model made."""
    created = replace(known, id="m2", fact="I keep bees", evidence=())
    world.consolidator = Slow(lambda: written(world, Change(None, created, None)))
    world.ingest(event("I like jam"))
    world.settle()
    assert world.facts() == ["I keep bees", "I like jam", "I like tea"]


def test_c22_what_was_edited_meanwhile_is_judged_again(world, known):
    """A plan that was made for a memory as it was is not applied to what it has become: the model is asked again."""
    edited = replace(known, fact="I like coffee", revision=known.revision + 1)
    world.consolidator = Slow(lambda: written(world, Change(known, edited, None)))
    world.ingest(event("I like tea a lot"))
    world.settle()
    world.recover(5)
    assert world.consolidator.asked == 2
    assert world.facts() == ["I like coffee", "I like tea a lot"]


def test_c22_what_was_deleted_meanwhile_stays_deleted(world, known):
    """A slow generation does not bring back what was deleted while its model thought."""
    gone = replace(known, deleted=world.clock(), revision=known.revision + 1)
    world.consolidator = Slow(lambda: written(world, Change(known, gone, None)))
    world.ingest(event("I like jam"))
    world.settle()
    world.recover(5)
    assert world.facts() == ["I like jam"]
