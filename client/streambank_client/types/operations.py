"""What operations tell."""

from __future__ import annotations

from pydantic import Field

from streambank_client.http.encoding import JsonObject
from streambank_client.types.base import Instant, Shape


class Nothing(Shape):
    """The response of what has nothing more to say."""


class GenericMetadata(Shape):
    create_time: Instant | None = None
    update_time: Instant | None = None
    state: str | None = None


class NextTrigger(Shape):
    """What seals the window next, when, and how many more events would do it sooner."""

    kind: str
    time: Instant
    remaining_events: int | None = None


class Coverage(Shape):
    """Events of the window, and how many of them were in a prompt."""

    events: int
    covered: int


class OperationMetadata(Shape):
    """Where the events of a window are; the counts of a call stand in its own reply only.

    `state` is one of BUFFERING, SEALED, GENERATING, RETRYING, BUDGET_PAUSED, PARKED, ERASED, DONE; of an
    erasure ERASING or DONE, with its start and how many things of each kind went so far; of an export or an import
    EXPORTING, IMPORTING or DONE, likewise.
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
    trigger: str | None = None
    attempts: int | None = None
    failures: int | None = None
    failure: str | None = None
    coverage: Coverage | None = None
    verdict_counts: dict[str, int] = {}
    model_calls: int | None = None
    prompted_characters: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    model_retries: int | None = None
    estimated_cost_usd: float | None = None
    start_time: Instant | None = None
    erased: dict[str, int] = {}
    exported: dict[str, int] = {}
    imported: dict[str, int] = {}


class OperationError(Shape):
    """Why an operation failed; *code* is a google.rpc.Code."""

    code: int
    message: str = ""


class MemoryName(Shape):
    name: str


class GeneratedMemory(Shape):
    """What a generation did to a memory: CREATED, UPDATED or DELETED."""

    memory: MemoryName
    action: str
    previous_revision: str | None = None


class RecordedVerdict(Shape):
    """What became of a fact."""

    fact: str
    verdict: str
    memory: str | None = None
    reason: str | None = None


class WindowResponse(Shape):
    """An ingest names its generation, by both fields; a generation says what became of each fact."""

    name: str | None = None
    generate_memories_operation: str | None = None
    generated_memories: list[GeneratedMemory] = []
    verdicts: list[RecordedVerdict] = []


class OperationDocument(Shape):
    """An operation as the API writes it."""

    name: str
    done: bool = False
    metadata: OperationMetadata = Field(default_factory=OperationMetadata)
    response: JsonObject | None = None
    error: OperationError | None = None
