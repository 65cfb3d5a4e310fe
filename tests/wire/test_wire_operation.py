import json
from dataclasses import replace

import pytest

from streambank.model.ids import OperationId
from streambank.model.operation import NextTrigger, Operation, OperationState, Receipt
from streambank.model.rule import Reason
from streambank.model.verdict import RecordedVerdict, Verdict
from streambank.model.window import WindowState
from streambank.rules import operations
from streambank.wire.operation import ingest_operation, operation
from tests.rules.building import MINUTE, NOW, STREAM, filled, window

BANK = "projects/p/locations/l/reasoningEngines/1"
OPEN = Operation(
    OperationId(STREAM.sid, 3),
    OperationState.BUFFERING,
    2,
    NOW,
    NOW + MINUTE,
    NextTrigger("IDLE_DURATION", NOW + 5 * MINUTE, 8),
)
OUTCOME = {"verdicts": {"CREATED": 1}, "covered": 3, "events": 3, "usage": {"calls": 2, "characters": 99}}
DONE = window(number=3, state=WindowState.DONE, began=NOW, ended=NOW + MINUTE, outcome=OUTCOME)
VERDICTS = (
    RecordedVerdict(0, Verdict.CREATED, "a", "new", "m1", 1),
    RecordedVerdict(1, Verdict.UPDATED, "b", "", "m2", 4, 3),
    RecordedVerdict(2, Verdict.DELETED, "c", "asked", "m3", 2, 1),
    RecordedVerdict(3, Verdict.UNCHANGED, "d", "restated", "m4"),
    RecordedVerdict(4, Verdict.REJECTED, "e", "blank"),
)


def shown(made):
    return operation(made, BANK)


def every():
    """Return an operation of each kind that there is."""
    sealed = [
        window(),
        window(began=NOW),
        window(failures=2, attempt=2, failure="FAILED", due=NOW + MINUTE),
        window(state=WindowState.PARKED, failures=5, failure="MODEL_UNAVAILABLE", ended=NOW),
        window(state=WindowState.ERASED),
        DONE,
        replace(DONE, outcome={}),
    ]
    both = [operations.sealed(one, VERDICTS, downstream=down) for one in sealed for down in (False, True)]
    return [OPEN, operations.virtual(STREAM.sid), operations.buffering(filled(2), None), *both]


def nodes(document):
    yield document
    for inner in document.values() if isinstance(document, dict) else document if isinstance(document, list) else []:
        yield from nodes(inner)


@pytest.mark.parametrize("made", every(), ids=lambda made: f"{made.id}-{made.state}")
def test_the_wire_has_no_nulls_and_no_snake_case(made):
    """Every reply is plain JSON in camelCase without a null, and never without its name."""
    document = json.loads(json.dumps(shown(made)))
    assert document["name"] == f"{BANK}/operations/{made.id}"
    for node in nodes(document):
        assert node is not None
        if isinstance(node, dict):
            assert not any("_" in key for key in node)


@pytest.mark.parametrize("made", every(), ids=lambda made: f"{made.id}-{made.state}")
def test_done_has_an_outcome_and_nothing_else_has(made):
    """A done operation has a response or an error, never both; one under way has neither."""
    document = shown(made)
    assert document["done"] is (made.state in ("DONE", "PARKED", "ERASED"))
    assert (("response" in document) + ("error" in document)) == document["done"]
    assert ("error" in document) is (made.state in ("PARKED", "ERASED"))


def test_an_open_window():
    """A buffering operation says what it waits for, and names no generation: there is none yet."""
    assert shown(OPEN) == {
        "name": f"{BANK}/operations/{STREAM.sid}-3",
        "metadata": {
            "@type": "type.googleapis.com/streambank.v1.IngestEventsOperationMetadata",
            "genericMetadata": {
                "createTime": "2026-03-01T12:00:00Z",
                "updateTime": "2026-03-01T12:01:00Z",
                "state": "BUFFERING",
            },
            "state": "BUFFERING",
            "window": 3,
            "pendingEvents": 2,
            "nextTrigger": {"kind": "IDLE_DURATION", "time": "2026-03-01T12:05:00Z", "remainingEvents": 8},
        },
        "done": False,
    }


def test_a_done_ingest_contains_its_generation():
    """The downstream operation's name is in metadata, which SDKs keep, and in the response, under both names."""
    document = shown(operations.sealed(DONE))
    name = f"{BANK}/operations/{STREAM.sid}-3-g"
    assert document["metadata"]["generateMemoriesOperation"] == name
    assert document["response"] == {
        "@type": "type.googleapis.com/streambank.v1.IngestEventsResponse",
        "name": name,
        "generateMemoriesOperation": name,
    }


