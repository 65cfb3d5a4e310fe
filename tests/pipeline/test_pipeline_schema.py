"""Items say which form they have: old ones are read, newer ones are refused, and nothing is written beside them."""

from typing import Any

import pytest

from streambank.errors import SchemaTooNew
from streambank.model.session import Session
from streambank.pipeline.memories.deletion import delete_memory
from streambank.store import schema
from streambank.wire import http
from tests import aws
from tests.world import SCOPE, World, event

NEWER = {":v": {"N": str(schema.VERSION + 1)}}


def live(world: World) -> None:
    """One of each: a stream, a window, its results, memories, the revisions of a deleted one, a session, usage."""
    world.ingest(event("a", "1"), event("b", "2"), event("x", "9"), streamId="s", forceFlush=True)
    world.settle()
    [memory] = [one for one in world.memories.of_scope("default", SCOPE, now=world.clock()) if one.fact == "x"]
    delete_memory(
        "default",
        memory.id,
        memories=world.memories,
        retry_policy=world.retry_policy,
        id_secret=world.id_secret,
        now=world.clock(),
    )
    world.ingest(event("c", "3"), streamId="s", rule={"idleDuration": "60s"})
    now = world.clock()
    world.erasing().sessions.create("default", Session("x", "u1", created=now, updated=now, first=0, last=0, state={}))


def each(client: Any, expression: str, values: dict[str, Any] | None = None, prefix: str = "") -> None:
    for item in aws.dump(client):
        if item["SK"]["S"].startswith(prefix):
            key, more = {"PK": item["PK"], "SK": item["SK"]}, {"ExpressionAttributeValues": values} if values else {}
            client.update_item(TableName=aws.TABLE, Key=key, UpdateExpression=expression, **more)


def test_every_item_says_its_version(world):
    """Whatever is written, by a put or by counting, carries the version of its form."""
    live(world)
    found = aws.dump(world.client)
    kinds = {item["SK"]["S"].split("#")[0] for item in found}
    assert {"HEAD", "B", "D", "W", "P", "M", "R", "V", "N"} <= kinds
    assert not [item["SK"]["S"] for item in found if item.get("sv", {}).get("N") != str(schema.VERSION)]


def test_items_of_the_first_releases_are_read(world):
    """What has no version is of the first: the story goes on as if nothing had happened."""
    live(world)
    each(world.client, "REMOVE sv")
    world.ingest(event("c", "3"), event("d", "4"), streamId="s", forceFlush=True)
    world.settle()
    assert world.facts() == ["a", "b", "c", "d"]


def say(world: World) -> None:
    world.ingest(event("f", "6"), streamId="s")


def look(world: World) -> None:
    sid = next(item["PK"]["S"].split("#")[2] for item in aws.dump(world.client) if item["SK"]["S"] == "HEAD")
    world.plans.verdicts(world.windows.get("default", sid, 1))


@pytest.mark.parametrize(
    ("prefix", "meet"), [("HEAD", say), ("HEAD", World.deliver), ("W#", look), ("M#", World.facts), ("P#", look)]
)
def test_what_a_newer_release_wrote_is_not_touched(world, prefix, meet):
    """A form that this release does not know stops whoever meets it before anything is written; later it goes on."""
    live(world)
    world.ingest(event("e", "5"), streamId="s", forceFlush=True)
    each(world.client, "SET sv = :v", NEWER, prefix)
    before = aws.dump(world.client)
    with pytest.raises(SchemaTooNew):
        meet(world)
    assert aws.dump(world.client) == before
    each(world.client, "SET sv = :v", {":v": {"N": str(schema.VERSION)}}, prefix)
    say(world)
    world.ingest(streamId="s", forceFlush=True)
    world.finish()
    assert world.facts() == ["a", "b", "c", "e", "f"]


def test_a_newer_window_waits(world):
    """A generation that meets a newer window comes to nothing; nothing is booked as its failure but by the sweep."""
    live(world)
    world.ingest(event("e", "5"), streamId="s", forceFlush=True)
    world.deliver()
    world.deliver()
    each(world.client, "SET sv = :v", NEWER, "W#000000000002")
    with pytest.raises(SchemaTooNew):
        world.run()
    each(world.client, "SET sv = :v", {":v": {"N": str(schema.VERSION)}}, "W#")
    world.finish()
    assert world.facts() == ["a", "b", "c", "e"]


def test_a_caller_is_told_to_come_again():
    """The reply is 503 with a time to wait, as for everything that an upgrade in progress explains."""

    def meet() -> http.Response:
        raise SchemaTooNew(2)

    reply = http.to_response(meet, on_fault=lambda _: None)
    assert (reply["statusCode"], reply["headers"]["retry-after"]) == (503, "30")
    assert "schema version 2" in reply["body"]
