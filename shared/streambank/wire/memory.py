"""Memories, profiles and revisions in replies."""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from streambank.model import memory as model
from streambank.model import metadata as model_metadata
from streambank.wire.memory_sources import EventIds, MemorySource, sources
from streambank.wire.reply import JsonObject, Page, Time, optional_time, rfc3339, without_nulls
from streambank.wire.search_explanation import SearchExplanation
from streambank.wire.topics import Topic, topic


class MetadataValue(TypedDict):
    """A typed value: exactly one of its kinds."""

    stringValue: NotRequired[str]
    doubleValue: NotRequired[float]
    boolValue: NotRequired[bool]
    timestampValue: NotRequired[Time]


class StructuredContent(TypedDict):
    """The data of a profile, by its schema."""

    schemaId: str
    data: JsonObject


class Memory(TypedDict):
    """A sentence (`fact`), or a profile (`structuredContent`); generations do not change one that is pinned.

    Its revision is named where a past text is retrieved.
    """

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
    eventTime: Time
    validFrom: NotRequired[Time | None]
    validUntil: NotRequired[Time | None]
    expireTime: NotRequired[Time | None]
    pinned: NotRequired[Literal[True] | None]
    sources: NotRequired[list[MemorySource] | None]
    revision: NotRequired[str | None]


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
    """Profiles by the ids of their schemas; absent where there is none. The history starts as in a retrieval."""

    profiles: NotRequired[dict[str, Profile]]
    historyStartTime: NotRequired[Time | None]


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
    scope: dict[str, str]
    streamId: str
    window: int
    sequence: int
    pending: bool
    distance: float
    explanation: NotRequired[SearchExplanation | None]


class RetrievedMemories(Page):
    """Events are there when a search asked for them; both lists are parts of one ranking by distance.

    The start of the history is there when the past is retrieved: from then on the answer misses no text.
    """

    retrievedMemories: list[RetrievedMemory]
    retrievedEvents: NotRequired[list[RetrievedEvent]]
    historyStartTime: NotRequired[Time | None]


class ExtractedMemory(TypedDict):
    """What a window states: a sentence, or fields of a profile."""

    fact: NotRequired[str]
    structuredData: NotRequired[JsonObject]


class MemoryRevision(TypedDict):
    """A sentence, or a profile as it was; a deletion leaves a revision with an empty fact.

    The time of the event is that of its newest evidence. A correction says that the text before was never true.
    What came late had older evidence than the memory: it never was the memory's text.
    """

    name: str
    fact: NotRequired[str | None]
    structuredData: NotRequired[JsonObject | None]
    createTime: Time
    eventTime: NotRequired[Time | None]
    validFrom: NotRequired[Time | None]
    validUntil: NotRequired[Time | None]
    correction: NotRequired[Literal[True] | None]
    late: NotRequired[Literal[True] | None]
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
            eventTime=rfc3339(one.as_of),
            validFrom=optional_time(one.validity.start),
            validUntil=optional_time(one.validity.end),
            expireTime=optional_time(one.expires),
            pinned=True if one.pinned else None,
            sources=sources(one, bank_name, event_ids or {}) or None,
        )
    )


def past_memory(one: model.Memory, bank_name: str) -> Memory:
    """Return a memory as it was: its sources are left out, and the revision that it shows is named if it has one."""
    name = f"{bank_name}/memories/{one.id}/revisions/{one.revision}" if one.revision else None
    return without_nulls(Memory({**memory(one, bank_name), "revision": name}))


def _structured_content(one: model.Memory) -> StructuredContent | None:
    if one.profile is None:
        return None
    return StructuredContent(schemaId=one.profile.schema, data=json.loads(one.fact or "{}"))


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
            eventTime=rfc3339(one.as_of) if one.fact else None,
            validFrom=optional_time(one.validity.start),
            validUntil=optional_time(one.validity.end),
            correction=True if one.is_correction else None,
            late=True if one.is_late else None,
            expireTime=optional_time(one.expires),
            labels=one.labels or None,
            extractedMemories=[_extracted(fact, is_data=is_data) for fact in one.extracted] or None,
        )
    )


def _extracted(fact: str, *, is_data: bool) -> ExtractedMemory:
    return ExtractedMemory(structuredData=json.loads(fact)) if is_data else ExtractedMemory(fact=fact)
