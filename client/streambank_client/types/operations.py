"""Operations, their metadata and their responses."""

from __future__ import annotations

from pydantic import Field

from streambank_client.http.encoding import JsonObject
from streambank_client.types.base import Instant, Shape
from streambank_client.types.replays import ReplaySummary
from streambank_client.types.window_details import WindowDetail


class Nothing(Shape):
    """An empty response."""


class GenericMetadata(Shape):
    create_time: Instant | None = None
    update_time: Instant | None = None
    state: str | None = None


class NextTrigger(Shape):
    """The trigger that seals the window next, its time, and how many more events or tokens would seal it sooner."""

    kind: str
    time: Instant
    remaining_events: int | None = None
    remaining_tokens: int | None = None


class Coverage(Shape):
    """The number of events of the window, of those that the model was shown, and of the others by the reason."""

    events: int
    covered: int
    not_covered: dict[str, int] = {}


class OperationMetadata(Shape):
    """The state of a window; the counts of a call are in the reply to that call only.

    `state` is one of BUFFERING, SEALED, GENERATING, RETRYING, BUDGET_PAUSED, PARKED, ERASED, DONE. For an erasure it is
    ERASING or DONE, for an export EXPORTING or DONE, for an import IMPORTING or DONE, for a reindex REINDEXING or DONE,
    for an application of a content policy APPLYING or DONE, for a replay REPLAYING or DONE, each with its start time
    and the numbers of items so far.
    """

    generic_metadata: GenericMetadata | None = None
    state: str | None = None
    window: int | None = None
    pending_events: int | None = None
    next_trigger: NextTrigger | None = None
    generate_memories_operation: str | None = None
    accepted_events: int | None = None
    duplicate_events: int | None = None
    conflicting_event_ids: list[str] = []
    dropped_events: int | None = None
    learning: str | None = None
    trigger: str | None = None
    attempts: int | None = None
    failures: int | None = None
    failure: str | None = None
    provider_error: str | None = None
    coverage: Coverage | None = None
    verdict_counts: dict[str, int] = {}
    model_calls: int | None = None
    prompted_characters: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    model_retries: int | None = None
    estimated_cost_usd: float | None = None
    start_time: Instant | None = None
    scope: dict[str, str] = {}
    target_scope: dict[str, str] = {}
    erased: dict[str, int] = {}
    moved: dict[str, int] = {}
    exported: dict[str, int] = {}
    imported: dict[str, int] = {}
    changed: int | None = None
    reindexed: int | None = None
    kept: int | None = None
    failed: int | None = None
    end_time: Instant | None = None
    windows: int | None = None
    summary: ReplaySummary | None = None


class OperationError(Shape):
    """Why an operation failed; *code* is a google.rpc.Code."""

    code: int
    message: str = ""


class MemoryName(Shape):
    name: str


class GeneratedMemory(Shape):
    """A memory and the action of a generation: CREATED, UPDATED or DELETED."""

    memory: MemoryName
    action: str
    previous_revision: str | None = None


class RecordedVerdict(Shape):
    """The verdict on an extracted fact."""

    fact: str
    verdict: str
    memory: str | None = None
    reason: str | None = None


class WindowResponse(Shape):
    """The response of an ingest names its generation, in both fields; that of a generation has the verdicts."""

    name: str | None = None
    generate_memories_operation: str | None = None
    generated_memories: list[GeneratedMemory] = []
    verdicts: list[RecordedVerdict] = []
    omitted_verdicts: int | None = None


class OperationDocument(Shape):
    """An operation as the API writes it."""

    name: str
    done: bool = False
    metadata: OperationMetadata = Field(default_factory=OperationMetadata)
    response: JsonObject | None = None
    error: OperationError | None = None
    detail: WindowDetail | None = None
