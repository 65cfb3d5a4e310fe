"""What happened to an event: from its id to its memory and back, and why the model was not shown it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.journeys.caller import Caller, Document, Stream, said

BEES, FACT, SAIL = "I keep bees.", "I keep bees", "I like sailing."
TOOL = {"functionCall": {"name": "lookup", "args": {}}}
CALL = {"event_id": "call", "content": {"role": "model", "parts": [TOOL]}}


def find(caller: Caller, stream: Stream, *event_ids: str) -> list[Document]:
    body = {"scope": stream.scope, "streamId": stream.name, "eventIds": list(event_ids)}
    found: list[Document] = caller.post(f"{stream.bank}/streams:findEvents", body)["events"]
    return found


def detail(caller: Caller, operation: Document) -> Document:
    """Return the details of a window, which are the same under the names of its ingest and of its generation."""
    full = caller.get(operation["name"], params={"view": "FULL"})
    shown: Document = full.pop("detail")
    assert full == caller.get(operation["name"])
    generation = operation["metadata"].get("generateMemoriesOperation")
    if generation:
        assert caller.get(generation, params={"view": "FULL"})["detail"] == shown
    return shown


def test_an_event_leads_to_its_memory_and_back(caller: Caller) -> None:
    """An event names its memory and its verdict; the memory names the event, and no other; so does its candidate."""
    stream = caller.stream()
    done = stream.flush(said(BEES, "bees"), said(SAIL, "sail"), CALL)
    bees, sail, call = find(caller, stream, "bees", "sail", "call")
    [name] = bees["memories"]
    memory = caller.get(name)
    assert memory["fact"] == FACT
    assert [(verdict["fact"], verdict["verdict"], verdict["memory"]) for verdict in bees["verdicts"]] == [
        (FACT, "CREATED", name)
    ]
    assert memory["sources"] == [{"operation": bees["operation"], "sequences": [1], "eventIds": ["bees"]}]
    assert sail["memories"] != bees["memories"]
    assert not {"memories", "verdicts", "forgotten", "omittedVerdicts"} & call.keys()
    full = detail(caller, done)
    assert (full["scope"], full["streamId"]) == (stream.scope, "default")
    [candidate] = [one for one in full["candidates"] if one["events"][0]["eventId"] == "bees"]
    assert (candidate["fact"], candidate["number"]) == (FACT, 1)
    assert candidate["events"] == [{"sequence": 1, "eventId": "bees"}]
    assert candidate["verdicts"][0]["memory"] == name


def test_a_restated_memory_names_the_events_of_both_windows(caller: Caller) -> None:
    """The second event leads to the memory that the first one made, and the memory was offered to the model."""
    stream = caller.stream()
    stream.flush(said(BEES, "first"))
    again = stream.flush(said(BEES, "second"))
    first, second = find(caller, stream, "first", "second")
    assert first["memories"] == second["memories"]
    assert [one["verdict"] for one in first["verdicts"] + second["verdicts"]] == ["CREATED", "UPDATED"]
    sources = caller.get(second["memories"][0])["sources"]
    assert [one["eventIds"] for one in sources] == [["first"], ["second"]]
    assert detail(caller, again)["offeredMemories"] == first["memories"]
    listed = caller.get(f"{stream.bank}/memories", params={"filter": f'scope.user_id="{stream.scope["user_id"]}"'})
    assert all("eventIds" not in source for one in listed["memories"] for source in one["sources"])


def test_coverage_counts_what_the_model_was_shown(caller: Caller) -> None:
    """A tool call and a blank event are counted by their reasons, and marked in the details, in the order of time."""
    stream = caller.stream()
    blank, late = said(" ", "blank"), said(BEES, "bees", at="2026-01-02T00:00:00Z")
    done = stream.flush(late, said(SAIL, "sail", at="2026-01-01T00:00:00Z"), CALL, blank)
    assert done["metadata"]["coverage"] == {"events": 4, "covered": 2, "notCovered": {"BLANK": 1, "TOOL": 1}}
    events = detail(caller, done)["events"]
    shown = {one["eventId"]: one.get("notShown") for one in events}
    assert shown == {"bees": None, "sail": None, "call": "TOOL", "blank": "BLANK"}
    assert [one["eventId"] for one in events[:2]] == ["sail", "bees"]
    assert {one["eventId"]: one["content"]["parts"] for one in events}["call"] == [TOOL]


def test_a_window_of_tool_calls_covers_nothing(caller: Caller) -> None:
    """A window without anything to read is done, and says why."""
    done = caller.stream().flush(CALL)
    assert done["metadata"]["coverage"] == {"events": 1, "covered": 0, "notCovered": {"TOOL": 1}}
    assert detail(caller, done)["candidates"] == []


def test_an_open_window_has_events_only(caller: Caller) -> None:
    """Before its generation an event has neither verdicts nor memories, and no reason."""
    stream = caller.stream()
    sent = stream.send(said(BEES, "bees"), CALL, rule={"event_count": 9})
    assert [one.keys() for one in find(caller, stream, "bees")] == [{"eventId", "state", "sequence", "operation"}]
    shown = detail(caller, sent)
    assert [one["eventId"] for one in shown["events"]] == ["bees", "call"]
    assert all("notShown" not in one for one in shown["events"])
    assert shown["candidates"] == []


@pytest.mark.parametrize("view", ["full", "", "ALL", "BASIC,FULL"])
def test_other_views_are_refused(caller: Caller, view: str) -> None:
    """A view is BASIC, as without one, or FULL; the refusal of any other names both."""
    done = caller.stream().flush(said("Hm."))
    refusal = caller.get(done["name"], params={"view": view}, status=400)["error"]
    assert "BASIC or FULL" in refusal["message"]
    assert caller.get(done["name"], params={"view": "BASIC"}) == caller.get(done["name"])


def test_operations_without_a_window_have_no_details(caller: Caller) -> None:
    """Window 0, and an operation that is no window's, are as they were."""
    empty = caller.stream().send(rule={"event_count": 2})
    purge = f"{caller.bank()}/operations/purge"
    for name in (empty["name"], purge):
        assert caller.get(name, params={"view": "FULL"}) == caller.get(name)


