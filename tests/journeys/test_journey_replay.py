"""A configuration is tried on windows that were generated, before it is changed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.journeys.caller import Caller, said

NOTHING = {"promptCustomization": {"disableNaturalLanguageMemories": True}}
EXAMPLE = {
    "conversationSource": {"events": [{"content": {"role": "user", "parts": [{"text": "I own <pet>."}]}}]},
    "generatedMemories": [{"fact": "I own <pet>."}],
}


def done(caller: Caller, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Start a replay, wait for it, and return its operation."""
    begun = caller.post(path, body)
    assert begun["done"] is False
    assert begun["metadata"]["state"] == "REPLAYING"
    caller.settle()
    return caller.get(begun["name"])


def test_a_window_is_replayed_as_it_was(caller: Caller) -> None:
    """An empty body gives the recorded verdicts again, with the cost and the model of both; nothing changes."""
    stream = caller.stream(bank=caller.bank())
    stream.flush(said("I live in Linz.", "e1"))
    name = stream.flush(said("I moved to Graz.", "e2"))["name"]
    before = caller.memories(stream.scope, stream.bank)
    replayed = done(caller, f"{name}:replay", {})
    response = replayed["response"]
    assert (replayed["done"], response["operation"], response["memoriesFrom"]) == (True, name, "BEFORE_WINDOW")
    recorded, again = response["recorded"], response["replayed"]
    assert [(one["fact"], one["verdict"], one.get("text")) for one in recorded] == [
        (one["fact"], one["verdict"], one.get("text")) for one in again
    ]
    assert recorded[0]["memory"] == again[0]["memory"] == before[0]["name"]
    assert recorded[0]["text"] == before[0]["fact"]
    assert response["recordedCost"] == response["replayedCost"]
    assert response["recordedCost"]["model"]
    assert caller.memories(stream.scope, stream.bank) == before


@pytest.mark.parametrize("suffix", ["", "-g"])
def test_a_configuration_is_tried(caller: Caller, suffix: str) -> None:
    """By the operation of an ingest and of its generation; each may bring topics and examples of its own."""
    stream = caller.stream(bank=caller.bank())
    name = stream.flush(said("I keep bees.", "e1"))["name"]
    response = done(caller, f"{name}{suffix}:replay", NOTHING)["response"]
    assert (len(response["recorded"]), response["replayed"]) == (1, [])
    topics = [{"customMemoryTopic": {"label": "hens", "description": "All about hens."}}]
    body = {"memory_topics": topics, "generate_memories_examples": [EXAMPLE]}
    assert done(caller, f"{name}{suffix}:replay", body)["response"]["replayedCost"]["inputTokens"] >= 0


def test_a_bank_is_replayed(caller: Caller) -> None:
    """The summary counts the verdicts of both answers and names the windows that differ; a scope has its own."""
    bank = caller.bank()
    streams = [caller.stream(bank=bank) for _ in range(2)]
    names = [stream.flush(said(f"I keep {number} bees", "e1"))["name"] for number, stream in enumerate(streams)]
    same = done(caller, f"{bank}:replay", {"windows": 10})["response"]["summary"]
    assert (same["replayed"], same["different"], same["recordedVerdicts"]) == (2, 0, {"CREATED": 2})
    assert same["differences"] == []
    other = done(caller, f"{bank}:replay", {"windows": 10, "scope": streams[0].scope} | NOTHING)
    summary = other["response"]["summary"]
    assert (summary["replayed"], summary["different"], summary["onlyRecordedFacts"]) == (1, 1, 1)
    assert summary["replayedVerdicts"] == {}
    assert summary["differences"] == [
        {"operation": names[0], "differingVerdicts": 1, "onlyRecorded": ["I keep 0 bees"], "onlyReplayed": []}
    ]


def test_an_erased_scope_is_in_no_replay(caller: Caller) -> None:
    """What was said in it is gone from the replay of its window and from that of its bank."""
    bank = caller.bank()
    stream = caller.stream(bank=bank)
    name = stream.flush(said("I keep bees.", "e1"))["name"]
    of_window = done(caller, f"{name}:replay", {})["name"]
    of_bank = done(caller, f"{bank}:replay", {"windows": 1} | NOTHING)["name"]
    caller.post(f"{bank}:eraseScope", {"scope": stream.scope})
    caller.call("GET", of_window, status=404)
    assert "bees" not in str(caller.get(of_bank))
    caller.call("POST", f"{name}:replay", {}, status=400)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"model": 1}, "model"),
        ({"prompt": "x"}, "prompt"),
        ({"memoryTopics": [{}]}, "memoryTopics[0]"),
        ({"promptCustomization": {"scopeKeys": ["user_id"]}}, "promptCustomization.scopeKeys"),
        ({"promptCustomization": {}, "memoryTopics": []}, "promptCustomization"),
    ],
)
def test_a_request_is_checked(caller: Caller, body: dict[str, Any], field: str) -> None:
    """What a field may not hold is refused by the field's name, before anything is started."""
    name = caller.stream().flush(said("I keep bees.", "e1"))["name"]
    refused = caller.call("POST", f"{name}:replay", body, status=400)
    assert refused["error"]["details"][0]["fieldViolations"][0]["field"] == field


@pytest.mark.parametrize("windows", [None, 0, 1_001, "many"])
def test_the_number_of_windows_is_checked(caller: Caller, windows: Any) -> None:
    """A bank's replay is of 1 to 1,000 windows."""
    body = {} if windows is None else {"windows": windows}
    refused = caller.call("POST", f"{caller.bank()}:replay", body, status=400)
    assert refused["error"]["details"][0]["fieldViolations"][0]["field"] == "windows"
