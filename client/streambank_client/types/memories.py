"""What is remembered."""

from __future__ import annotations

from collections.abc import Iterable

from streambank_client.http.encoding import JsonObject
from streambank_client.types.base import Instant, Metadata, Shape
from streambank_client.types.events import Event


class Topic(Shape):
    """A managed topic, or the label of a custom one."""

    managed_memory_topic: str | None = None
    custom_memory_topic_label: str | None = None


class MemorySource(Shape):
    """A window that a memory was made of or renewed by, and the numbers of the events that it cites there."""

    operation: str
    sequences: list[int] = []


class StructuredContent(Shape):
    """What a profile holds, by its schema."""

    schema_id: str
    data: JsonObject = {}


class Memory(Shape):
    """A memory: a sentence (*fact*), or a profile (*structured_content*)."""

    name: str
    fact: str = ""
    scope: dict[str, str] = {}
    memory_type: str = "NATURAL_LANGUAGE_COLLECTION"
    create_time: Instant
    update_time: Instant
    expire_time: Instant | None = None
    display_name: str | None = None
    description: str | None = None
    topics: list[Topic] = []
    metadata: Metadata = {}
    sources: list[MemorySource] = []
    structured_content: StructuredContent | None = None

    @property
    def id(self) -> str:
        """The last part of the name."""
        return self.name.rsplit("/", 1)[-1]


class ExtractedMemory(Shape):
    """What a window said before it was merged with what was known."""

    fact: str = ""
    structured_data: JsonObject | None = None


class Revision(Shape):
    """What a memory said once; a deletion's fact is empty."""

    name: str
    fact: str = ""
    structured_data: JsonObject | None = None
    create_time: Instant
    expire_time: Instant | None = None
    labels: dict[str, str] = {}
    extracted_memories: list[ExtractedMemory] = []

    @property
    def id(self) -> str:
        """The last part of the name: a number."""
        return self.name.rsplit("/", 1)[-1]


class RetrievedMemory(Shape):
    """A memory; the distance (0 to 2, nearest first) is there where a text was searched for."""

    memory: Memory
    distance: float | None = None


class RetrievedEvent(Shape):
    """An event beside its number in its stream; *pending* tells that no memories were made of it yet."""

    event: Event
    stream_id: str
    window: int
    sequence: int
    pending: bool = False
    distance: float


class RetrievedMemories(list[RetrievedMemory]):
    """Memories, nearest first, and beside them the raw events where these were asked for.

    `effective_top_k` is there where less than the `top_k` asked for is given; `events_looked_at` where the scope has
    more events than a search looks at.
    """

    def __init__(
        self,
        memories: Iterable[RetrievedMemory] = (),
        *,
        events: Iterable[RetrievedEvent] = (),
        effective_top_k: int | None = None,
        events_looked_at: int | None = None,
    ) -> None:
        super().__init__(memories)
        self.events = list(events)
        self.effective_top_k = effective_top_k
        self.events_looked_at = events_looked_at


class Profile(Shape):
    """What is known of a scope under one schema."""

    schema_id: str
    profile: JsonObject = {}


class PurgeCount(Shape):
    """How many memories a purge deleted, or would delete."""

    purge_count: int = 0


class Erased(Shape):
    """How many things of each kind an erasure took, or would take."""

    erased: dict[str, int] = {}
    would_erase: dict[str, int] = {}
    end_time: Instant | None = None


class Transferred(Shape):
    """How many things of each kind an export or an import carried; *source* is the key of the export's manifest."""

    source: str
    exported: dict[str, int] = {}
    imported: dict[str, int] = {}
    end_time: Instant | None = None


class DirectMemory(Shape):
    """A fact that the caller states, of 1 to 8,192 bytes."""

    fact: str
    topics: list[Topic] | None = None