def test_a_stated_fact_is_a_candidate_without_events(caller: Caller) -> None:
    """The generation of a fact that a caller states has no events, and one candidate with its memory."""
    stream = caller.stream()
    source = {"directMemoriesSource": {"direct_memories": [{"fact": BEES}]}}
    sent = caller.post(f"{stream.bank}/memories:generate", {"scope": stream.scope, **source})
    caller.settle()
    shown = detail(caller, sent)
    [memory] = caller.memories(stream.scope)
    [candidate] = shown["candidates"]
    assert (shown["events"], candidate["events"], candidate["fact"]) == ([], [], BEES)
    assert [one["memory"] for one in candidate["verdicts"]] == [memory["name"]]


def test_what_a_deleted_memory_cited_is_not_shown(caller: Caller) -> None:
    """A deletion hides event and candidate, and nothing else; a rollback shows them again."""
    stream = caller.stream()
    done = stream.flush(said(BEES, "bees"), said(SAIL, "sail"))
    before = detail(caller, done)
    [name] = find(caller, stream, "bees")[0]["memories"]
    caller.delete(name)
    bees, sail = find(caller, stream, "bees", "sail")
    assert (bees["forgotten"], bees["state"], sail.get("forgotten")) == (True, "DONE", None)
    assert not {"memories", "verdicts"} & bees.keys()
    assert sail["memories"]
    shown = detail(caller, done)
    assert "bees" not in json.dumps(shown)
    assert (shown["forgottenEvents"], shown["forgottenCandidates"]) == (1, 1)
    assert [one["eventId"] for one in shown["events"]] == ["sail"]
    caller.post(f"{name}:rollback", {"targetRevisionId": "1"})
    assert detail(caller, done) == before


def test_an_erasure_leaves_no_details(caller: Caller) -> None:
    """After an erasure the events of a window are missing, whether it was generated or not, and nothing is quoted."""
    stream = caller.stream()
    done, opened = stream.flush(said(BEES, "bees")), stream.send(said(SAIL, "sail"), rule={"event_count": 9})
    caller.post(f"{stream.bank}:eraseScope", {"scope": stream.scope})
    caller.settle()
    for operation in (done, opened):
        shown: Any = detail(caller, caller.get(operation["name"]))
        names = {"scope": stream.scope, "streamId": "default"}
        assert shown == {**names, "events": [], "missingEvents": 1, "candidates": [], "offeredMemories": []}
    assert not {"memories", "verdicts"} & find(caller, stream, "bees")[0].keys()
