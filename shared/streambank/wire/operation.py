"""Operations in replies, and how lists of them are filtered."""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypeVar, cast

from typing_extensions import TypedDict

from streambank.errors import EventsMissing
from streambank.model import operation as model
from streambank.model import verdict as model_verdict
from streambank.model.consent import Learning
from streambank.model.ids import OperationId
from streambank.model.operation import OperationState, Receipt
from streambank.model.rule import Reason
from streambank.model.verdict import Verdict
from streambank.wire import page_room
from streambank.wire.coverage import Coverage, coverage
from streambank.wire.reply import JsonObject, Page, Time, optional_time, rfc3339, without_nulls
from streambank.wire.usage import dollars

_TYPES = "type.googleapis.com/streambank.v1."
# google.rpc.Code of what keeps a window parked: 13 is INTERNAL, 14 UNAVAILABLE, 10 ABORTED, 15 DATA_LOSS.
_CODES = {
    "MODEL_UNAVAILABLE": 14,
    "MODEL_THROTTLED": 8,
    "MODEL_TIMED_OUT": 4,
    "MODEL_REJECTED": 3,
    "MODEL_NOT_CONFIGURED": 9,
    "EVENTS_MISSING": 15,
    "ERASED": 10,
}
_INTERNAL = 13

T = TypeVar("T")


class GenericMetadata(TypedDict):
    createTime: NotRequired[Time | None]
    updateTime: NotRequired[Time | None]
    state: OperationState


class NextTrigger(TypedDict):
    kind: str
    time: Time
    remainingEvents: NotRequired[int | None]
    remainingTokens: NotRequired[int | None]


class WindowMetadata(TypedDict):
    """Where the events of a window are; the counts of a call are in its own reply only."""

    genericMetadata: GenericMetadata
    state: OperationState
    window: int
    pendingEvents: int
    nextTrigger: NotRequired[NextTrigger | None]
    generateMemoriesOperation: NotRequired[str | None]
    acceptedEvents: NotRequired[int]
    duplicateEvents: NotRequired[int]
    conflictingEventIds: NotRequired[list[str]]
    droppedEvents: NotRequired[int]
    learning: NotRequired[Learning]
    trigger: NotRequired[Reason]
    attempts: NotRequired[int]
    failures: NotRequired[int | None]
    failure: NotRequired[str | None]
    providerError: NotRequired[str | None]
    coverage: NotRequired[Coverage | None]
    verdictCounts: NotRequired[dict[str, int] | None]
    modelCalls: NotRequired[int | None]
    promptedCharacters: NotRequired[int | None]
    inputTokens: NotRequired[int | None]
    outputTokens: NotRequired[int | None]
    modelRetries: NotRequired[int | None]
    estimatedCostUsd: NotRequired[float | None]


class OperationError(TypedDict):
    """Code is a google.rpc.Code."""

    code: int
    message: str


class MemoryName(TypedDict):
    name: str


class GeneratedMemory(TypedDict):
    memory: MemoryName
    action: Literal["CREATED", "UPDATED", "DELETED"]
    previousRevision: NotRequired[str | None]


class RecordedVerdict(TypedDict):
    fact: str
    verdict: Verdict
    memory: NotRequired[str | None]
    reason: NotRequired[str | None]


class WindowResponse(TypedDict):
    """An ingest names its generation, by both fields; a generation has the verdict on each fact.

    A reply has room for some megabytes of verdicts: the last ones may be omitted, with the memories that they changed.
    """

    name: NotRequired[str | None]
    generateMemoriesOperation: NotRequired[str | None]
    generatedMemories: NotRequired[list[GeneratedMemory]]
    verdicts: NotRequired[list[RecordedVerdict]]
    omittedVerdicts: NotRequired[int | None]


class WindowOperation(TypedDict):
    """The operation of a window; done with an error means parked, and it may be redriven."""

    name: str
    done: bool
    metadata: WindowMetadata
    response: NotRequired[WindowResponse]
    error: NotRequired[OperationError]


class Operations(Page):
    operations: list[WindowOperation]


class Operation(TypedDict):
    name: str
    done: bool
    metadata: NotRequired[JsonObject]
    response: NotRequired[JsonObject]
    error: NotRequired[OperationError]


class RedrivenOperations(TypedDict):
    """Parked windows that are tried again; where not all were, the same call goes on."""

    operations: list[str]
    isComplete: bool


class PurgeCount(TypedDict):
    purgeCount: int


class PurgeOperation(TypedDict):
    """An operation that is done in the reply that names it."""

    name: str
    done: Literal[True]
    response: PurgeCount


def ingest_operation(receipt: Receipt, bank_name: str) -> WindowOperation:
    """Return the reply to an ingest call: its window's operation, with the counts of the call in its metadata."""
    reply = operation(receipt.operation, bank_name)
    reply["metadata"]["acceptedEvents"] = receipt.accepted
    reply["metadata"]["duplicateEvents"] = receipt.duplicates
    reply["metadata"]["conflictingEventIds"] = list(receipt.conflicts)
    if receipt.not_learnt or receipt.is_learning_disabled:
        reply["metadata"]["droppedEvents"] = receipt.not_learnt
        reply["metadata"]["learning"] = Learning.DISABLED if receipt.is_learning_disabled else Learning.ENABLED
    return reply


