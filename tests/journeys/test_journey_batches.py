"""Many memories in one call: each is created, changed or deleted by itself, and has its own result."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.journeys.caller import DEFAULT_BANK, VERSION, Caller, Document

BATCH = f"{DEFAULT_BANK}/memories:batch"


def batch(caller: Caller, action: str, key: str | None = None, **body: Any) -> list[Document]:
    headers = {"X-Idempotency-Key": key} if key else {}
    reply = caller.client.post(f"{VERSION}/{BATCH}{action}", json=body, headers=headers)
    assert reply.status_code == 200, reply.text
    results: list[Document] = reply.json()["results"]
    return results


def new(scope: dict[str, str], fact: Any, **more: Any) -> Document:
    return {"memory": {"scope": scope, "fact": fact}, **more}


def test_a_hundred_memories_are_created_changed_and_deleted(caller: Caller) -> None:
    """A hundred requests have a hundred results in their order, and the memories are as they say."""
    scope = caller.scope()
    made = batch(caller, "Create", requests=[new(scope, f"Has {number} bees.") for number in range(100)])
    names = [one["memory"]["name"] for one in made]
    assert [one["memory"]["fact"] for one in made] == [f"Has {number} bees." for number in range(100)]
    requests = [{"memory": {"name": name, "fact": "Has hens."}} for name in names[:2]]
    assert [one["memory"]["fact"] for one in batch(caller, "Update", requests=requests)] == ["Has hens."] * 2
    assert [row["fact"] for row in caller.revisions(caller.get(names[0]))] == ["Has hens.", "Has 0 bees."]
    assert batch(caller, "Delete", names=names[1:]) == [{"name": name} for name in names[1:]]
    assert caller.facts(scope) == ["Has hens."]
    assert "error" in batch(caller, "Delete", names=[names[1]])[0], "it is deleted already"


def test_a_wrong_request_costs_itself_alone(caller: Caller) -> None:
    """Requests that are no objects, lack a field, name others' things or nothing have errors; their neighbours work."""
    scope = caller.scope()
    requests = [
        new(scope, "Has bees."),
        new(scope, ""),
        new({}, "Has bees."),
        "nothing",
        {"memory": {"scope": scope}},
        new(scope, "Has hens.", memoryId="Not An Id"),
        new(scope, "Has hens.", surprise=1),
        new(scope, "Has cats.", memoryId=f"m{uuid.uuid4()}"),
    ]
    results = batch(caller, "Create", requests=requests)
    assert [one.get("error", {}).get("code") for one in results] == [None, *[400] * 6, None]
    fields = [one["error"]["details"][0]["fieldViolations"][0]["field"] for one in results[1:5]]
    assert fields == ["requests[1].memory.fact", "requests[2].memory.scope", "requests[3]", "requests[4].memory.fact"]
    assert sorted(caller.facts(scope)) == ["Has bees.", "Has cats."]


def test_a_name_of_anything_else_changes_nothing(caller: Caller) -> None:
    """Names of other banks, of revisions and sessions, and ids that do not exist are refused, each by itself."""
    [made] = batch(caller, "Create", requests=[new(caller.scope(), "Has bees.")])
    name, identifier = made["memory"]["name"], made["memory"]["name"].rsplit("/", 1)[1]
    other = name.replace("/default/", "/another/")
    wrong = [other, f"{name}/revisions/1", f"sessions/{identifier}", "", None, 7, "x" * 2_000, "a" * 300, "none", "/"]
    deleted = batch(caller, "Delete", names=wrong)
    requests = [{"memory": {"name": name, "fact": "Poison."}} for name in wrong]
    changed = batch(caller, "Update", requests=requests)
    for results in (deleted, changed):
        assert [one["error"]["code"] for one in results] == [*[400] * 8, 404, 400]
    assert caller.get(name)["fact"] == "Has bees."
    both = [f"memories/{identifier}", identifier]
    assert [one.get("error", {}).get("code") for one in batch(caller, "Delete", names=both)] == [None, 404]


def test_the_size_of_a_batch_is_checked(caller: Caller) -> None:
    """No request, more than a hundred, or no list are refused as a whole."""
    one = new(caller.scope(), "Has bees.")
    for action, field in (("Create", "requests"), ("Update", "requests"), ("Delete", "names")):
        for value in ([], [one] * 101, one, None):
            caller.post(f"{BATCH}{action}", {field: value}, status=400)


def test_a_batch_that_is_sent_again_creates_nothing_twice(caller: Caller) -> None:
    """Under one idempotency key each request counts once at its place, also from eight threads; another body is 409."""
    scope, key = caller.scope(), str(uuid.uuid4())
    requests = [new(scope, f"Has {number} bees.") for number in range(3)]
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: batch(caller, "Create", key, requests=requests), range(8)))
    again = batch(caller, "Create", key, requests=requests)
    done = [[one["memory"]["name"] for one in reply] for reply in replies if not any("error" in one for one in reply)]
    assert {tuple(names) for names in [*done, [one["memory"]["name"] for one in again]]} == {
        tuple(one["memory"]["name"] for one in again)
    }
    assert len(caller.facts(scope)) == 3
    changed = batch(caller, "Create", key, requests=[requests[1], requests[1]])
    assert [one.get("error", {}).get("code") for one in changed] == [409, None]
