"""Rules of the contract on events and generation that no other journey states: docs/conformance.md names them all."""

from __future__ import annotations

from typing import Any

import pytest

from tests.journeys.caller import DEFAULT_BANK, Caller, Document, said


def generated(caller: Caller, bank: str, **body: Any) -> list[Document]:
    """Generate, wait, and return what the operation says of memories."""
    sent = caller.post(f"{bank}/memories:generate", body)
    caller.settle()
    done = caller.get(sent["name"])
    assert done["done"], done
    made: list[Document] = done["response"]["generatedMemories"]
    return made


def talked(*texts: str) -> Document:
    return {"directContentsSource": {"events": [said(text) for text in texts]}}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_events_are_told_by_their_times(caller: Caller, order: tuple[int, int]) -> None:
    """Inside a window eventTime orders the events, not their arrival: the later statement holds."""
    told = [
        said("My favorite color is blue.", at="2026-01-01T00:00:00Z"),
        said("My favorite color is green.", at="2026-01-01T01:30:00+01:00"),
    ]
    stream = caller.stream()
    for place in order:
        stream.send(told[place], rule={"event_count": 10})
    stream.flush()
    [fact] = caller.facts(stream.scope)
    assert "green" in fact


def test_event_without_a_time_is_told_at_its_arrival(caller: Caller) -> None:
    """Without eventTime an event counts from its arrival: after what happened before, whatever came first."""
    stream = caller.stream()
    stream.send(said("My favorite color is blue."), rule={"event_count": 10})
    stream.send(said("My favorite color is green.", at="2026-01-01T00:00:00Z"))
    stream.flush()
    [fact] = caller.facts(stream.scope)
    assert "blue" in fact


@pytest.mark.parametrize(
    "part",
    [
        {"function_call": {"name": "note", "args": {"text": "I keep bees."}}},
        {"function_response": {"name": "note", "response": {"text": "I keep bees."}}},
        {"text": "I keep bees.", "thought": True},
    ],
    ids=["call", "response", "thought"],
)
def test_what_tools_say_is_not_mined(caller: Caller, part: Document) -> None:
    """Function calls, their responses and thoughts become no memory; the text beside them does."""
    bank, scope = caller.bank(), caller.scope()
    alone = {"directContentsSource": {"events": [{"content": {"role": "user", "parts": [part]}}]}}
    assert generated(caller, bank, scope=scope, **alone) == []
    beside = {"role": "user", "parts": [part, {"text": "I live in Graz."}]}
    assert len(generated(caller, bank, scope=scope, directContentsSource={"events": [{"content": beside}]})) == 1
    [fact] = caller.facts(scope, bank)
    assert "Graz" in fact


def test_generated_memory_carries_its_name_only(caller: Caller) -> None:
    """What a generation made is named, not shown; a revision before is told where there was one."""
    bank, scope = caller.bank(), caller.scope()
    [created] = generated(caller, bank, scope=scope, **talked("My favorite color is blue."))
    [updated] = generated(caller, bank, scope=scope, **talked("My favorite color is green."))
    [memory] = caller.memories(scope, bank)
    assert created == {"memory": {"name": memory["name"]}, "action": "CREATED"}
    assert updated.keys() == {"memory", "action", "previousRevision"}
    assert (updated["memory"], updated["action"]) == ({"name": memory["name"]}, "UPDATED")


def test_update_by_a_generation_is_taken_back(caller: Caller) -> None:
    """The revision that an UPDATED or DELETED memory names is one to roll back to."""
    bank, scope = caller.bank(), caller.scope()
    generated(caller, bank, scope=scope, **talked("My favorite color is blue."))
    [updated] = generated(caller, bank, scope=scope, **talked("My favorite color is green."))
    caller.post(f"{updated['memory']['name']}:rollback", {"target_revision_id": updated["previousRevision"]})
    [fact] = caller.facts(scope, bank)
    assert "blue" in fact
    [deleted] = generated(caller, bank, scope=scope, **talked("Please forget my favorite color."))
    assert deleted["action"] == "DELETED"
    assert caller.facts(scope, bank) == []
    caller.post(f"{deleted['memory']['name']}:rollback", {"targetRevisionId": deleted["previousRevision"]})
    assert caller.facts(scope, bank) == [fact]


def test_scope_of_a_generation_is_needed_but_for_a_session(caller: Caller) -> None:
    """Contents and stated memories are of a scope that the call names."""
    for source in (talked("Hm."), {"directMemoriesSource": {"direct_memories": [{"fact": "I like tea"}]}}):
        error = caller.post(f"{DEFAULT_BANK}/memories:generate", source, status=400)["error"]
        assert error["details"][0]["fieldViolations"][0]["field"] == "scope"
