"""One retrieval from several scopes: one ranking, in which each result says its scope."""

from __future__ import annotations

from typing import Any

import pytest

from tests.journeys.caller import DEFAULT_BANK, Caller, said

RETRIEVE = f"{DEFAULT_BANK}/memories:retrieve"
FACTS = ("I keep bees in the garden", "I keep hens", "The team meets on Friday")


@pytest.fixture
def scopes(caller: Caller) -> list[dict[str, str]]:
    """Three scopes, each with a fact that is stated and a turn that waits for its generation."""
    made = [caller.scope() for _ in FACTS]
    for number, (scope, fact) in enumerate(zip(made, FACTS, strict=True)):
        caller.post(f"{DEFAULT_BANK}/memories", {"scope": scope, "fact": fact})
        caller.stream(scope).send(said(f"Honey is for sale in shop {number}.", f"e{number}"), rule={"event_count": 9})
    return made


def rows(found: dict[str, Any]) -> list[tuple[str, dict[str, str]]]:
    return [(one["memory"]["fact"], one["memory"]["scope"]) for one in found["retrievedMemories"]]


def searched(query: str, **more: Any) -> dict[str, Any]:
    return {"similaritySearchParams": {"searchQuery": query, "topK": 10, **more}}


def test_scopes_are_one_ranking(caller: Caller, scopes: list[dict[str, str]]) -> None:
    """The nearest memory of all scopes is first; what is in no named scope is not there."""
    found = caller.post(RETRIEVE, {"scopes": scopes[:2], **searched("bees in the garden")})
    assert rows(found) == [(FACTS[0], scopes[0]), (FACTS[1], scopes[1])]
    distances = [one["distance"] for one in found["retrievedMemories"]]
    assert distances == sorted(distances)
    turned = caller.post(RETRIEVE, {"scopes": scopes[1::-1], **searched("bees in the garden")})
    assert turned == found


def test_one_scope_in_a_list_is_that_scope(caller: Caller, scopes: list[dict[str, str]]) -> None:
    """Every form of a retrieval has the same reply for `scope` and for `scopes` with it alone."""
    explained = searched("honey", includeEvents=True, includePending=True, explain=True)
    for more in ({}, searched("bees"), explained, {"filter": 'fact:"bees"'}):
        alone = caller.post(RETRIEVE, {"scope": scopes[0], **more})
        assert caller.post(RETRIEVE, {"scopes": scopes[:1], **more}) == alone


def test_words_are_weighed_over_all_scopes(caller: Caller, scopes: list[dict[str, str]]) -> None:
    """The shares of words are those of the same memories in one scope: one statistic, not one for each scope."""
    together = caller.scope()
    for fact in FACTS:
        caller.post(f"{DEFAULT_BANK}/memories", {"scope": together, "fact": fact})
    shares = [
        {
            one["memory"]["fact"]: one["explanation"].get("wordShare")
            for one in caller.post(RETRIEVE, {**where, **searched("keep bees", explain=True)})["retrievedMemories"]
        }
        for where in ({"scopes": scopes}, {"scope": together})
    ]
    assert shares[0] == shares[1]
    assert shares[0][FACTS[0]] > shares[0][FACTS[1]] > 0


def test_raw_events_say_their_scope(caller: Caller, scopes: list[dict[str, str]]) -> None:
    """Events of all scopes are in the ranking, each with its scope."""
    found = caller.post(RETRIEVE, {"scopes": scopes, **searched("honey for sale", includePending=True)})
    events = {one["event"]["eventId"]: one["scope"] for one in found["retrievedEvents"]}
    assert events == {f"e{number}": scope for number, scope in enumerate(scopes)}


def test_pages_go_through_all_scopes(caller: Caller, scopes: list[dict[str, str]]) -> None:
    """Page by page each memory comes once, newest first; a token is of these scopes in this order."""
    token, seen = "", list[tuple[str, dict[str, str]]]()
    while True:
        params = {"pageSize": 1, "pageToken": token}
        found = caller.post(RETRIEVE, {"scopes": scopes, "simpleRetrievalParams": params})
        seen += rows(found)
        if "nextPageToken" not in found:
            break
        token = found["nextPageToken"]
    assert [fact for fact, _ in seen] == [*reversed(FACTS)]
    params = {"pageSize": 1, "pageToken": token}
    caller.call("POST", RETRIEVE, {"scopes": scopes[:2], "simpleRetrievalParams": params}, status=400)


def test_a_filter_narrows_all_scopes(caller: Caller, scopes: list[dict[str, str]]) -> None:
    """With a filter, and with none, the memories of all scopes are there, newest first."""
    found = caller.post(RETRIEVE, {"scopes": scopes, "filter": 'fact:"keep"'})
    assert rows(found) == [(FACTS[1], scopes[1]), (FACTS[0], scopes[0])]
    assert rows(caller.post(RETRIEVE, {"scopes": scopes})) == list(zip(FACTS, scopes, strict=True))[::-1]


ONE = {"user_id": "1"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "scope"),
        ({"scope": ONE, "scopes": [ONE]}, "scope"),
        ({"scopes": []}, "scopes"),
        ({"scopes": [{"user_id": str(number)} for number in range(6)]}, "scopes"),
        ({"scopes": [ONE, {"user_id": "2"}, dict(ONE)]}, "scopes[2]"),
        ({"scopes": [ONE, {"user_id": "*"}]}, "scopes[1].user_id"),
    ],
)
def test_scopes_are_checked(caller: Caller, body: dict[str, Any], field: str) -> None:
    """One to five distinct scopes, or one scope, and not both; the refusal names the field."""
    refused = caller.call("POST", RETRIEVE, body, status=400)
    assert refused["error"]["details"][0]["fieldViolations"][0]["field"] == field
