"""An import into a bank that is in use: both banks' memories and sessions are there afterwards, and streams go on."""

from __future__ import annotations

import pytest

from streambank.model.session import SessionEvent, SessionFields
from streambank.pipeline.memories.deletion import delete_memory
from streambank.pipeline.memories.edit import create_memory, update_memory
from streambank.pipeline.sessions import sessions
from streambank.store.sessions import Sessions
from tests import aws
from tests.pipeline.test_pipeline_transfer import (
    ELSEWHERE,
    OTHER,
    content,
    editing,
    exported,
    imported,
    made,
    manifest_of,
    stated,
)
from tests.world import SCOPE, World, event


@pytest.fixture
def client():
    with aws.dynamodb() as client:
        yield client


@pytest.fixture
def both(client) -> World:
    """A table with two banks, and a bucket."""
    return made(client)


def say(world: World, bank: str, *facts: str) -> None:
    """Let a bank hear each fact in a window of its own of one stream."""
    for fact in facts:
        world.ingest(event(fact), bank=bank)
        world.settle()
        world.clock.move(seconds=5)


@pytest.mark.parametrize("is_first", [True, False], ids=["imported first", "imported last"])
@pytest.mark.parametrize("more", [(), ("I like jam", "I keep bees")], ids=["as many windows", "more windows"])
def test_a_stream_goes_on_after_an_import(both, is_first, more):
    """The same windows of one stream in both banks: nothing is lost, and what is said later is remembered at once."""
    say(both, "default", "I like tea", *more)
    source = manifest_of(exported(both))
    steps = [lambda: imported(both, source), lambda: say(both, OTHER, "I have a dog")]
    for step in steps if is_first else reversed(steps):
        step()
    say(both, OTHER, "I live in Linz", "I sing", "I run")
    expected = {"I like tea", *more, "I have a dog", "I live in Linz", "I sing", "I run"}
    assert both.facts(SCOPE, OTHER) == sorted(expected)
    states = {item["st"]["S"] for item in aws.dump(both.client) if item["SK"]["S"].startswith("W#")}
    assert states == {"DONE"}
    before = content(both.client, OTHER)
    both.clock.move(minutes=5)
    imported(both, source)
    assert content(both.client, OTHER) == before


def choose(world: World, bank: str, fact: str, scope: dict[str, str] = SCOPE) -> None:
    """Store a memory under an id that a caller chooses."""
    create_memory(bank, "profile", scope, stated(fact), repeats=lambda _: False, context=editing(world))
    world.clock.move(seconds=5)


@pytest.mark.parametrize("scope", [SCOPE, ELSEWHERE], ids=["the same scope", "another scope"])
@pytest.mark.parametrize("is_older", [True, False], ids=["the import is older", "the import is newer"])
def test_a_taken_id_is_another_id(both, scope, is_older):
    """Two memories that only share an id are both kept, whichever is newer; the import's gets the same new id again."""
    steps = [lambda: choose(both, "default", "theirs"), lambda: choose(both, OTHER, "ours", scope)]
    for step in steps if is_older else reversed(steps):
        step()
    source = manifest_of(exported(both))
    done = imported(both, source)
    assert (done.counts.get("memories"), done.counts["memoriesRenamed"], done.counts["revisionsRenamed"]) == (
        None,
        1,
        1,
    )
    kept = both.memories.find(OTHER, "profile", now=both.clock())
    assert (kept.fact, kept.scope) == ("ours", scope)
    [new] = [one for one in both.memories.of_scope(OTHER, SCOPE, now=both.clock()) if one.fact == "theirs"]
    [revision] = both.memories.revisions(OTHER, new, now=both.clock())
    assert (revision.memory_id, revision.fact) == (new.id, "theirs")
    assert imported(both, source).counts["memoriesKept"] == 1
    assert len(both.facts(SCOPE, OTHER)) == (2 if scope == SCOPE else 1)


def test_a_renamed_memory_is_brought_up_to_date(both):
    """A later export of the same memory changes the one that the first import made, and no other."""
    choose(both, OTHER, "ours")
    choose(both, "default", "theirs")
    imported(both, manifest_of(exported(both)))
    update_memory("default", "profile", None, stated("theirs, changed"), context=editing(both))
    imported(both, manifest_of(exported(both)))
    assert both.facts(SCOPE, OTHER) == ["ours", "theirs, changed"]


def test_a_deleted_memory_stays_deleted_and_its_id_taken(both):
    """A deletion is of one memory: the same one does not come back, another one with its id does."""
    choose(both, "default", "theirs")
    source = manifest_of(exported(both))
    choose(both, OTHER, "ours")
    now = both.clock()
    delete_memory(
        OTHER, "profile", memories=both.memories, retry_policy=both.retry_policy, id_secret=both.id_secret, now=now
    )
    delete_memory(
        "default", "profile", memories=both.memories, retry_policy=both.retry_policy, id_secret=both.id_secret, now=now
    )
    imported(both, source, "default")
    imported(both, source)
    assert both.facts(SCOPE, "default") == []
    assert both.facts(SCOPE, OTHER) == ["theirs"]


def talk(world: World, bank: str, text: str) -> None:
    context = {"sessions": Sessions(world.table), "retry_policy": world.retry_policy, "now": world.clock()}
    sessions.create(bank, "monday", SessionFields("u1", text), **context)
    turn = SessionEvent("user", "1", world.clock(), content={"parts": [{"text": text}], "role": "user"})
    sessions.append(bank, "monday", turn, **context)
    world.clock.move(seconds=5)


def test_a_session_whose_id_is_taken_comes_under_another(both):
    """Both sessions are there with their events, also after a second import."""
    talk(both, "default", "theirs")
    talk(both, OTHER, "ours")
    source = manifest_of(exported(both))
    done = imported(both, source)
    assert (done.counts["sessionsRenamed"], done.counts["sessionEvents"]) == (1, 1)
    assert imported(both, source).counts["sessionsKept"] == 1
    store = Sessions(both.table)
    found = [store.live(OTHER, name, now=both.clock()) for name in both.erasures.session_ids(OTHER)]
    texts = {
        one.display_name: [event.content["parts"][0]["text"] for event in store.events(OTHER, one)] for one in found
    }
    assert texts == {"ours": ["ours"], "theirs": ["theirs"]}
    assert store.live(OTHER, "monday", now=both.clock()).display_name == "ours"
