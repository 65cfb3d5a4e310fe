"""Memories, profiles and revisions in replies."""

import json
import sys
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import takewhile
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from streambank.model import memory as model
from streambank.model import metadata as model_metadata
from streambank.model.ids import OperationId
from streambank.wire.page_room import PageRoom, body_bytes
from streambank.wire.reply import JsonObject, Page, Time, optional_time, rfc3339, without_nulls
from streambank.wire.search_explanation import SearchExplanation
from streambank.wire.topics import Topic, topic

# Of one window in the sources of a memory.
MAX_SEQUENCES = 100
# Of the ids of events in the sources of a memory.
MAX_EVENT_ID_BYTES = 1_000_000

# The ids of events, by stream key and number.
EventIds = Mapping[tuple[str, int], str]


class MetadataValue(TypedDict):
    """A typed value: exactly one of its kinds."""

    stringValue: NotRequired[str]
    doubleValue: NotRequired[float]
    boolValue: NotRequired[bool]
    timestampValue: NotRequired[Time]


class MemorySource(TypedDict):
    """A window that a memory was made of or renewed by, and the numbers of the newest events that it cites there.

    The count is there if the memory keeps more numbers of the window than these. The ids of these events that are
    stored are there where one memory is read.
    """

    operation: str
    sequences: list[int]
    sequenceCount: NotRequired[int | None]
    eventIds: NotRequired[list[str] | None]


class StructuredContent(TypedDict):
    """The data of a profile, by its schema."""

    schemaId: str
    data: JsonObject


class Memory(TypedDict):
    """A sentence (`fact`), or a profile (`structuredContent`); generations do not change one that is pinned."""

    name: str
    displayName: NotRequired[str | None]
    description: NotRequired[str | None]
    fact: NotRequired[str | None]
    structuredContent: NotRequired[StructuredContent | None]
    memoryType: Literal["NATURAL_LANGUAGE_COLLECTION", "STRUCTURED_PROFILE"]
    scope: dict[str, str]
    topics: NotRequired[list[Topic] | None]
    metadata: NotRequired[dict[str, MetadataValue] | None]
    createTime: Time
    updateTime: Time
    expireTime: NotRequired[Time | None]
    pinned: NotRequired[Literal[True] | None]
    sources: NotRequired[list[MemorySource] | None]


class MemoryOperation(TypedDict):
    """An operation that is done in the reply that names it."""

    name: str
    done: Literal[True]
    response: Memory


class Memories(Page):
    memories: list[Memory]


class Profile(TypedDict):
    """The data of a scope under one schema."""

    schemaId: str
    profile: JsonObject


class Profiles(TypedDict):
    """Profiles by the ids of their schemas; absent where there is none."""

    profiles: NotRequired[dict[str, Profile]]


class RetrievedMemory(TypedDict):
    """The distance is there when a text was searched for."""

    memory: Memory
    distance: NotRequired[float]
    explanation: NotRequired[SearchExplanation | None]


class RawContent(TypedDict):
    role: Literal["user", "model"]
    parts: list[JsonObject]


class RawEvent(TypedDict):
    """An event as it was sent; without a time of its own it has that of its arrival."""

    eventId: NotRequired[str | None]
    eventTime: Time
    content: RawContent


class RetrievedEvent(TypedDict):
    """An event and its number in its stream; pending means that no memories were made of it yet."""

    event: RawEvent
    streamId: str
    window: int
    sequence: int
    pending: bool
    distance: float
    explanation: NotRequired[SearchExplanation | None]


class RetrievedMemories(Page):
    """Events are there when a search asked for them; both lists are parts of one ranking by distance."""

    retrievedMemories: list[RetrievedMemory]
    retrievedEvents: NotRequired[list[RetrievedEvent]]


class ExtractedMemory(TypedDict):
    """What a window states: a sentence, or fields of a profile."""

    fact: NotRequired[str]
    structuredData: NotRequired[JsonObject]


class MemoryRevision(TypedDict):
    """A sentence, or a profile as it was; a deletion leaves a revision with an empty fact."""

    name: str
    fact: NotRequired[str | None]
    structuredData: NotRequired[JsonObject | None]
    createTime: Time
    expireTime: NotRequired[Time | None]
    labels: NotRequired[dict[str, str] | None]
    extractedMemories: NotRequired[list[ExtractedMemory] | None]


class MemoryRevisions(Page):
    memoryRevisions: list[MemoryRevision]