def test_a_done_window_tells_what_it_cost():
    """Trigger, attempts, coverage, verdict counts, calls and characters are told once there are any."""
    metadata = shown(operations.sealed(DONE))["metadata"]
    assert (metadata["trigger"], metadata["attempts"], metadata["pendingEvents"]) == (Reason.EVENT_COUNT, 1, 0)
    assert metadata["coverage"] == {"events": 3, "covered": 3}
    assert metadata["verdictCounts"] == {"CREATED": 1}
    assert (metadata["modelCalls"], metadata["promptedCharacters"]) == (2, 99)
    assert not {"coverage", "verdictCounts", "failure"} & set(shown(operations.sealed(window()))["metadata"])


def test_a_generation_lists_what_it_made():
    """Created, updated and deleted memories are named, with the revision before; every verdict has its reason."""
    response = shown(operations.sealed(DONE, VERDICTS, downstream=True))["response"]
    memories = f"{BANK}/memories"
    assert response["generatedMemories"] == [
        {"memory": {"name": f"{memories}/m1"}, "action": "CREATED"},
        {"memory": {"name": f"{memories}/m2"}, "action": "UPDATED", "previousRevision": f"{memories}/m2/revisions/3"},
        {"memory": {"name": f"{memories}/m3"}, "action": "DELETED", "previousRevision": f"{memories}/m3/revisions/1"},
    ]
    assert response["verdicts"] == [
        {"fact": "a", "verdict": "CREATED", "memory": f"{memories}/m1", "reason": "new"},
        {"fact": "b", "verdict": "UPDATED", "memory": f"{memories}/m2"},
        {"fact": "c", "verdict": "DELETED", "memory": f"{memories}/m3", "reason": "asked"},
        {"fact": "d", "verdict": "UNCHANGED", "memory": f"{memories}/m4", "reason": "restated"},
        {"fact": "e", "verdict": "REJECTED", "reason": "blank"},
    ]


def test_an_empty_generation_is_a_success():
    """Nothing to remember is an empty list, not an absent one."""
    assert shown(operations.sealed(DONE, downstream=True))["response"]["generatedMemories"] == []


@pytest.mark.parametrize(
    ("failure", "code"),
    [("MODEL_UNAVAILABLE", 14), ("MODEL_NOT_CONFIGURED", 9), ("EXECUTION_DIED", 13), ("KeyError", 13)],
)
def test_a_parked_window_says_why(failure, code):
    """The error has the number of google.rpc.Code and the name of the failure, and tells that nothing is lost."""
    parked = window(state=WindowState.PARKED, failures=5, attempt=5, failure=failure)
    document = shown(operations.sealed(parked))
    assert document["error"]["code"] == code
    assert failure in document["error"]["message"]
    assert "redriven" in document["error"]["message"]
    assert (document["metadata"]["failures"], document["metadata"]["failure"]) == (5, failure)


def test_a_window_with_missing_events_says_what_heals_it():
    """The error is DATA_LOSS, promises no kept events, and says what to send again."""
    error = shown(operations.sealed(window(state=WindowState.PARKED, failures=1, failure="EVENTS_MISSING")))["error"]
    assert error["code"] == 15
    assert "are kept" not in error["message"]
    assert all(word in error["message"] for word in ("EVENTS_MISSING", "Send them again", "redrive"))


def test_an_erased_window_is_aborted():
    """Erased events are gone: the error does not promise a redrive."""
    error = shown(operations.sealed(window(state=WindowState.ERASED)))["error"]
    assert error["code"] == 10
    assert "redriven" not in error["message"]


def test_a_window_that_waits_for_another_try():
    """A retrying operation names the time of its next try, its attempts and its failures."""
    made = operations.sealed(window(failures=2, attempt=2, failure="FAILED", due=NOW + MINUTE))
    metadata = shown(made)["metadata"]
    assert metadata["nextTrigger"] == {"kind": "RETRY", "time": "2026-03-01T12:01:00Z"}
    assert (metadata["state"], metadata["attempts"], metadata["failures"]) == ("RETRYING", 2, 2)


def test_attempts_count_the_one_under_way():
    """The first attempt counts once it began."""
    attempts = [shown(operations.sealed(one))["metadata"]["attempts"] for one in (window(), window(began=NOW))]
    assert attempts == [0, 1]


def test_the_virtual_operation_is_done_without_a_generation():
    """Window 0 has no downstream operation to name."""
    document = shown(operations.virtual(STREAM.sid))
    assert document["done"] is True
    assert document["response"] == {"@type": "type.googleapis.com/streambank.v1.IngestEventsResponse"}
    assert "generateMemoriesOperation" not in document["metadata"]


def test_a_receipt_tells_what_the_call_did():
    """The reply of an ingest is its operation, with the call's own counts in metadata, zeros too."""
    document = ingest_operation(Receipt(OPEN, 2, 1, ("e1",)), BANK)
    counts = {"acceptedEvents": 2, "duplicateEvents": 1, "conflictingEventIds": ["e1"]}
    assert document == {**shown(OPEN), "metadata": {**shown(OPEN)["metadata"], **counts}}
    assert ingest_operation(Receipt(OPEN), BANK)["metadata"]["conflictingEventIds"] == []