def operation(one: model.Operation, bank_name: str, most_bytes: int = page_room.PAGE_BYTES) -> WindowOperation:
    """Return an operation: of an ingest, or of the generation that came from it, with *most_bytes* of verdicts."""
    reply = WindowOperation(
        name=f"{bank_name}/operations/{one.id}", metadata=_metadata(one, bank_name), done=one.state.is_final
    )
    if one.state in (OperationState.PARKED, OperationState.ERASED):
        reply["error"] = _error(one)
    elif one.state is OperationState.DONE:
        reply["response"] = _response(one, bank_name, most_bytes)
    return reply


def _metadata(one: model.Operation, bank_name: str) -> WindowMetadata:
    kind = "GenerateMemoriesOperationMetadata" if one.id.downstream else "IngestEventsOperationMetadata"
    generic = GenericMetadata(
        createTime=optional_time(one.created), updateTime=optional_time(one.updated), state=one.state
    )
    metadata = WindowMetadata(
        genericMetadata=without_nulls(generic),
        state=one.state,
        window=one.id.window,
        pendingEvents=one.pending_events,
        nextTrigger=next_trigger(one),
        generateMemoriesOperation=_generation_name(one, bank_name),
    )
    if one.window is not None:
        outcome = one.window.outcome
        metadata["trigger"] = one.window.reason
        metadata["attempts"] = one.window.attempt + bool(one.window.began or one.window.ended)
        metadata["failures"] = one.window.failures or None
        metadata["failure"] = one.window.failure
        metadata["providerError"] = one.window.provider_error if one.window.failure else None
        metadata["coverage"] = coverage(one.window)
        metadata["verdictCounts"] = outcome["verdicts"] if outcome else None
        _add_cost(metadata, outcome.get("usage", {}))
    return _typed(kind, without_nulls(metadata))


def _add_cost(metadata: WindowMetadata, usage: Mapping[str, int]) -> None:
    """Add the cost of the window's model calls; failed attempts are in the bank's usage, not here."""
    metadata["modelCalls"] = usage.get("calls")
    metadata["promptedCharacters"] = usage.get("characters")
    metadata["inputTokens"] = usage.get("input_tokens") or None
    metadata["outputTokens"] = usage.get("output_tokens") or None
    metadata["modelRetries"] = usage.get("retries") or None
    metadata["estimatedCostUsd"] = dollars(usage.get("micros", 0)) or None


def _typed(kind: str, message: T) -> T:
    """Return a message with the name of its type, as protobuf's JSON of an `Any` has it."""
    return cast("T", {"@type": _TYPES + kind, **cast("dict[str, Any]", message)})


def next_trigger(one: model.Operation) -> NextTrigger | None:
    """Return what seals or retries a window next, and when."""
    trigger = one.next_trigger
    if trigger is None:
        return None
    return without_nulls(
        NextTrigger(
            kind=trigger.kind,
            time=rfc3339(trigger.at),
            remainingEvents=trigger.remaining_events,
            remainingTokens=trigger.remaining_tokens,
        )
    )


def _generation_name(one: model.Operation, bank_name: str) -> str | None:
    """Return the operation of the generation, which exists once the window is sealed; window 0 has none."""
    if one.id.downstream or one.window is None:
        return None
    return f"{bank_name}/operations/{OperationId(one.id.sid, one.id.window, downstream=True)}"


def error_code(outcome: str) -> int:
    """Return the google.rpc.Code of the outcome of a failed generation."""
    return _CODES.get(outcome, _INTERNAL)


def _error(one: model.Operation) -> OperationError:
    failure = (one.window.failure if one.window else None) or one.state.value
    if one.state is OperationState.ERASED:
        return OperationError(code=_CODES["ERASED"], message="the events were erased before memories were generated")
    if failure == EventsMissing.outcome:
        problem = "not all events of the window are stored. Send them again with their ids, then redrive the operation."
        return OperationError(code=_CODES[failure], message=f"Failed to generate memories: {failure}: {problem}")
    message = f"Failed to generate memories: {failure}. The events are kept; the operation can be redriven."
    return OperationError(code=error_code(failure), message=message)


def _response(one: model.Operation, bank_name: str, most_bytes: int) -> WindowResponse:
    if not one.id.downstream:
        name = _generation_name(one, bank_name)
        response = WindowResponse(name=name, generateMemoriesOperation=name)
        return _typed("IngestEventsResponse", without_nulls(response))
    pairs = ((recorded_verdict(verdict, bank_name), _generated(verdict, bank_name)) for verdict in one.verdicts)
    page = page_room.first(pairs, most_bytes)
    response = WindowResponse(
        generatedMemories=[memory for _, memory in page if memory],
        verdicts=[verdict for verdict, _ in page],
        omittedVerdicts=len(one.verdicts) - len(page) or None,
    )
    return _typed("GenerateMemoriesResponse", without_nulls(response))


def _generated(one: model_verdict.RecordedVerdict, bank_name: str) -> GeneratedMemory | None:
    match one.verdict:
        case Verdict.CREATED | Verdict.UPDATED | Verdict.DELETED:
            memory = f"{bank_name}/memories/{one.memory_id}"
            before = f"{memory}/revisions/{one.previous_revision}" if one.previous_revision else None
            action = cast("Literal['CREATED', 'UPDATED', 'DELETED']", one.verdict)
            return without_nulls(
                GeneratedMemory(memory=MemoryName(name=memory), action=action, previousRevision=before)
            )
    return None


def recorded_verdict(one: model_verdict.RecordedVerdict, bank_name: str) -> RecordedVerdict:
    """Return the verdict on a candidate."""
    memory = f"{bank_name}/memories/{one.memory_id}" if one.memory_id else None
    return without_nulls(RecordedVerdict(fact=one.fact, verdict=one.verdict, memory=memory, reason=one.reason or None))
