from datetime import timedelta

from streambank.model import ids
from streambank.model.memory import Change, Citation, Evidence
from streambank.rules.consolidation import deletion
from tests import aws
from tests.store.building import HASHES, NOW, SCOPE, memory

DAY = timedelta(days=1)
SAID = Citation("s1", 3, 0, "[2026-03-01] I drink tea, ☕ mostly", NOW + 90 * DAY)

CITED = (Evidence("s1", 3, (7,)),)


def stored(world, name="m1", *, version=0, citation=SAID, evidence=CITED, **more):
    """Store a memory that cites *citation*."""
    made = memory(name, evidence=evidence, **more)
    world.memories.commit_change("default", made.scope, version, Change(None, made, None, citation), now=NOW)
    return made


def cited(world, *memories, scope=SCOPE, now=NOW):
    return world.memories.citations("default", scope, memories, now=now)


def citations(world):
    return [item["SK"]["S"] for item in aws.dump(world.client) if item["SK"]["S"].startswith("T#")]


def test_what_is_cited_comes_back(world):
    """A citation is read as it was written, by the memory's id."""
    made = stored(world)
    assert cited(world, made) == {"m1": [SAID]}
    assert citations(world) == ["T#m1#s1-3-0"]


def test_an_expired_citation_is_gone_at_once(world):
    """At its expiry no read uses it, though DynamoDB may keep the item for two days (I9)."""
    made = stored(world)
    assert cited(world, made, now=NOW + 90 * DAY - timedelta(seconds=1)) == {"m1": [SAID]}
    assert cited(world, made, now=NOW + 90 * DAY) == {}
    [item] = [item for item in aws.dump(world.client) if item["SK"]["S"].startswith("T#")]
    assert int(item["ttl"]["N"]) == (NOW + 90 * DAY).timestamp()


def test_a_memory_quotes_only_what_it_names_as_evidence(world):
    """What an earlier memory of the same id left behind is not this one's."""
    made = stored(world)
    assert cited(world, memory("m1")) == {}
    assert cited(world, memory("m1", evidence=(Evidence("s1", 4, (9,)), Evidence("s2", 3, (7,))))) == {}
    assert cited(world) == {}
    assert cited(world, made, scope={"user_id": "u2"}) == {}


def test_memories_whose_names_begin_alike_share_nothing(world):
    """Citations of one memory are not those of another whose id is longer."""
    one, other = stored(world), stored(world, "m11", version=1, citation=None)
    assert cited(world, one, other) == {"m1": [SAID]}


def test_a_deleted_memorys_citations_go_with_the_sweep(world):
    """They are read by nothing from the deletion on, and the sweep deletes them, once or twice; others stay."""
    made = stored(world)
    other = stored(world, "m11", version=1)
    world.memories.commit_change("default", SCOPE, 2, deletion(made, HASHES, now=NOW), now=NOW)
    assert world.memories.get("default", SCOPE, "m1", now=NOW) is None
    for _ in range(2):
        world.memories.shorten_revisions("default", ids.scope_id(SCOPE), "m1")
        assert citations(world) == ["T#m11#s1-3-0"]
    assert cited(world, other) == {"m11": [SAID]}


def test_a_live_memory_keeps_its_citations(world):
    """The sweep touches nothing of a memory that came back."""
    made = stored(world)
    world.memories.shorten_revisions("default", ids.scope_id(SCOPE), "m1")
    assert cited(world, made) == {"m1": [SAID]}


def test_a_banks_end_takes_citations_along(world):
    """Nothing of a deleted bank is left, what was quoted least of all."""
    stored(world)
    list(world.banks.delete_contents("default"))
    assert aws.dump(world.client) == []


def test_a_generation_quotes_its_turns_once(world):
    """Each new memory quotes the turn that it came from, for as long as the turn is kept; a repeat adds nothing."""
    world.ingest(
        {"content": {"parts": [{"text": "I keep bees"}]}, "eventTime": "2026-02-01T08:00:00Z"}, forceFlush=True
    )
    world.settle()
    [made] = world.memories.of_scope("default", SCOPE, now=world.clock())
    [[quoted]] = cited(world, made, now=world.clock()).values()
    assert quoted.text == "[2026-02-01] I keep bees"
    assert quoted.expires == world.clock() + world.retention_policy.retention
    before = citations(world)
    world.deliver()
    world.run()
    assert citations(world) == before


def test_stated_facts_quote_nothing(world):
    """A memory that no event stands behind has no citation."""
    stored(world, citation=None, evidence=())
    assert citations(world) == []
