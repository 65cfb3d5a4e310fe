"""Replays in requests and replies."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from streambank.errors import InvalidArgument
from streambank.model.replay import (
    Comparison,
    Difference,
    JudgedWindow,
    MemoriesFrom,
    Replay,
    ReplayedVerdict,
    ReplaySpec,
)
from streambank.model.verdict import Verdict
from streambank.wire import operation
from streambank.wire.bank_config import GenerateMemoriesExample, MemoryTopic, PromptCustomization
from streambank.wire.fields import Name, Scope, whole_number
from streambank.wire.model import RequestModel
from streambank.wire.operation import OperationError
from streambank.wire.reply import Counts, Time, optional_time, rfc3339, without_nulls
from streambank.wire.usage import dollars

MAX_WINDOWS = 1_000
MAX_OVERRIDES_BYTES = 100_000
# google.rpc.Code of what ends a replay alone: RESOURCE_EXHAUSTED, FAILED_PRECONDITION, NOT_FOUND, ABORTED.
_CODES = {"BUDGET_PAUSED": 8, "EVENTS_MISSING": 9, "BANK_GONE": 5, "INTERRUPTED": 10}
_RECORDED, _REPLAYED = "recorded.", "replayed."


class ReplayRequest(RequestModel):
    """What stands in place of the bank's configuration; a field that is absent is as the bank has it now."""

    exclusive = (("promptCustomization", "memoryTopics"), ("promptCustomization", "generateMemoriesExamples"))

    model: Name | None = None
    prompt_customization: PromptCustomization | None = None
    memory_topics: list[MemoryTopic] | None = None
    generate_memories_examples: list[GenerateMemoriesExample] | None = None

    def spec(self) -> ReplaySpec:
        """Return what is replayed and how. Raises InvalidArgument if it is too large."""
        return ReplaySpec(self.overrides())

    def overrides(self) -> dict[str, Any]:
        """Return the parts of a bank's configuration that are replaced. Raises InvalidArgument if they are large."""
        document = self.model_dump(
            mode="json", by_alias=True, exclude_none=True, include=set(ReplayRequest.model_fields)
        )
        size = len(json.dumps(document, ensure_ascii=False).encode(errors="replace"))
        if size > MAX_OVERRIDES_BYTES:
            raise InvalidArgument("", f"the body has {size} bytes; the limit is {MAX_OVERRIDES_BYTES}")
        custom = dict(document.get("promptCustomization", {}))
        custom |= {name: document[name] for name in ("memoryTopics", "generateMemoriesExamples") if name in document}
        model = {"generationConfig": {"model": document["model"]}} if "model" in document else {}
        return {**({"customization": custom} if custom else {}), **model}


class BankReplayRequest(ReplayRequest):
    """The number of the newest windows, of one scope where it is given."""

    windows: Annotated[int, whole_number(1, MAX_WINDOWS)]
    scope: Scope | None = None

    def spec(self) -> ReplaySpec:
        """Return what is replayed and how. Raises InvalidArgument if it is too large."""
        return ReplaySpec(self.overrides(), self.windows, self.scope)


class ReplayCost(TypedDict):
    """What an answer cost; the model's name is there where it is known."""

    model: NotRequired[str | None]
    modelCalls: NotRequired[int | None]
    inputTokens: int
    outputTokens: int
    estimatedCostUsd: float


class ComparedVerdict(TypedDict):
    """A verdict; `text` is what the memory said after it, where that changed. A memory of a replay has no name."""

    fact: str
    verdict: Verdict
    reason: NotRequired[str | None]
    memory: NotRequired[str | None]
    text: NotRequired[str | None]


class WindowDifference(TypedDict):
    """How the verdicts of one window differ: the facts that only one of both answers has."""

    operation: str
    differingVerdicts: int
    onlyRecorded: list[str]
    onlyReplayed: list[str]
    omittedFacts: NotRequired[int | None]


class ReplaySummary(TypedDict):
    """What the replay of a bank has found so far; `differences` are of a hundred windows at most, once it has ended.

    Windows without their events, and windows of a scope that was erased meanwhile, are `skipped`.
    """

    replayed: int
    skipped: int
    failed: int
    different: int
    recordedVerdicts: Counts
    replayedVerdicts: Counts
    onlyRecordedFacts: int
    onlyReplayedFacts: int
    recordedCost: ReplayCost
    replayedCost: ReplayCost
    differences: NotRequired[list[WindowDifference] | None]


class ReplayMetadata(TypedDict):
    """How far the replay has come; `summary` is of a bank's, also where it was stopped."""

    state: str
    startTime: Time
    endTime: NotRequired[Time | None]
    windows: NotRequired[int | None]
    summary: NotRequired[ReplaySummary | None]


