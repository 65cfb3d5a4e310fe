"""Memories, their revisions, and the results of calls about them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from streambank_client.http.encoding import JsonObject
from streambank_client.types.base import Instant, Metadata, RequestShape, Shape
from streambank_client.types.events import Event


class Topic(RequestShape):
    """A managed topic, or the label of a custom one."""

    managed_memory_topic: str | None = None
    custom_memory_topic_label: str | None = None


class MemorySource(Shape):
    """A window from which a memory was created or updated, and the numbers of the events that it cites.

    `get_memory` adds the ids of these events that are stored.
    """

    operation: str
    sequences: list[int] = []
    sequence_count: int | None = None
    event_ids: list[str] = []


class StructuredContent(Shape):
    """The data of a profile, and the id of its schema."""

    schema_id: str
    data: JsonObject = {}


class Memory(Shape):
    """A memory: a sentence (*fact*), or a profile (*structured_content*); generations do not change a *pinned* one.

    *event_time* is the time of its newest evidence; it holds from *valid_from* until *valid_until*, where its words say
    so. *revision* names the revision that it shows where the past is retrieved.
    """

    name: str
    fact: str = ""
    scope: dict[str, str] = {}
    memory_type: str = "NATURAL_LANGUAGE_COLLECTION"
    create_time: Instant
    update_time: Instant
    event_time: Instant | None = None
    valid_from: Instant | None = None
    valid_until: Instant | None = None
    expire_time: Instant | None = None
    display_name: str | None = None
    description: str | None = None
    topics: list[Topic] = []
    metadata: Metadata = {}
    sources: list[MemorySource] = []
    structured_content: StructuredContent | None = None
    pinned: bool = False
    revision: str | None = None

    @property
    def id(self) -> str:
        """The last part of the name."""
        return self.name.rsplit("/", 1)[-1]


class ExtractedMemory(Shape):
    """A fact as it was extracted, before consolidation."""

    fact: str = ""
    structured_data: JsonObject | None = None


class Revision(Shape):
    """A former or current state of a memory; the fact of a deletion is empty.

    A *correction* says that the text before it was never true. Evidence that came *late* was never the current text.
    """

    name: str
    fact: str = ""
    structured_data: JsonObject | None = None
    create_time: Instant
    event_time: Instant | None = None
    valid_from: Instant | None = None
    valid_until: Instant | None = None
    correction: bool = False
    late: bool = False
    expire_time: Instant | None = None
    labels: dict[str, str] = {}
    extracted_memories: list[ExtractedMemory] = []

    @property
    def id(self) -> str:
        """The last part of the name: a number."""
        return self.name.rsplit("/", 1)[-1]


class MatchedTurns(Shape):
    """The turns of a memory that have most words of the query, and the operation of their window."""

    operation: str
    text: str = ""


class SearchExplanation(Shape):
    """The parts of a score, if they were requested.

    *word_share* is the share of the query's words in the text, and *similarity* the cosine of the vectors; each is None
    where it had no part in the score.
    """

    word_share: float | None = None
    similarity: float | None = None
    score: float
    matched_words: list[str] = []
    matched_turns: MatchedTurns | None = None


class RetrievedMemory(Shape):
    """A memory, and its distance (0 to 2) from the query if there was one."""

    memory: Memory
    distance: float | None = None
    explanation: SearchExplanation | None = None


class RetrievedEvent(Shape):
    """An event and its number in its stream; it is *pending* until memories are made of it."""

    event: Event
    scope: dict[str, str] = {}
    stream_id: str
    window: int
    sequence: int
    pending: bool = False
    distance: float
    explanation: SearchExplanation | None = None


class RetrievedMemories(list[RetrievedMemory]):
    """Memories, nearest first, and the raw events if they were requested.

    `effective_top_k` is set if the service used less than the requested `top_k`; `events_looked_at` if the scope has
    more events than a search reads; `memories_looked_at` if a large scope has more memories than are compared with a
    filter. A retrieval as of the past misses no text from `history_start_time` on.
    """

    def __init__(
        self,
        memories: Iterable[RetrievedMemory] = (),
        *,
        events: Iterable[RetrievedEvent] = (),
        effective_top_k: int | None = None,
        events_looked_at: int | None = None,
        memories_looked_at: int | None = None,
        history_start_time: datetime | None = None,
    ) -> None:
        super().__init__(memories)
        self.events = list(events)
        self.effective_top_k = effective_top_k
        self.events_looked_at = events_looked_at
        self.memories_looked_at = memories_looked_at
        self.history_start_time = history_start_time


class Profile(Shape):
    """The profile of a scope for one schema."""

    schema_id: str
    profile: JsonObject = {}


class PurgeCount(Shape):
    """The number of memories that a purge deleted, or would delete."""

    purge_count: int = 0


class BatchError(Shape):
    """Why one request of a batch failed: *code* is the HTTP status that it would have by itself."""

    code: int
    status: str = ""
    message: str = ""
    details: list[JsonObject] = []


class BatchResult(Shape):
    """The memory that one request of a batch made or changed, or the *error*; a deleted memory is only named."""

    name: str | None = None
    memory: Memory | None = None
    error: BatchError | None = None


class BatchResults(Shape):
    """One result for each request of a batch, in their order."""

    results: list[BatchResult] = []

    @property
    def failed(self) -> list[tuple[int, BatchError]]:
        """The errors, each with the place of its request in the batch."""
        return [(place, one.error) for place, one in enumerate(self.results) if one.error]


class Erased(Shape):
    """The numbers of items by kind that an erasure deleted, or would delete."""

    erased: dict[str, int] = {}
    would_erase: dict[str, int] = {}
    end_time: Instant | None = None


class Moved(Shape):
    """The numbers of items by kind that were moved to another scope, or would be."""

    moved: dict[str, int] = {}
    would_move: dict[str, int] = {}
    end_time: Instant | None = None


class Reindexed(Shape):
    """How many memories got a new vector, kept theirs, or got none from the embedding model."""

    reindexed: int = 0
    kept: int = 0
    failed: int = 0
    end_time: Instant | None = None


class Transferred(Shape):
    """The numbers of items by kind of an export or an import; *source* is the key of the export's manifest."""

    source: str
    exported: dict[str, int] = {}
    imported: dict[str, int] = {}
    end_time: Instant | None = None


class DirectMemory(RequestShape):
    """A fact to store as a memory, of 1 to 8,192 bytes."""

    fact: str
    topics: list[Topic] | None = None
    valid_from: Instant | None = None
    valid_until: Instant | None = None
