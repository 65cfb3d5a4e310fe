"""A scope with more than 500 memories, over HTTP: its index is built, searched, kept up and let go."""

from typing import Any

import pytest

from streambank.model import ids
from streambank.store import keys
from tests.journeys.caller import DEFAULT_BANK, Caller

MEMORIES = f"{DEFAULT_BANK}/memories"


def add(caller: Caller, scope: dict[str, str], *facts: str) -> list[str]:
    names = []
    for first in range(0, len(facts), 100):
        requests = [{"memory": {"scope": scope, "fact": fact}} for fact in facts[first : first + 100]]
        results = caller.post(f"{MEMORIES}:batchCreate", {"requests": requests})["results"]
        names += [one["memory"]["name"] for one in results]
    return names


def items(caller: Caller, scope: dict[str, str]) -> dict[str, Any]:
    """Return what the table holds of the index of a scope, by sort key."""
    stored = caller.items(keys.scope("default", ids.scope_id(scope)))
    return {one["SK"]["S"]: one for one in stored if one["SK"]["S"].startswith(("INDEX", "Y#", "YP#"))}


def state(caller: Caller, scope: dict[str, str]) -> str | None:
    stored = items(caller, scope)
    return stored["INDEX"]["st"]["S"] if "INDEX" in stored else None


@pytest.mark.slow
def test_a_large_scope_is_searched_by_its_index(caller):
    """Above 500 memories a search starts the index; what is new, changed or deleted afterwards shows at once."""
    scope = caller.scope()
    names = add(caller, scope, *(f"The user read book number {number}" for number in range(501)))
    assert state(caller, scope) is None
    assert caller.find(scope, "book number 77", 1) == ["The user read book number 77"]
    assert state(caller, scope) == "BUILDING"
    caller.recover()
    caller.advance(minutes=6)
    assert state(caller, scope) == "READY"
    assert caller.find(scope, "book number 77", 1) == ["The user read book number 77"]

    caller.delete(names[77])
    add(caller, scope, "The user plays the cello")
    caller.call("PATCH", names[78], {"fact": "The user burnt a book"}, params={"updateMask": "fact"})
    assert caller.find(scope, "cello", 1) == ["The user plays the cello"]
    assert caller.find(scope, "burnt", 1) == ["The user burnt a book"]
    assert "The user read book number 77" not in caller.find(scope, "book number 77", 100)

    stream = caller.stream(scope)
    stream.flush({"content": {"role": "user", "parts": [{"text": "I live in Linz"}]}})
    assert any("Linz" in fact for fact in caller.find(scope, "Linz", 3))

    reply = caller.client.post(
        f"/v1beta1/{DEFAULT_BANK}/memories:retrieve",
        json={
            "scope": scope,
            "filter": 'fact="The user read book number 500"',
            "similaritySearchParams": {"searchQuery": "cello"},
        },
    )
    assert [one["memory"]["fact"] for one in reply.json()["retrievedMemories"]] == ["The user read book number 500"]
    assert "x-streambank-memories-looked-at" not in reply.headers

    caller.post(f"{DEFAULT_BANK}:eraseScope", {"scope": scope})
    assert items(caller, scope) == {}
