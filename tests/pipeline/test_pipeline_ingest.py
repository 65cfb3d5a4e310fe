import pytest

from streambank.errors import Unavailable
from streambank.model.rule import Reason
from tests import aws
from tests.world import event


def test_an_id_that_conflicts_twice_is_listed_once(world):
    """However often a call brings a known id with other content, the reply names the id once and counts each."""
    world.ingest(event("I live in Graz", "e1"), rule={"eventCount": 9})
    receipt = world.ingest(event("I live in Linz", "e1"), event("I live in Wels", "e1"), event("I ski", "e2"))
    assert (receipt.accepted, receipt.duplicates, receipt.conflicts) == (1, 2, ("e1",))


def test_a_stream_that_is_written_without_end_is_unavailable(world):
    """A call that is overtaken each time gives up and says so; the calls that came before it are stored."""
    overtaken = []

    def overtake(model, **_):
        if model.name == "TransactWriteItems" and (not overtaken or overtaken[-1]):
            overtaken.append(False)
            world.ingest(event("Hm."), streamId="s", rule={"eventCount": 99})
            overtaken[-1] = True

    world.client.meta.events.register("before-call.dynamodb", overtake)
    try:
        with pytest.raises(Unavailable):
            world.ingest(event("I ski"), streamId="s", rule={"eventCount": 99})
    finally:
        world.client.meta.events.unregister("before-call.dynamodb", overtake)
    [head] = [item for item in aws.dump(world.client) if item["SK"]["S"] == "HEAD"]
    assert int(head["cnt"]["N"]) == len(overtaken) > 1


def test_a_call_is_counted_though_its_last_part_adds_nothing(world):
    """The first part of a call fills the window, the last one has only known events: the window is due at once."""
    known = [event(f"old {number}", f"old{number}") for number in range(5)]
    world.ingest(*known, rule={"eventCount": 50}, forceFlush=True)
    world.deliver()
    receipt = world.ingest(*(event(f"new {number}", f"new{number}") for number in range(97)), *known)
    assert (receipt.accepted, receipt.duplicates) == (97, 5)
    head = world.streams.head("default", receipt.operation.id.sid)
    assert (head.seal_reason, head.due) == (Reason.EVENT_COUNT, world.clock())