def memory(one: model.Memory, bank_name: str, event_ids: EventIds | None = None) -> Memory:
    """Return a memory. Map values hold only what the SDK's types know. *event_ids* are those of cited events."""
    metadata = {key: metadata_value(value) for key, value in one.metadata.items()}
    return without_nulls(
        Memory(
            name=f"{bank_name}/memories/{one.id}",
            displayName=one.display_name,
            description=one.description,
            fact=None if one.profile else one.fact,
            structuredContent=_structured_content(one),
            memoryType="STRUCTURED_PROFILE" if one.profile else "NATURAL_LANGUAGE_COLLECTION",
            scope=one.scope,
            topics=[topic(name) for name in one.topics] or None,
            metadata=metadata or None,
            createTime=rfc3339(one.created),
            updateTime=rfc3339(one.updated),
            expireTime=optional_time(one.expires),
            pinned=True if one.pinned else None,
            sources=_sources(one, bank_name, event_ids or {}) or None,
        )
    )


def _structured_content(one: model.Memory) -> StructuredContent | None:
    if one.profile is None:
        return None
    return StructuredContent(schemaId=one.profile.schema, data=json.loads(one.fact or "{}"))


def cited_events(one: model.Memory) -> dict[OperationId, list[int]]:
    """Return the numbers of the newest events that a memory cites, by their windows.

    Evidence that was imported has no hashes, and is left out: its streams are those of the exported bank.
    """
    cited: dict[OperationId, set[int]] = {}
    for evidence in one.evidence:
        hashed = {seq for seq, event_hash in zip(evidence.seqs, evidence.hashes, strict=False) if event_hash}
        cited.setdefault(OperationId(evidence.sid, evidence.window), set()).update(hashed)
    return {window: sorted(seqs)[-MAX_SEQUENCES:] for window, seqs in cited.items() if seqs}


def _cited(one: model.Memory) -> dict[OperationId, list[int]]:
    cited: dict[OperationId, set[int]] = {}
    for evidence in one.evidence:
        cited.setdefault(OperationId(evidence.sid, evidence.window), set()).update(evidence.seqs)
    return {window: sorted(seqs) for window, seqs in cited.items()}


def _sources(one: model.Memory, bank_name: str, event_ids: EventIds) -> list[MemorySource]:
    """Return the operations that a memory comes from, with the numbers of the events that it cites."""
    room = PageRoom[str](sys.maxsize, body_bytes, MAX_EVENT_ID_BYTES)
    return [_source(window, seqs, bank_name, event_ids, room) for window, seqs in _cited(one).items()]


def _source(
    window: OperationId, seqs: list[int], bank_name: str, event_ids: EventIds, room: PageRoom[str]
) -> MemorySource:
    newest = seqs[-MAX_SEQUENCES:]
    ids = (event_ids[window.sid, seq] for seq in newest if (window.sid, seq) in event_ids)
    return without_nulls(
        MemorySource(
            operation=f"{bank_name}/operations/{window}",
            sequences=newest,
            sequenceCount=len(seqs) if len(seqs) > MAX_SEQUENCES else None,
            eventIds=list(takewhile(room.admits, ids)) or None,
        )
    )


def metadata_value(value: model_metadata.MetadataValue) -> MetadataValue:
    """Return a typed value under the name of its type."""
    if isinstance(value, bool):
        return MetadataValue(boolValue=value)
    if isinstance(value, datetime):
        return MetadataValue(timestampValue=rfc3339(value))
    return MetadataValue(stringValue=value) if isinstance(value, str) else MetadataValue(doubleValue=value)


def profiles(memories: Iterable[model.Memory]) -> Profiles:
    """Return the profiles among memories by their schemas; an empty object where there is none."""
    by_schema = {
        one.profile.schema: Profile(schemaId=one.profile.schema, profile=json.loads(one.fact))
        for one in memories
        if one.profile
    }
    return Profiles(profiles=by_schema) if by_schema else Profiles()


def revision(one: model.Revision, bank_name: str) -> MemoryRevision:
    """Return a revision; a deletion's is empty."""
    is_data = one.is_profile and bool(one.fact)
    return without_nulls(
        MemoryRevision(
            name=f"{bank_name}/memories/{one.memory_id}/revisions/{one.number}",
            fact=None if is_data else one.fact,
            structuredData=json.loads(one.fact) if is_data else None,
            createTime=rfc3339(one.created),
            expireTime=optional_time(one.expires),
            labels=one.labels or None,
            extractedMemories=[_extracted(fact, is_data=is_data) for fact in one.extracted] or None,
        )
    )


def _extracted(fact: str, *, is_data: bool) -> ExtractedMemory:
    return ExtractedMemory(structuredData=json.loads(fact)) if is_data else ExtractedMemory(fact=fact)
