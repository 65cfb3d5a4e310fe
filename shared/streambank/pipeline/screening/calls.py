"""Screening the calls that bring events, stated facts, and settings for windows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, cast

from streambank.model.content_policy import ContentPolicy, Finding
from streambank.model.event import Event, KeyedEvent, StoredEvent
from streambank.model.rule import WindowSettings
from streambank.model.stream import IngestCall
from streambank.model.window import DirectMemory
from streambank.pipeline.screening.screening import Screening, check_refusal, check_refusals, refusing_rules
from streambank.wire.ingest import MAX_EVENT_BYTES, call_fingerprint
from streambank.wire.settings import MAX_MAP_BYTES

if TYPE_CHECKING:
    from streambank.rules.content_policy.screen import Screen

M = TypeVar("M")
# By how much the markers in an event may lengthen it: a hundred events in a transaction stay far below its limit.
EVENT_ROOM_BYTES = 4_000
# A fact has 8 KB at most.
MAX_FACT_BYTES = 8_192
EVENTS_PATH = "directContentsSource.events"


def screened_call(call: IngestCall, policy: ContentPolicy, *, screening: Screening) -> IngestCall:
    """Return *call* as it may be stored: the fingerprint under its idempotency key is of that too.

    Raises:
        InvalidArgument: a rule refuses some of it; the message names the indexes of the events, and the rules.
        Unavailable: the service for personal data did not answer.
    """
    screen = screening.screen(policy)
    events = screened_events(call.events, screen)
    settings = screened_settings(call.settings, screen)
    screened = replace(call, events=events, settings=settings)
    if call.marker and screened != call:
        marker = replace(call.marker, fingerprint=call_fingerprint(screened))
        return replace(screened, marker=marker)
    return screened


def screened_events(events: Sequence[KeyedEvent], screen: Screen) -> tuple[KeyedEvent, ...]:
    """Return *events* as they may be stored, each with what was found in it. Raises as `screened_call` does."""
    read_ahead((keyed.event for keyed in events), screen)
    screened, refusals = list[KeyedEvent](), dict[str, Sequence[str]]()
    for index, keyed in enumerate(events):
        event = screened_event(keyed.event, screen, size=keyed.size)
        refusals[f"{EVENTS_PATH}[{index}]"] = refusing_rules(event.findings)
        screened.append(_rekeyed(keyed, event))
    check_refusals(refusals)
    return tuple(screened)


def screened_turns(events: Sequence[StoredEvent], policy: ContentPolicy, *, screening: Screening) -> list[StoredEvent]:
    """Return stored events without what the rules remove, also where they refuse. Raises Unavailable."""
    screen = screening.screen(policy)
    read_ahead((one.event for one in events), screen)
    return [replace(one, event=screened_event(one.event, screen, size=0)) for one in events]


def read_ahead(events: Iterable[Event], screen: Screen) -> None:
    """Let the service for personal data read *events* together, where there is one."""
    # Imported here as in `Screening.screen`.
    from streambank.rules.content_policy.screen import texts_of_parts  # noqa: PLC0415

    screen.read_ahead(text for event in events for text in texts_of_parts(event.parts))


def screened_event(event: Event, screen: Screen, *, size: int) -> Event:
    """Return *event*, which has *size* bytes, as it may be stored, with what was found in it now and before."""
    room = max(0, min(EVENT_ROOM_BYTES, MAX_EVENT_BYTES - size))
    parts = screen.parts(event.parts, room=room)
    return replace(event, parts=parts, findings=added(event.findings, screen.take_findings()))


def added(before: Sequence[Finding], after: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return what was found in an event *before* and *after*; a tag is found each time and counts once."""
    counts = {(one.rule, one.action): one.count for one in before}
    for one in after:
        key = one.rule, one.action
        counts[key] = max(counts.get(key, 0), one.count) if one.action == "TAG" else counts.get(key, 0) + one.count
    return tuple(Finding(rule, action, count) for (rule, action), count in counts.items())


def _rekeyed(keyed: KeyedEvent, event: Event) -> KeyedEvent:
    if event.parts == keyed.event.parts:
        return replace(keyed, event=event)
    size = keyed.size + _size(event.parts) - _size(keyed.event.parts)
    return KeyedEvent(event, keyed.key, size, sent=keyed.event.fingerprint())


def _size(parts: Sequence[object]) -> int:
    return len(json.dumps(parts, ensure_ascii=False, separators=(",", ":")).encode())


def screened_settings(settings: WindowSettings, screen: Screen, *, may_refuse: bool = True) -> WindowSettings:
    """Return *settings* with their labels and their metadata screened. Raises as `screened_call` does."""
    labels = screened_map(settings.revision_labels, screen)
    if may_refuse:
        check_refusal(screen.take_findings(), "revisionLabels")
    metadata = screened_map(settings.metadata, screen)
    if may_refuse:
        check_refusal(screen.take_findings(), "metadata")
    return replace(settings, revision_labels=labels, metadata=metadata)


def screened_map(values: M, screen: Screen) -> M:
    """Return labels or metadata as they may be stored; they are not longer than they may be."""
    if not values:
        return values
    # Imported here as in `Screening.screen`.
    from streambank.rules.content_policy.screen import texts_of  # noqa: PLC0415

    screen.read_ahead(texts_of(values))
    size = len(json.dumps(values, ensure_ascii=False, default=str).encode())
    return cast("M", screen.value(values, room=max(0, MAX_MAP_BYTES - size)))


def screened_fact(fact: str, screen: Screen) -> str:
    """Return *fact* as it may be stored; it is not longer than a fact may be."""
    return screen.text(fact, room=max(0, MAX_FACT_BYTES - len(fact.encode())))


def screened_memories(memories: Sequence[DirectMemory], screen: Screen) -> tuple[DirectMemory, ...]:
    """Return stated facts as they may be stored. Raises as `screened_call` does."""
    screen.read_ahead(memory.fact for memory in memories)
    screened = list[DirectMemory]()
    for index, memory in enumerate(memories):
        screened.append(replace(memory, fact=screened_fact(memory.fact, screen)))
        check_refusal(screen.take_findings(), f"directMemoriesSource.directMemories[{index}].fact")
    return tuple(screened)
