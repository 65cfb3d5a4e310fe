"""The change feed over HTTP: what happened to memories, in order, to the last page and beyond."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.journeys.caller import Caller, Document, said


def named(scope: dict[str, str]) -> str:
    """Return the filter for a scope."""
    [(key, value)] = scope.items()
    return 'scope="{\\"' + key + '\\": \\"' + value + '\\"}"'


def page(caller: Caller, bank: str, token: str = "", **query: Any) -> tuple[list[Document], str]:
    """Return a page and its token, which every page has."""
    reply = caller.get(f"{bank}/changes", params={**query, **({"pageToken": token} if token else {})})
    return reply["changes"], reply["nextPageToken"]


def told(caller: Caller, bank: str, token: str = "", **query: Any) -> Iterator[Document]:
    """Yield all changes up to a page that is empty."""
    while True:
        changes, token = page(caller, bank, token, **query)
        yield from changes
        if not changes:
            return


def kinds(changes: Iterator[Document]) -> list[tuple[str, str]]:
    """Return the kind of each change with the last part of the memory's name."""
    return [(one["kind"], one.get("memory", "").rsplit("/", 1)[-1]) for one in changes]


def made(caller: Caller, bank: str, scope: dict[str, str], name: str, fact: str = "Has bees.") -> str:
    """Create a memory and return its name."""
    reply = caller.post(f"{bank}/memories", {"scope": scope, "fact": fact}, params={"memoryId": name})
    created: str = reply["response"]["name"]
    return created


@pytest.mark.parametrize("by_scope", [True, False])
def test_each_change_is_told_in_order(caller: Caller, by_scope: bool) -> None:
    """Creation, update, deletion and rollback are told in their order, of a scope and of the bank alike."""
    bank, scope = caller.bank(), caller.scope()
    query = {"filter": named(scope)} if by_scope else {}
    name = made(caller, bank, scope, "m1")
    caller.call("PATCH", name, {"fact": "Has hens."})
    caller.delete(name)
    caller.post(f"{name}:rollback", {"targetRevisionId": "1"})
    changes = list(told(caller, bank, **query))
    assert [one["kind"] for one in changes] == ["CREATED", "UPDATED", "DELETED", "RESTORED"]
    assert {one["memory"] for one in changes} == {name}
    assert all(one["scope"] == scope for one in changes)
    assert [one["revision"].rsplit("/", 1)[-1] for one in changes] == ["1", "2", "3", "4"]
    assert [one["changeTime"] for one in changes] == sorted(one["changeTime"] for one in changes)
    assert len({one["id"] for one in changes}) == 4


def test_the_last_token_waits_for_what_comes(caller: Caller) -> None:
    """A page that is empty has a token, with which a reader goes on: it is told each new change once."""
    bank, scope = caller.bank(), caller.scope()
    changes, token = page(caller, bank)
    assert changes == []
    for number in range(3):
        made(caller, bank, scope, f"m{number}")
        changes, token = page(caller, bank, token)
        assert kinds(iter(changes)) == [("CREATED", f"m{number}")]
        assert page(caller, bank, token)[0] == []
    caller.pass_unseen(days=100)
    assert page(caller, bank, token)[0] == [], "the token is good for as long as revisions are"


def test_a_generation_tells_its_operation(caller: Caller) -> None:
    """A change that a window made names the operation that the ingest returned."""
    stream = caller.stream()
    done = stream.flush(said("I play the oboe.", "e1"), said("I keep bees.", "e2"))
    changes = list(told(caller, stream.bank, filter=named(stream.scope)))
    assert [one["kind"] for one in changes] == ["CREATED", "CREATED"]
    assert {one["operation"] for one in changes} == {done["name"]}
    assert {one["memory"] for one in changes} == {one["name"] for one in caller.memories(stream.scope)}
    stream.flush(said("I keep bees.", "e3"))
    assert [one["kind"] for one in told(caller, stream.bank, filter=named(stream.scope))][:2] == ["CREATED"] * 2


