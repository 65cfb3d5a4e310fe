"""Operations as the wire shows them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from streambank.errors import InvalidArgument
from streambank.model.ids import OperationId
from streambank.model.operation import Operation, OperationState, Receipt
from streambank.model.verdict import RecordedVerdict, Verdict
from streambank.wire.times import rfc3339, without_nulls
from streambank.wire.usage import dollars

_TYPES = "type.googleapis.com/streambank.v1."
_STATE_FILTER = re.compile(r'\s*state\s*=\s*"?([A-Z_]+)"?\s*')
_ACTIONS = (Verdict.CREATED, Verdict.UPDATED, Verdict.DELETED)
# google.rpc.Code of what keeps a window parked: 13 is INTERNAL, 14 UNAVAILABLE, 10 ABORTED.
_CODES = {
    "MODEL_UNAVAILABLE": 14,
    "MODEL_THROTTLED": 8,
    "MODEL_TIMED_OUT": 4,
    "MODEL_REJECTED": 3,
    "MODEL_NOT_CONFIGURED": 9,
    "ERASED": 10,
}


def receipt(answer: Receipt, bank_name: str) -> dict[str, Any]:
    """Return the operation that answers an ingest call, with what the call did in its metadata."""
    document = operation(answer.operation, bank_name)
    document["metadata"] |= {
        "acceptedEvents": answer.accepted,
        "duplicateEvents": answer.duplicates,
        "conflictingEventIds": list(answer.conflicts),
    }
    return document


def operation(shown: Operation, bank_name: str) -> dict[str, Any]:
    """Return an operation: of an ingest, or of the generation that came from it."""
    document: dict[str, Any] = {
        "name": f"{bank_name}/operations/{shown.id}",
        "metadata": _metadata(shown, bank_name),
        "done": shown.state.is_final,
    }
    if shown.state in (OperationState.PARKED, OperationState.ERASED):
        document["error"] = _error(shown)
    elif shown.state is OperationState.DONE:
        document["response"] = _response(shown, bank_name)
    return document


def _metadata(shown: Operation, bank_name: str) -> dict[str, Any]:
    kind = "GenerateMemoriesOperationMetadata" if shown.id.downstream else "IngestEventsOperationMetadata"
    generic = {"createTime": rfc3339(shown.created), "updateTime": rfc3339(shown.updated)}
    document: dict[str, object] = {
        "@type": _TYPES + kind,
        "genericMetadata": without_nulls({**generic, "state": shown.state}),
        "state": shown.state,
        "window": shown.id.window,
        "pendingEvents": shown.pending_events,
        "nextTrigger": next_trigger(shown),
        "generateMemoriesOperation": _downstream_name(shown, bank_name),
    }
    return without_nulls(document | _window_metadata(shown))


def next_trigger(shown: Operation) -> dict[str, Any] | None:
    """Return what seals or retries a window next, and when."""
    trigger = shown.next_trigger
    if trigger is None:
        return None
    return without_nulls(
        {"kind": trigger.kind, "time": rfc3339(trigger.at), "remainingEvents": trigger.remaining_events}
    )


def _downstream_name(shown: Operation, bank_name: str) -> str | None:
    """A generation exists once its window is sealed; window 0 has none."""
    if shown.id.downstream or shown.window is None:
        return None
    return f"{bank_name}/operations/{OperationId(shown.id.sid, shown.id.window, downstream=True)}"


def _window_metadata(shown: Operation) -> dict[str, object]:
    window = shown.window
    if window is None:
        return {}
    outcome = window.outcome
    return {
        "trigger": window.reason,
        "attempts": window.attempt + bool(window.began or window.ended),
        "failures": window.failures or None,
        "failure": window.failure,
        "coverage": {"events": window.count, "covered": outcome["covered"]} if outcome else None,
        "verdictCounts": outcome["verdicts"] if outcome else None,
        **_cost(outcome.get("usage", {})),
    }


def _cost(usage: Mapping[str, int]) -> dict[str, object]:
    """Return what the window's model calls cost; failed attempts are in the bank's usage, not here."""
    return {
        "modelCalls": usage.get("calls"),
        "promptedCharacters": usage.get("characters"),
        "inputTokens": usage.get("input_tokens") or None,
        "outputTokens": usage.get("output_tokens") or None,
        "modelRetries": usage.get("retries") or None,
        "estimatedCostUsd": dollars(usage.get("micros", 0)) or None,
    }


def _error(shown: Operation) -> dict[str, Any]:
    failure = (shown.window.failure if shown.window else None) or shown.state.value
    if shown.state is OperationState.ERASED:
        return {"code": _CODES["ERASED"], "message": "the events were erased before memories were generated"}
    message = f"Failed to generate memories: {failure}. The events are kept; the operation can be redriven."
    return {"code": _CODES.get(failure, 13), "message": message}


def _response(shown: Operation, bank_name: str) -> dict[str, Any]:
    if not shown.id.downstream:
        name = _downstream_name(shown, bank_name)
        return without_nulls(
            {"@type": _TYPES + "IngestEventsResponse", "name": name, "generateMemoriesOperation": name}
        )
    made = [_generated(one, bank_name) for one in shown.verdicts if one.verdict in _ACTIONS]
    verdicts = [_verdict(one, bank_name) for one in shown.verdicts]
    return {"@type": _TYPES + "GenerateMemoriesResponse", "generatedMemories": made, "verdicts": verdicts}


def _generated(one: RecordedVerdict, bank_name: str) -> dict[str, object]:
    memory = f"{bank_name}/memories/{one.memory_id}"
    before = f"{memory}/revisions/{one.previous_revision}" if one.previous_revision else None
    return without_nulls({"memory": {"name": memory}, "action": one.verdict, "previousRevision": before})


def _verdict(one: RecordedVerdict, bank_name: str) -> dict[str, object]:
    memory = f"{bank_name}/memories/{one.memory_id}" if one.memory_id else None
    return without_nulls({"fact": one.fact, "verdict": one.verdict, "memory": memory, "reason": one.reason or None})


def finished(name: str, response: dict[str, Any]) -> dict[str, Any]:
    """Return an operation that is done in the reply that names it."""
    return {"name": name, "done": True, "response": response}


def state_filter(text: str | None) -> OperationState | None:
    """Return the state that a list of operations is filtered by. Raises InvalidArgument for any other filter."""
    if not text:
        return None
    found = _STATE_FILTER.fullmatch(text)
    if found is None or found[1] not in list(OperationState):
        raise InvalidArgument("filter", 'must be like state="PARKED"; operations are filtered by nothing else')
    return OperationState(found[1])
