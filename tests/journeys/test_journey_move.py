"""Moving a scope over HTTP: a user id changed, a visitor signed in, and what a caller may see of it."""

from __future__ import annotations

import pytest

from tests.journeys.caller import Caller, Document, said

HOLDS = {"eventCount": 9}


def moved(caller: Caller, scope: Document, target: Document, bank: str, status: int = 200, **more: object) -> Document:
    return caller.post(f"{bank}:moveScope", {"scope": scope, "targetScope": target, **more}, status=status)


def test_a_user_id_changes(caller: Caller) -> None:
    """Memories keep their names, revisions and sources; pending events and ids of events are the target's."""
    old = caller.stream(name="chat")
    new = caller.stream(name="chat")
    learnt = old.flush(said("I keep bees.", "e1"))
    pending = old.send(said("I sail.", "e2"), rule=HOLDS)
    [memory] = caller.memories(old.scope)
    would = moved(caller, old.scope, new.scope, old.bank, dryRun=True)["response"]["wouldMove"]
    done = moved(caller, old.scope, new.scope, old.bank)
    assert done["done"]
    assert done["response"]["moved"] == would
    assert {"streams": 1, "events": 2, "windows": 2, "memories": 1, "revisions": 1}.items() <= would.items()
    assert caller.get(done["name"]) == done
    assert done["metadata"]["targetScope"] == new.scope
    assert caller.facts(old.scope) == []
    [same] = caller.memories(new.scope)
    assert (same["name"], same["createTime"], same["fact"]) == (memory["name"], memory["createTime"], memory["fact"])
    assert caller.revisions(same) == caller.revisions(memory)
    assert caller.get(learnt["name"])["done"]
    assert caller.get(pending["name"])["metadata"]["state"] == "BUFFERING"
    again = new.send(said("I keep bees.", "e1"), said("I sail.", "e2"))
    assert (again["metadata"].get("acceptedEvents", 0), again["metadata"]["duplicateEvents"]) == (0, 2)
    caller.post(f"{new.bank}/memories:ingestEvents", {"scope": new.scope, "streamId": "chat", "forceFlush": True})
    caller.recover()
    assert sorted(caller.facts(new.scope)) == ["I keep bees", "I sail"]
    assert caller.get(pending["name"])["done"]


def test_a_visitor_signs_in(caller: Caller) -> None:
    """Both have memories and a stream of the same name: the user has all memories, and each stream is whole."""
    visitor, user = caller.stream(), caller.stream()
    visitor.flush(said("I keep bees.", "e1"))
    user.flush(said("I sail.", "e1"))
    assert moved(caller, visitor.scope, user.scope, user.bank)["done"]
    assert sorted(caller.facts(user.scope)) == ["I keep bees", "I sail"]
    assert caller.facts(visitor.scope) == []
    user.flush(said("I ski.", "e2"))
    assert sorted(caller.facts(user.scope)) == ["I keep bees", "I sail", "I ski"]


def test_a_deletion_outlives_a_move(caller: Caller) -> None:
    """What was deleted before is not brought back by its events, also when their ids are not known any more."""
    old, new = caller.stream(name="s"), caller.stream(name="s")
    old.flush(said("I keep bees.", "e1"))
    [memory] = caller.memories(old.scope)
    caller.delete(memory["name"])
    moved(caller, old.scope, new.scope, old.bank)
    caller.advance(hours=24 * 100)
    new.flush(said("I keep bees.", "e1"))
    old.flush(said("I keep bees.", "e1"))
    assert caller.facts(new.scope) == caller.facts(old.scope) == []


def test_the_past_and_the_feed_move_along(caller: Caller) -> None:
    """What was true at a time is asked of the target, and each scope's feed tells of the move."""
    old, new = caller.stream(), caller.stream()
    old.flush(said("I live in Graz", at="2020-03-02T12:00:00Z"))
    caller.advance(seconds=60)
    old.flush(said("I live in Linz", at="2020-03-09T12:00:00Z"))
    moved(caller, old.scope, new.scope, old.bank)
    for scope, facts in ((new.scope, ["I live in Graz"]), (old.scope, [])):
        reply = caller.post(f"{old.bank}/memories:retrieve", {"scope": scope, "asOf": "2020-03-05T12:00:00Z"})
        assert [row["memory"]["fact"] for row in reply["retrievedMemories"]] == facts
    for scope, kind in ((new.scope, "MOVED"), (old.scope, "MOVED_AWAY")):
        query = {"filter": f'scope="{{\\"user_id\\": \\"{scope["user_id"]}\\"}}" AND kind="{kind}"'}
        [change] = caller.get(f"{old.bank}/changes", params=query)["changes"]
        assert (change["scope"], change["memory"]) == (scope, caller.memories(new.scope)[0]["name"])


def test_a_move_of_nothing(caller: Caller) -> None:
    """A scope that has nothing is moved at once, each time anew."""
    old, new = caller.stream(), caller.stream()
    first, second = (moved(caller, old.scope, new.scope, old.bank) for _ in range(2))
    assert first["response"]["moved"] == second["response"]["moved"] == {}
    assert first["name"] != second["name"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"scope": {"user_id": "a"}}, "targetScope"),
        ({"targetScope": {"user_id": "a"}}, "scope"),
        ({"scope": {"user_id": "a"}, "targetScope": {"user_id": "a"}}, "targetScope"),
        ({"scope": {"user_id": "a"}, "targetScope": {}}, "targetScope"),
        ({"scope": {"user_id": "a"}, "target_scope": {"user_id": "*"}}, "target_scope.user_id"),
        ({"scope": {"user_id": "a"}, "targetScope": {"user_id": "b"}, "dryRun": "yes"}, "dryRun"),
        ({"scope": {"user_id": "a"}, "targetScope": {"user_id": "b"}, "force": True}, "force"),
    ],
)
def test_a_refusal_names_the_field(caller: Caller, body: Document, field: str) -> None:
    """A body that does not say which two scopes is refused."""
    refusal = caller.post(f"{caller.stream().bank}:moveScope", body, status=400)
    assert refusal["error"]["details"][0]["fieldViolations"][0]["field"] == field