class ReplayResponse(TypedDict):
    """Of a window: the verdicts of both answers. Of a bank: the summary."""

    operation: NotRequired[str | None]
    memoriesFrom: NotRequired[MemoriesFrom | None]
    missingMemories: NotRequired[int | None]
    recorded: NotRequired[list[ComparedVerdict] | None]
    replayed: NotRequired[list[ComparedVerdict] | None]
    omittedVerdicts: NotRequired[int | None]
    recordedCost: NotRequired[ReplayCost | None]
    replayedCost: NotRequired[ReplayCost | None]
    summary: NotRequired[ReplaySummary | None]


class ReplayOperation(TypedDict):
    """Under way in the background; GET returns what it found, for seven days."""

    name: str
    done: bool
    metadata: NotRequired[ReplayMetadata]
    response: NotRequired[ReplayResponse]
    error: NotRequired[OperationError]


def replay_operation(replay: Replay, bank_name: str, differences: Sequence[Difference] = ()) -> ReplayOperation:
    """Return the operation of a replay; *differences* are those of a bank's that has ended."""
    summary = None if replay.operation else _summary(replay, bank_name, differences)
    reply = ReplayOperation(
        name=f"{bank_name}/operations/{replay.id}",
        done=replay.ended is not None,
        metadata=without_nulls(
            ReplayMetadata(
                state="DONE" if replay.ended else "REPLAYING",
                startTime=rfc3339(replay.started),
                endTime=optional_time(replay.ended),
                windows=None if replay.operation else replay.request.windows,
                summary=summary,
            )
        ),
    )
    if replay.failure is not None:
        reply["error"] = _error(replay.failure)
    elif replay.comparison and replay.operation:
        reply["response"] = _comparison(replay.comparison, str(replay.operation), bank_name)
    elif replay.ended and summary:
        reply["response"] = ReplayResponse(summary=summary)
    return reply


def _error(failure: str) -> OperationError:
    code = _CODES.get(failure) or operation.error_code(failure)
    return OperationError(code=code, message=f"Failed to replay: {failure}. Nothing was changed.")


def _comparison(one: Comparison, operation_id: str, bank_name: str) -> ReplayResponse:
    return without_nulls(
        ReplayResponse(
            operation=f"{bank_name}/operations/{operation_id}",
            memoriesFrom=one.memories_from,
            missingMemories=one.missing_memories or None,
            recorded=[_verdict(each, bank_name) for each in one.recorded.verdicts],
            replayed=[_verdict(each, bank_name) for each in one.replayed.verdicts],
            omittedVerdicts=one.omitted or None,
            recordedCost=_cost(one.recorded),
            replayedCost=_cost(one.replayed),
        )
    )


def _verdict(one: ReplayedVerdict, bank_name: str) -> ComparedVerdict:
    return without_nulls(
        ComparedVerdict(
            fact=one.fact,
            verdict=one.verdict,
            reason=one.reason or None,
            memory=f"{bank_name}/memories/{one.memory_id}" if one.memory_id else None,
            text=one.text,
        )
    )


def _cost(side: JudgedWindow) -> ReplayCost:
    usage = side.usage
    return without_nulls(
        ReplayCost(
            model=side.model or None,
            modelCalls=usage.calls,
            inputTokens=usage.input_tokens,
            outputTokens=usage.output_tokens,
            estimatedCostUsd=dollars(usage.micros),
        )
    )


def _summary(replay: Replay, bank_name: str, differences: Sequence[Difference]) -> ReplaySummary:
    counts = replay.counts
    return without_nulls(
        ReplaySummary(
            replayed=counts.get("replayed", 0),
            skipped=counts.get("skipped", 0),
            failed=counts.get("failed", 0),
            different=counts.get("different", 0),
            recordedVerdicts=_verdict_counts(counts, _RECORDED),
            replayedVerdicts=_verdict_counts(counts, _REPLAYED),
            onlyRecordedFacts=counts.get("onlyRecorded", 0),
            onlyReplayedFacts=counts.get("onlyReplayed", 0),
            recordedCost=_summed_cost(counts, _RECORDED),
            replayedCost=_summed_cost(counts, _REPLAYED),
            differences=[_difference(one, bank_name) for one in differences] if replay.ended else None,
        )
    )


def _verdict_counts(counts: Mapping[str, int], prefix: str) -> dict[str, int]:
    return {one.value: counts[prefix + one] for one in Verdict if prefix + one in counts}


def _summed_cost(counts: Mapping[str, int], prefix: str) -> ReplayCost:
    return ReplayCost(
        inputTokens=counts.get(f"{prefix}inputTokens", 0),
        outputTokens=counts.get(f"{prefix}outputTokens", 0),
        estimatedCostUsd=dollars(counts.get(f"{prefix}micros", 0)),
    )


def _difference(one: Difference, bank_name: str) -> WindowDifference:
    return without_nulls(
        WindowDifference(
            operation=f"{bank_name}/operations/{one.operation}",
            differingVerdicts=one.verdicts,
            onlyRecorded=list(one.only_recorded),
            onlyReplayed=list(one.only_replayed),
            omittedFacts=one.omitted or None,
        )
    )
