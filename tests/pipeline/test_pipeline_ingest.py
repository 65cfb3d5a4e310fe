from tests.world import event


def test_an_id_that_conflicts_twice_is_listed_once(world):
    """However often a call brings a known id with other content, the reply names the id once and counts each."""
    world.ingest(event("I live in Graz", "e1"), rule={"eventCount": 9})
    receipt = world.ingest(event("I live in Linz", "e1"), event("I live in Wels", "e1"), event("I ski", "e2"))
    assert (receipt.accepted, receipt.duplicates, receipt.conflicts) == (1, 2, ("e1",))