@pytest.mark.parametrize("size", [1, 7, 100])
def test_pages_of_any_size_tell_the_same(caller: Caller, size: int) -> None:
    """A purge writes many changes in one transaction; pages cut through it, and nothing is told twice."""
    bank, scopes = caller.bank(), [caller.scope() for _ in range(2)]
    for scope in scopes:
        requests = [{"memory": {"scope": scope, "fact": f"Has {n} bees."}} for n in range(5)]
        caller.post(f"{bank}/memories:batchCreate", {"requests": requests})
    caller.post(f"{bank}/memories:purge", {"filter": 'fact="Has 0 bees." OR fact:"bees"', "force": True})
    changes = list(told(caller, bank, pageSize=size))
    assert Counter(one["kind"] for one in changes) == {"CREATED": 10, "DELETED": 10}
    assert len({one["id"] for one in changes}) == 20
    mine = list(told(caller, bank, pageSize=size, filter=named(scopes[0])))
    assert [one["id"] for one in changes if one["scope"] == scopes[0]] == [one["id"] for one in mine]


def test_a_filter_selects_kinds_and_times(caller: Caller) -> None:
    """A filter over kinds, times and parts of scopes selects; one over anything else is refused by its column."""
    bank, scope = caller.bank(), caller.scope()
    made(caller, bank, scope, "m1")
    caller.pass_unseen(hours=1)
    caller.delete(made(caller, bank, scope, "m2"))
    deleted = list(told(caller, bank, filter='kind="DELETED"'))
    assert kinds(iter(deleted)) == [("DELETED", "m2")]
    later = f'change_time>="{deleted[0]["changeTime"]}" AND scope.user_id="{scope["user_id"]}"'
    assert ("DELETED", "m2") in kinds(told(caller, bank, filter=later))
    assert ("CREATED", "m1") not in kinds(told(caller, bank, filter=later))
    refused = caller.call("GET", f"{bank}/changes", params={"filter": 'fact="x"'}, status=400)
    assert refused["error"]["details"][0]["fieldViolations"][0]["field"] == "filter"
    assert caller.call("GET", f"{bank}/changes", params={"pageSize": 1001}, status=400)
    _, token = page(caller, bank)
    other = {"pageToken": token, "filter": named(scope)}
    assert caller.call("GET", f"{bank}/changes", params=other, status=400), "a token belongs to its filter"


def test_an_erasure_is_told_without_what_it_erased(caller: Caller) -> None:
    """The changes of a scope go with it, and one is left: when it was erased, without memory, revision or operation."""
    bank, scope, other = caller.bank(), caller.scope(), caller.scope()
    made(caller, bank, scope, "m1")
    made(caller, bank, other, "m2")
    _, token = page(caller, bank)
    caller.post(f"{bank}:eraseScope", {"scope": scope})
    [erased], _ = page(caller, bank, token)
    assert erased.keys() == {"id", "changeTime", "kind", "scope"}
    assert (erased["kind"], erased["scope"]) == ("ERASED", scope)
    assert kinds(told(caller, bank)) == [("CREATED", "m2"), ("ERASED", "")]
    made(caller, bank, scope, "m3")
    assert kinds(told(caller, bank, filter=named(scope))) == [("ERASED", ""), ("CREATED", "m3")]


def test_an_import_tells_what_it_wrote(caller: Caller) -> None:
    """Memories that an import brings are created, and those that it finds as they are make no change."""
    bank, target, scope = caller.bank(), caller.bank(), caller.scope()
    for number in range(3):
        made(caller, bank, scope, f"m{number}", f"Has {number} bees.")
    source = caller.post(f"{bank}:export", {})["response"]["source"]
    for _ in range(2):
        assert caller.post(f"{target}:import", {"source": source})["done"]
        assert Counter(kinds(told(caller, target))) == {("CREATED", f"m{number}"): 1 for number in range(3)}
