"""What the service answers. Fields may be added to an answer at any time."""

from typing import Annotated, Any, Literal

from pydantic import Field

from infra.openapi.leaves import Answer, MetadataValue, Topic
from streambank.model.operation import OperationState
from streambank.model.rule import Reason
from streambank.model.verdict import Verdict

Object = dict[str, Any]
Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]


class Empty(Answer):
    """Nothing more to say."""


# ---- resources


class MemorySource(Answer):
    """A window that a memory was made of or renewed by, and the numbers of the events that it cites there."""

    operation: str
    sequences: list[int]


class StructuredContent(Answer):
    """What a profile holds, by its schema."""

    schema_id: str
    data: Object


class Memory(Answer):
    """A sentence (`fact`), or a profile (`structuredContent`)."""

    name: str
    fact: str | None = None
    structured_content: StructuredContent | None = None
    scope: dict[str, str]
    memory_type: Literal["NATURAL_LANGUAGE_COLLECTION", "STRUCTURED_PROFILE"]
    create_time: Time
    update_time: Time
    expire_time: Time | None = None
    display_name: str | None = None
    description: str | None = None
    topics: list[Topic] | None = None
    metadata: dict[str, MetadataValue] | None = None
    sources: list[MemorySource] | None = None


class ExtractedMemory(Answer):
    """What a window said: a sentence, or fields of a profile."""

    fact: str | None = None
    structured_data: Object | None = None


class MemoryRevision(Answer):
    """A sentence, or a profile as it was; a deletion leaves a revision with an empty fact."""

    name: str
    fact: str | None = None
    structured_data: Object | None = None
    create_time: Time
    expire_time: Time | None = None
    labels: dict[str, str] | None = None
    extracted_memories: list[ExtractedMemory] | None = None


class BankContext(Answer):
    """The configuration as it was sent, in camelCase."""

    memory_bank_config: Object


class Bank(Answer):
    """The default bank was never made, so it has no times until it is changed."""

    name: str
    create_time: Time | None = None
    update_time: Time | None = None
    display_name: str | None = None
    description: str | None = None
    context_spec: BankContext | None = None


# ---- operations


class GenericMetadata(Answer):
    create_time: Time | None = None
    update_time: Time | None = None
    state: OperationState


class NextTrigger(Answer):
    kind: str
    time: Time
    remaining_events: int | None = None


class Coverage(Answer):
    """Events of the window, and how many of them were in a prompt."""

    events: int
    covered: int


class WindowMetadata(Answer):
    """Where the events of a window are; the counts of a call stand in its own reply only."""

    generic_metadata: GenericMetadata
    state: OperationState
    window: int
    pending_events: int
    next_trigger: NextTrigger | None = None
    generate_memories_operation: str | None = None
    accepted_events: int | None = None
    duplicate_events: int | None = None
    conflicting_event_ids: list[str] | None = None
    trigger: Reason | None = None
    attempts: int | None = None
    failures: int | None = None
    failure: str | None = None
    coverage: Coverage | None = None
    verdict_counts: dict[str, int] | None = None
    model_calls: int | None = None
    prompted_characters: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    model_retries: int | None = None
    estimated_cost_usd: float | None = None


class OperationError(Answer):
    """Code is a google.rpc.Code."""

    code: int
    message: str


class MemoryName(Answer):
    name: str


class GeneratedMemory(Answer):
    memory: MemoryName
    action: Literal["CREATED", "UPDATED", "DELETED"]
    previous_revision: str | None = None


class RecordedVerdict(Answer):
    fact: str
    verdict: Verdict
    memory: str | None = None
    reason: str | None = None


class WindowResponse(Answer):
    """An ingest names its generation, by both fields; a generation says what became of each fact."""

    name: str | None = None
    generate_memories_operation: str | None = None
    generated_memories: list[GeneratedMemory] | None = None
    verdicts: list[RecordedVerdict] | None = None


class WindowOperation(Answer):
    """The operation of a window; done with an error is parked, and may be redriven."""

    name: str
    done: bool
    metadata: WindowMetadata
    response: WindowResponse | None = None
    error: OperationError | None = None


class Operation(Answer):
    name: str
    done: bool
    metadata: Object | None = None
    response: Object | None = None
    error: OperationError | None = None


class Finished(Answer):
    """An operation that is done in the reply that names it."""

    name: str
    done: Literal[True]


class EmptyOperation(Finished):
    response: Empty


class BankOperation(Finished):
    response: Bank


class MemoryOperation(Finished):
    response: Memory


class PurgeCount(Answer):
    purge_count: int


class PurgeOperation(Finished):
    response: PurgeCount


# ---- lists


class Page(Answer):
    next_page_token: str | None = None


class Banks(Page):
    """The list's name is the collection's: memoryBanks where the path says so."""

    reasoning_engines: list[Bank]


class Memories(Page):
    memories: list[Memory]


class RetrievedMemory(Answer):
    """The distance is there when a text was searched for."""

    memory: Memory
    distance: float | None = None


class RawContent(Answer):
    role: Literal["user", "model"]
    parts: list[Object]


class RawEvent(Answer):
    """An event as it was sent; without a time of its own it has that of its arrival."""

    event_id: str | None = None
    event_time: Time
    content: RawContent


class RetrievedEvent(Answer):
    """An event beside its number in its stream; pending tells that no memories were made of it yet."""

    event: RawEvent
    stream_id: str
    window: int
    sequence: int
    pending: bool
    distance: float


class RetrievedMemories(Page):
    """Events are there when a search asked for them; both lists are parts of one ranking by distance."""

    retrieved_memories: list[RetrievedMemory]
    retrieved_events: list[RetrievedEvent] | None = None


class Profile(Answer):
    """What is known of a scope under one schema."""

    schema_id: str
    profile: Object


class Profiles(Answer):
    """Profiles by the ids of their schemas; nothing where there is none."""

    profiles: dict[str, Profile] | None = None


class MemoryRevisions(Page):
    memory_revisions: list[MemoryRevision]


class Operations(Page):
    operations: list[WindowOperation]
